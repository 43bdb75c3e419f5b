#include "coordinator/model_sweeps/model_budget.h"

#include <math.h>

#define LEAST_USD 1e-4 /* less is not worth a word */

static bool any_has_price(const struct model_budget *models, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (models[i].usd_per_hour > 0)
            return true;
    return false;
}

/* By which the shares are. */
static double weight_of(const struct model_budget *model, bool priced)
{
    return priced ? model->usd_per_hour : 1;
}

/* Share what is left among those that are not fixed at what they have spent.
 * True if one of them turned out to have spent more than that. */
static bool share_rest(double whole_usd, struct model_budget *models, size_t n,
                       bool fixed[])
{
    bool priced = any_has_price(models, n), again = false;
    double rest = whole_usd, sum = 0;

    for (size_t i = 0; i < n; i++) {
        rest -= fixed[i] ? models[i].spent_usd : 0;
        sum += fixed[i] ? 0 : weight_of(&models[i], priced);
    }
    for (size_t i = 0; i < n; i++) {
        double weight = weight_of(&models[i], priced);

        if (fixed[i] || weight == 0)
            continue;
        models[i].usd = fmax(rest, 0) * weight / sum;
        if (models[i].spent_usd > models[i].usd) {
            models[i].usd = models[i].spent_usd;
            fixed[i] = again = true;
        }
    }
    return again;
}

void model_budget_share(double whole_usd, struct model_budget *models, size_t n)
{
    bool fixed[MODEL_BUDGET_MAX] = { false };

    for (size_t i = 0; i < n; i++) {
        models[i].usd = 0;
        models[i].is_limited =
            whole_usd > 0 &&
            weight_of(&models[i], any_has_price(models, n)) > 0;
    }
    while (whole_usd > 0 && share_rest(whole_usd, models, n, fixed))
        continue;
}

bool model_budget_is_used_up(const struct model_budget *model)
{
    return model->is_limited && model->spent_usd >= model->usd;
}

size_t model_budget_end(double whole_usd, struct model_budget *models, size_t n,
                        size_t which, double spent_usd, double *more)
{
    bool priced = any_has_price(models, n);
    double rest = whole_usd, sum = 0;
    size_t got = 0;

    models[which].has_ended = true;
    models[which].spent_usd = spent_usd;
    for (size_t i = 0; i < n; i++) {
        more[i] = 0;
        rest -= models[i].has_ended ? models[i].spent_usd : models[i].usd;
        if (!models[i].has_ended && models[i].is_limited)
            sum += weight_of(&models[i], priced);
    }
    if (whole_usd <= 0 || rest < LEAST_USD)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (models[i].has_ended || !models[i].is_limited)
            continue;
        more[i] = rest * weight_of(&models[i], priced) / sum;
        models[i].usd += more[i];
        got += more[i] > 0;
    }
    return got;
}
