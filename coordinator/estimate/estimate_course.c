#include "coordinator/estimate/estimate_course.h"

#include <math.h>

#include "coordinator/estimate/estimate.h"

/* Before parts of the course can be compared, pieces are taken to differ as
 * much as those that end at random; so many parts outweigh that. */
#define CV_GUESSED 1.0
#define PARTS_GUESSED 2.0
/* What is out was begun at any time: half done, and nine of ten times within so
 * much of that, all together. */
#define OUT_DONE 0.5
#define OUT_ERR 0.45
/* The last of many pieces takes longer than most. */
#define TAIL 0.4

void estimate_course_begin(struct estimate_course *course, double s,
                           double done)
{
    *course =
        (struct estimate_course){ .marks = { { s, done } }, .n = 1, .step = 1 };
}

static void thin_out(struct estimate_course *course)
{
    int n = 0;

    for (int i = 0; i < course->n; i += 2)
        course->marks[n++] = course->marks[i];
    course->n = n;
    course->step *= 2;
}

void estimate_course_add(struct estimate_course *course, double s, double done)
{
    while (course->n > 0 &&
           done - course->marks[course->n - 1].done >= course->step) {
        if (course->n < ESTIMATE_COURSE_MARKS) {
            course->marks[course->n++] = (struct estimate_mark){ s, done };
            return;
        }
        thin_out(course);
    }
}

/* The deviation of pieces that would make the parts differ as they do. */
static double cv_of(const struct estimate_course *course)
{
    const struct estimate_mark *first = &course->marks[0];
    const struct estimate_mark *last = &course->marks[course->n - 1];
    double parts = course->n - 1, squares = 0;
    double mean = (last->s - first->s) / (last->done - first->done);

    for (int i = 1; i < course->n; i++) {
        const struct estimate_mark *a = &course->marks[i - 1], *b = a + 1;
        double off = b->s - a->s - mean * (b->done - a->done);

        squares += off * off / (b->done - a->done);
    }
    if (parts < 2 || !(mean > 0))
        return CV_GUESSED;
    return sqrt(
        (PARTS_GUESSED * CV_GUESSED * CV_GUESSED + squares / (mean * mean)) /
        (PARTS_GUESSED + parts - 1));
}

struct estimate_range estimate_course_left(const struct estimate_course *course,
                                           const struct estimate_moment *now)
{
    struct estimate_range none = { NAN, NAN, NAN }, mean;
    double left = now->all - now->done, done, out, err, tail_s, last_s;
    struct estimate_pace pace;

    if (course->n == 0 || left <= 0 || now->done <= course->marks[0].done ||
        now->s <= course->marks[0].s)
        return none;
    out = fmin(now->out, left);
    done = now->done - course->marks[0].done + OUT_DONE * out;
    pace = (struct estimate_pace){ .n = done,
                                   .mean_s =
                                       (now->s - course->marks[0].s) / done };
    pace.sd_s = pace.mean_s * cv_of(course);
    mean = estimate_mean(&pace, left, ESTIMATE_THIS_SWEEP);
    err = log1p(OUT_ERR * out / done);
    tail_s = OUT_DONE * out * pace.mean_s;
    last_s = TAIL * log1p(out) * tail_s;
    return (struct estimate_range){
        .low = fmax(left * mean.low * exp(-err) - tail_s, 0),
        .likely = left * mean.likely,
        .high = left * mean.high * exp(err) + tail_s + last_s,
    };
}
