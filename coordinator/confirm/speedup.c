#include "coordinator/confirm/speedup.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/stats/signed_rank.h"

static void from_differences(const struct signed_rank_law *law,
                             const struct difference *d, size_t n,
                             double confidence, struct speedup *out)
{
    struct signed_rank rank;

    signed_rank_by(law, d, n, confidence, &rank);
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

    from_differences(blocks_law(blocks), d, n, confidence, out);
    free(d);
}

double speedup_p_above(const struct blocks *blocks, size_t a, size_t b,
                       double bound)
{
    struct difference *d = mem_new(blocks_count(blocks), sizeof(*d));
    size_t n = blocks_differences(blocks, a, b, d);
    double p;

    for (size_t i = 0; i < n; i++)
        d[i].value -= log(bound);
    p = signed_rank_p_above(blocks_law(blocks), d, n);
    free(d);
    return p;
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
    from_differences(NULL, d, kept, confidence, out);
    free(d);
}
