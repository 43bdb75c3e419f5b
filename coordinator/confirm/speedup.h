/* speedup.h - the speedup of one candidate over another
 *
 * The ratio time(b) / time(a), from the log ratios of the blocks by
 * signed_rank.h: its interval has the stated level whatever the clocks did, and
 * each GPU has the same weight.  Above 1: a is the faster one.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_SPEEDUP_H
#define FA_COORDINATOR_CONFIRM_SPEEDUP_H

#include <stddef.h>

struct blocks;

struct speedup {
    double value;    /* NAN if no block has both */
    double lo, hi;   /* 0 and infinity if there are too few blocks */
    double p;        /* two-sided, of "equally fast"; 1 without blocks */
    size_t n_blocks; /* blocks that have both */
};

/* confidence  of lo to hi, in (0, 1), such as 0.95; 0: they are not asked for,
 *             and are 0 and infinity */
void speedup_of(const struct blocks *blocks, size_t a, size_t b,
                double confidence, struct speedup *out);

/* One-sided p of "the ratio is at most 'bound'", bound > 0: small if it is
 * certain that a is faster than b by more than that. */
double speedup_p_above(const struct blocks *blocks, size_t a, size_t b,
                       double bound);

/* The same as speedup_of() from the blocks of one GPU alone, for the report. */
void speedup_on(const struct blocks *blocks, size_t a, size_t b, int gpu,
                double confidence, struct speedup *out);

#endif
