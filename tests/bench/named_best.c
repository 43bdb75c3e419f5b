#include "tests/bench/named_best.h"

#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/confirm/analysis.h"
#include "coordinator/confirm/best_set.h"

static int standing(const struct finding *found)
{
    return found->success ? 2 : found->verdict == VERDICT_FAST ? 1 : 0;
}

size_t named_best(const struct finding *found, size_t n)
{
    struct best_set_choice *choices = mem_new(n, sizeof(*choices));
    int highest = 0;
    size_t best;

    for (size_t c = 0; c < n; c++)
        if (found[c].tied && standing(&found[c]) > highest)
            highest = standing(&found[c]);
    for (size_t c = 0; c < n; c++)
        choices[c] =
            (struct best_set_choice){ found[c].tied &&
                                          standing(&found[c]) == highest,
                                      found[c].time.seconds, "", (int64_t)c };
    best = best_set_choose(choices, n);
    free(choices);
    return best;
}
