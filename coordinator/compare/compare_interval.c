#include "coordinator/compare/compare_interval.h"

#include <math.h>

#include "coordinator/stats/location_shift.h"
#include "coordinator/stats/normal.h"
#include "coordinator/stats/signed_rank.h"

struct compare_levels compare_interval_levels(double alpha,
                                              struct compare_chosen among)
{
    return (struct compare_levels){ .lo = alpha / (double)among.b,
                                    .hi = alpha / (double)among.a };
}

/* A ratio below 1 is shown to be below it by the high end. */
static double scaled(double p, double ratio, double alpha,
                     const struct compare_levels *levels)
{
    return fmin(1, p * alpha / (ratio < 0 ? levels->hi : levels->lo));
}

void compare_interval_of_blocks(const struct compare_evidence *evidence,
                                double alpha,
                                const struct compare_levels *levels,
                                struct compare_interval *out)
{
    struct location_shift found;

    location_shift_ends(
        evidence->a, evidence->n_a, evidence->b, evidence->n_b,
        (struct location_shift_miss){ levels->lo / 2, levels->hi / 2 }, &found);
    *out = (struct compare_interval){
        .speedup = { exp(found.estimate), exp(found.lo), exp(found.hi),
                     scaled(found.p, found.estimate, alpha, levels),
                     found.n_a + found.n_b },
        .n_a = found.n_a,
        .n_b = found.n_b,
    };
}

void compare_interval_of_differences(const struct difference *d, size_t n,
                                     double alpha,
                                     const struct compare_levels *levels,
                                     struct speedup *out)
{
    struct signed_rank lo, hi;

    signed_rank(d, n, 1 - levels->lo, &lo);
    signed_rank(d, n, 1 - levels->hi, &hi);
    *out = (struct speedup){
        .value = exp(lo.estimate),
        .lo = exp(lo.lo),
        .hi = exp(hi.hi),
        .p = scaled(lo.p, lo.estimate, alpha, levels),
        .n_blocks = n,
    };
}

void compare_interval_of_normal(double ratio, double sd, double alpha,
                                const struct compare_levels *levels,
                                struct speedup *out)
{
    *out = (struct speedup){
        .value = exp(ratio),
        .lo = exp(ratio - sd * normal_quantile(1 - levels->lo / 2)),
        .hi = exp(ratio + sd * normal_quantile(1 - levels->hi / 2)),
        .p = scaled(2 * normal_cdf(-fabs(ratio) / sd), ratio, alpha, levels),
    };
}
