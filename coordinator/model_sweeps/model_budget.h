/* model_budget.h - the budget of sweeps of several GPU models
 *
 * Each model has a share by what its hosts cost an hour, so that the money
 * allows all of them the same hours.  What a model has spent cannot be taken
 * back: if that is more than its share, the others share the rest.  When one
 * ends below its budget, what is left goes to those that have not ended, by the
 * same rates.  What all have spent, and those that have not ended may spend, is
 * never more than the whole.
 *
 * A model without a price is not limited, unless none has one: then the shares
 * are equal.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_MODEL_SWEEPS_MODEL_BUDGET_H
#define FA_COORDINATOR_MODEL_SWEEPS_MODEL_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#define MODEL_BUDGET_MAX 16 /* models */

struct model_budget {
    double usd_per_hour; /* of all its hosts; 0: no price */
    double spent_usd;    /* before it begins; then, when it has ended */
    double usd;          /* what it may spend, with that, if it is limited */
    bool is_limited, has_ended;
};

/* Fill in 'usd' and 'is_limited' of all. */
void model_budget_share(double whole_usd, struct model_budget *models,
                        size_t n);

/* Has it nothing to spend unless another one leaves something? */
bool model_budget_is_used_up(const struct model_budget *model);

/* One has ended, having spent so much.  'more' is what each gets, which is in
 * its 'usd' then.  Returns how many get something. */
size_t model_budget_end(double whole_usd, struct model_budget *models, size_t n,
                        size_t which, double spent_usd, double *more);

#endif
