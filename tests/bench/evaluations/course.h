/* course.h - one run on a problem: its evaluations, and the goals it reached */
#ifndef FA_BENCH_COURSE_H
#define FA_BENCH_COURSE_H

#include <stdbool.h>

struct problem;

#define COURSE_GOALS 3
extern const double course_goals[COURSE_GOALS]; /* relative distances to the
                                                 * best time */

struct course {
    const struct problem *problem;
    int cap;    /* evaluations */
    char *seen; /* [size] */
    int n;      /* evaluations so far; the same point again costs nothing */
    int reached[COURSE_GOALS]; /* evaluations needed; 0: not reached yet */
};

void course_init(struct course *course, const struct problem *problem, int cap);
void course_fini(struct course *course);
/* The time of a point, 0 if it fails. */
double course_try(struct course *course, int point);
bool course_is_over(const struct course *course);

#endif
