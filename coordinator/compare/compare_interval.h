/* compare_interval.h - the interval of a ratio of two configurations, one or
 * both of which were chosen because they measured fast
 *
 * The winner of a sweep is the fastest of several by its measured time, so that
 * time is partly luck.  An interval that ignores this claims too often that the
 * winner became slower.  Let e be the error of a log time, so that the error of
 * log(time in A / time in B) is e(a) - e(b), with winners a and b:
 *
 *  - A time that is too low may belong to any of those that the winner was
 *    chosen among.  So its side shares alpha among them (Bonferroni's
 *    inequality; Dunn, 1961).
 *  - A time that is too high belongs to all of them at once.  The winner
 *    measured faster than the truly fastest one and is not faster, so e(a) is
 *    at most the error of the truly fastest one.  That is one fixed
 *    configuration, and costs nothing.
 *
 * So the low end of the ratio pays for the choice of b, and the high end for
 * that of a, however close the others are (the truly fastest one is compared
 * with, as by Hsu, 1981).  A verdict names the fastest of those with the
 * strongest result, which is nearly always the fastest of all;
 * bench_coverage --compare counts what that leaves.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_INTERVAL_H
#define FA_COORDINATOR_COMPARE_COMPARE_INTERVAL_H

#include <stddef.h>

#include "coordinator/confirm/speedup.h"

struct difference;
struct location_shift_value;

/* Among how many the configuration of a side was chosen; 1: it was not. */
struct compare_chosen {
    size_t a, b;
};

/* Two-sided levels: half of each is how often that end may be wrong. */
struct compare_levels {
    double lo, hi;
};

struct compare_levels compare_interval_levels(double alpha,
                                              struct compare_chosen among);

/* Logs of one median a block: of seconds, or of the ratio to the baseline of
 * the same block (location_shift.h). */
struct compare_evidence {
    const struct location_shift_value *a, *b;
    size_t n_a, n_b;
};

struct compare_interval {
    struct speedup speedup; /* n_blocks: of both sides */
    size_t n_a, n_b;        /* values that are used */
};

/* levels  of the ends: those of compare_interval_levels(), or what looks left
 *         of them (compare_looks.h)
 * p is scaled by the level of the end that it is about, so that it is compared
 * with 'alpha'. */
void compare_interval_of_blocks(const struct compare_evidence *evidence,
                                double alpha,
                                const struct compare_levels *levels,
                                struct compare_interval *out);

/* The speedup alone where the configuration of one side is the baseline itself,
 * whose ratio is 1.  d [n]: log(baseline / configuration) in each block of B,
 * or log(configuration / baseline) of A (signed_rank.h). */
void compare_interval_of_differences(const struct difference *d, size_t n,
                                     double alpha,
                                     const struct compare_levels *levels,
                                     struct speedup *out);

/* The same for a log ratio with a normal error of the standard deviation 'sd',
 * > 0. */
void compare_interval_of_normal(double ratio, double sd, double alpha,
                                const struct compare_levels *levels,
                                struct speedup *out);

#endif
