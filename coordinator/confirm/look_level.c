#include "coordinator/confirm/look_level.h"

#include "coordinator/confirm/sequential.h"
#include "coordinator/stats/spending.h"

double look_level(const struct sequential *looks, size_t candidate,
                  double alpha)
{
    struct spending spending;
    double level = alpha / 2;

    spending_init(&spending, alpha / 2);
    for (int i = 0; i < looks->candidates[candidate].looks; i++) {
        double share = (double)looks->looked[i] / (double)looks->most;

        level = looks->last && i + 1 == looks->looks
                    ? spending_last(&spending, share)
                    : spending_look(&spending, share);
    }
    return 2 * level;
}
