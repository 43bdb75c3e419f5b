#include "coordinator/confirm/speedup.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/stats/signed_rank.h"

#define P_CONFIDENCE 0.95 /* p does not depend on it */

static void from_differences(const struct difference *d, size_t n,
                             double confidence, struct speedup *out)
{
    struct signed_rank rank;

    signed_rank(d, n, confidence, &rank);
    *out = (struct speedup){
        .value = exp(rank.estimate),
        .lo = exp(rank.lo),
        .hi = exp(rank.hi),
        .p = rank.p,
        .n_blocks = n,
    };
}

void speedup_of(const struct blocks *blocks, size_t a, size_t b,
                double confidence, struct speedup *out)
{
    struct difference *d = mem_new(blocks_count(blocks), sizeof(*d));
    size_t n = blocks_differences(blocks, a, b, d);

    from_differences(d, n, confidence, out);
    free(d);
}

double speedup_p_above(const struct blocks *blocks, size_t a, size_t b,
                       double bound)
{
    struct difference *d = mem_new(blocks_count(blocks), sizeof(*d));
    size_t n = blocks_differences(blocks, a, b, d);
    struct signed_rank rank;

    for (size_t i = 0; i < n; i++)
        d[i].value -= log(bound);
    signed_rank(d, n, P_CONFIDENCE, &rank);
    free(d);
    return rank.p_above;
}

void speedup_on(const struct blocks *blocks, size_t a, size_t b, int gpu,
                double confidence, struct speedup *out)
{
    struct difference *d = mem_new(blocks_count(blocks), sizeof(*d));
    size_t n = blocks_differences(blocks, a, b, d);
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (d[i].stratum == gpu)
            d[kept++] = d[i];
    from_differences(d, kept, confidence, out);
    free(d);
}
