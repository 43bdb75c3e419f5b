/* fleet.h - a search whose results come from several places at once
 *
 * Each place works on one configuration, for the seconds that its problem has
 * for it, so results come in another order than their questions.  When one
 * comes, the strategy is told and asked for the next.  Times are simulated: the
 * same seed gives the same run on every machine.
 */
#ifndef FA_BENCH_FLEET_H
#define FA_BENCH_FLEET_H

#include <stdbool.h>
#include <stdint.h>

struct problem;

#define FLEET_PLACES_MAX 1024

struct fleet_rules {
    const char *strategy; /* strategy.h */
    int evaluations;      /* >= 1 */
    int in_flight;        /* places, 1..FLEET_PLACES_MAX */
    bool full; /* all places, always; else as many as search_ahead() says */
    uint64_t seed;
};

struct fleet_end {
    double regret;  /* the true time of the fastest told, over the best, - 1 */
    double seconds; /* until the last result */
    double cpu_s;   /* of the strategy, for all questions and results */
};

/* Until the strategy has no more questions and all results are told.  A search
 * that found nothing that works counts as one that found the slowest. */
void fleet_run(const struct problem *problem, const struct fleet_rules *rules,
               struct fleet_end *out);

#endif
