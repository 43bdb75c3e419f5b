#include "coordinator/confirm/best_set.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/speedup.h"
#include "coordinator/confirm/verdict.h"

static size_t find_leader(const struct blocks *blocks, const bool *eligible,
                          double confidence, size_t *n_eligible)
{
    size_t n = blocks_contestants(blocks), leader = BEST_SET_NONE;
    struct block_time *times = mem_new(n, sizeof(*times));

    *n_eligible = 0;
    blocks_times(blocks, confidence, times);
    for (size_t c = 0; c < n; c++) {
        if (!eligible[c] || isnan(times[c].seconds))
            continue;
        ++*n_eligible;
        if (leader == BEST_SET_NONE || times[c].seconds < times[leader].seconds)
            leader = c;
    }
    free(times);
    return leader;
}

size_t best_set_of(const struct blocks *blocks, const bool *eligible,
                   const struct verdict_rules *rules, bool *tied)
{
    size_t n = blocks_contestants(blocks), n_eligible, leader;

    leader = find_leader(blocks, eligible, 1 - rules->alpha, &n_eligible);
    for (size_t c = 0; c < n; c++) {
        struct speedup s;

        tied[c] = eligible[c] && leader != BEST_SET_NONE;
        if (!tied[c] || c == leader)
            continue;
        speedup_of(blocks, c, leader, 1 - rules->alpha, &s);
        if (s.value < 1 / (1 + rules->floor) &&
            s.p / 2 * (double)(n_eligible - 1) <= rules->alpha)
            tied[c] = false;
    }
    return leader;
}

static bool is_before(const double *a, const double *b, size_t n_keys)
{
    for (size_t k = 0; k < n_keys; k++)
        if (a[k] != b[k])
            return a[k] < b[k];
    return false;
}

size_t best_set_break(const bool *tied, size_t n, const double *keys,
                      size_t n_keys)
{
    size_t best = BEST_SET_NONE;

    for (size_t c = 0; c < n; c++)
        if (tied[c] &&
            (best == BEST_SET_NONE ||
             is_before(&keys[c * n_keys], &keys[best * n_keys], n_keys)))
            best = c;
    return best;
}
