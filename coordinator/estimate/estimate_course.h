/* estimate_course.h - what remains of a sweep that runs, as a range
 *
 * A course is when how much was done.  The fleet counts as one machine: its
 * pace, and how much that differs from one part of the course to the next, say
 * what is left, by the estimator that has no course before the sweep
 * (estimate.h).  Nine of ten ranges shall hold the truth
 * (test_estimate_calibration.c).
 *
 * Pure.  Times are seconds since any moment.
 */
#ifndef FA_COORDINATOR_ESTIMATE_ESTIMATE_COURSE_H
#define FA_COORDINATOR_ESTIMATE_ESTIMATE_COURSE_H

#include <stdbool.h>

struct estimate_range;

#define ESTIMATE_COURSE_MARKS 25

struct estimate_mark {
    double s, done;
};

/* Marks are at least 'step' of what is done apart; when there is no room, every
 * other one goes. */
struct estimate_course {
    struct estimate_mark marks[ESTIMATE_COURSE_MARKS];
    int n; /* 0: it has not begun */
    double step;
};

/* 'done' at the beginning is not of this course. */
void estimate_course_begin(struct estimate_course *course, double s,
                           double done);
void estimate_course_add(struct estimate_course *course, double s, double done);

/* A moment of the course. */
struct estimate_moment {
    double s, done;
    double out; /* pieces that hosts have now */
    double all; /* that are asked for, with those that are done */
};

/* The seconds that are left from there; NaN if nothing says how many. */
struct estimate_range estimate_course_left(const struct estimate_course *course,
                                           const struct estimate_moment *now);

#endif
