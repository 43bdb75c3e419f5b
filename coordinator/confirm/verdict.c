#include "coordinator/confirm/verdict.h"

#include <math.h>

#include "coordinator/confirm/speedup.h"

enum verdict verdict_of(const struct speedup *s, double p_holm,
                        const struct verdict_rules *rules)
{
    double most = 1 + rules->floor, least = 1 / most;

    if (s->lo >= least && s->hi <= most)
        return VERDICT_SAME;
    if (p_holm <= rules->alpha && s->lo > most)
        return VERDICT_FAST;
    if (p_holm <= rules->alpha && s->hi < least)
        return VERDICT_SLOW;
    return VERDICT_AMBG;
}

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {
        [VERDICT_SAME] = "SAME",
        [VERDICT_FAST] = "FAST",
        [VERDICT_SLOW] = "SLOW",
        [VERDICT_AMBG] = "AMBG",
    };

    return names[verdict];
}

const char *verdict_side(const struct speedup *s)
{
    return s->lo > 1 ? "faster" : s->hi < 1 ? "slower" : "either";
}

const char *verdict_words(enum verdict verdict, const struct speedup *s)
{
    bool same = verdict == VERDICT_SAME;

    if (verdict == VERDICT_FAST || verdict == VERDICT_SLOW)
        return verdict_name(verdict);
    if (s->lo > 1)
        return same ? "SAME, faster" : "AMBG, faster";
    if (s->hi < 1)
        return same ? "SAME, slower" : "AMBG, slower";
    return verdict_name(verdict);
}

bool verdict_is_success(enum verdict verdict, const struct speedup *s,
                        const struct verdict_rules *rules)
{
    return verdict == VERDICT_FAST && s->lo >= rules->target;
}

size_t verdict_blocks_needed(size_t n_finalists,
                             const struct verdict_rules *rules)
{
    size_t n = 1;

    while (ldexp(1, 1 - (int)n) * (double)n_finalists > rules->alpha)
        n++;
    return n;
}
