#include "coordinator/confirm/best_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/speedup.h"
#include "coordinator/confirm/verdict.h"

static size_t find_leader(const struct block_time *times, const bool *eligible,
                          size_t n, size_t *n_eligible)
{
    size_t leader = BEST_SET_NONE;

    *n_eligible = 0;
    for (size_t c = 0; c < n; c++) {
        if (!eligible[c] || isnan(times[c].seconds))
            continue;
        ++*n_eligible;
        if (leader == BEST_SET_NONE || times[c].seconds < times[leader].seconds)
            leader = c;
    }
    return leader;
}

size_t best_set_by(const struct blocks *blocks, const struct block_time *times,
                   const bool *eligible, const struct verdict_rules *rules,
                   bool *tied)
{
    size_t n = blocks_contestants(blocks), n_eligible;
    size_t leader = find_leader(times, eligible, n, &n_eligible);

    for (size_t c = 0; c < n; c++) {
        struct speedup s;

        tied[c] = eligible[c] && leader != BEST_SET_NONE;
        if (!tied[c] || c == leader)
            continue;
        speedup_of(blocks, c, leader, 0, &s);
        if (s.value < 1 / (1 + rules->floor) &&
            s.p / 2 * (double)(n_eligible - 1) <= rules->alpha)
            tied[c] = false;
    }
    return leader;
}

size_t best_set_of(const struct blocks *blocks, const bool *eligible,
                   const struct verdict_rules *rules, bool *tied)
{
    size_t n = blocks_contestants(blocks), leader;
    struct block_time *times = mem_new(n, sizeof(*times));

    blocks_times(blocks, 0, times);
    leader = best_set_by(blocks, times, eligible, rules, tied);
    free(times);
    return leader;
}

static bool is_same_kernel(const struct best_set_choice *a,
                           const struct best_set_choice *b)
{
    return *a->code && strcmp(a->code, b->code) == 0;
}

size_t best_set_choose(const struct best_set_choice *choices, size_t n)
{
    size_t fastest = BEST_SET_NONE, best;

    for (size_t c = 0; c < n; c++)
        if (choices[c].eligible &&
            (fastest == BEST_SET_NONE ||
             choices[c].seconds < choices[fastest].seconds))
            fastest = c;
    best = fastest;
    for (size_t c = 0; best != BEST_SET_NONE && c < n; c++)
        if (choices[c].eligible &&
            is_same_kernel(&choices[c], &choices[fastest]) &&
            choices[c].number < choices[best].number)
            best = c;
    return best;
}
