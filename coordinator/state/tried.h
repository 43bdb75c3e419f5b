/* tried.h - the configurations that have an outcome, and the fastest of them
 */
#ifndef FA_COORDINATOR_STATE_TRIED_H
#define FA_COORDINATOR_STATE_TRIED_H

#include "coordinator/live/tally.h"

struct plan;
struct progress_best;

struct tried_unit {
    struct tally_unit outcomes;
    double time_s; /* median at the first shape; 0: none */
};

struct tried {
    struct tally tally;
    struct tried_unit *units; /* [units of the plan]; NULL: none is settled */
    int best;                 /* the fastest correct one, or -1 */
};

/* A measurement of a unit has its first outcome (settled 1, correct 0 or 1), or
 * a repetition changed it (settled 0, correct -1, 0 or 1).
 * median_s  NaN: it has no time */
void tried_count(struct tried *tried, const struct plan *plan, int unit,
                 int shape, struct tally_unit change, double median_s);
void tried_fini(struct tried *tried);

/* The time of the best and of the baseline; 'text' is not filled in. */
struct progress_best tried_best(const struct tried *tried,
                                const struct plan *plan);

#endif
