#include "coordinator/state/tried.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/live/progress_facts.h"
#include "coordinator/plan/plan.h"

static bool is_timed(const struct tried *tried, int unit)
{
    const struct tried_unit *u = &tried->units[unit];

    return u->time_s > 0 && tally_is_correct(&tried->tally, u->outcomes);
}

static void take_best(struct tried *tried, int unit)
{
    if (is_timed(tried, unit) &&
        (tried->best < 0 ||
         tried->units[unit].time_s < tried->units[tried->best].time_s))
        tried->best = unit;
}

/* It was the best, and may be slower now. */
static void find_best(struct tried *tried, const struct plan *plan)
{
    tried->best = -1;
    for (int unit = 0; unit < plan_taken(plan); unit++)
        take_best(tried, unit);
}

void tried_count(struct tried *tried, const struct plan *plan, int unit,
                 int shape, struct tally_unit change, double median_s)
{
    struct tried_unit *u;
    struct tally_unit was;

    if (!tried->units) {
        tried->units =
            mem_new((size_t)plan_units(plan) + 1, sizeof(*tried->units));
        tried->tally.shapes = plan_shapes(plan);
        tried->best = -1;
    }
    u = &tried->units[unit];
    was = u->outcomes;
    u->outcomes.settled += change.settled;
    u->outcomes.correct += change.correct;
    tally_change(&tried->tally, was, u->outcomes);
    if (shape == 0)
        u->time_s = isnan(median_s) ? 0 : median_s;
    if (unit == tried->best)
        find_best(tried, plan);
    else
        take_best(tried, unit);
}

void tried_fini(struct tried *tried)
{
    free(tried->units);
    *tried = (struct tried){ .best = -1 };
}

struct progress_best tried_best(const struct tried *tried,
                                const struct plan *plan)
{
    struct progress_best best = { .s = NAN, .baseline_s = NAN, .text = "" };

    if (!tried->units)
        return best;
    if (tried->best >= 0)
        best.s = tried->units[tried->best].time_s;
    if (plan_unit(plan, 0)->baseline && is_timed(tried, 0))
        best.baseline_s = tried->units[0].time_s;
    return best;
}
