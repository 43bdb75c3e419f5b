#include "coordinator/replay/landscape_prior.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/search/external_strategy.h"

/* A tunable of the landscape in the domain. */
struct match {
    int tunable; /* of the domain, or -1 */
    int *levels; /* [levels of that] of the landscape, or -1 */
    int level;   /* without such a tunable */
};

/* Is a value, as JSON, the same as one of a record, without quotes? */
static bool is_same(const char *json, const char *text)
{
    size_t len = strlen(json);
    char *end_a, *end_b;
    double a, b;

    if (*json == '"')
        return len >= 2 && strlen(text) == len - 2 &&
               memcmp(json + 1, text, len - 2) == 0;
    a = strtod(json, &end_a);
    b = strtod(text, &end_b);
    if (end_a != json && end_b != text && !*end_a && !*end_b)
        return a == b;
    return strcmp(json, text) == 0;
}

static int find_tunable(const struct external_strategy_tunable *tunables, int n,
                        const char *name)
{
    for (int t = 0; t < n; t++)
        if (strcmp(tunables[t].name, name) == 0)
            return t;
    return -1;
}

static int find_level(const struct landscape_tunable *in, const char *json)
{
    for (int level = 0; level < in->n; level++)
        if (is_same(json, in->texts[level]))
            return level;
    return -1;
}

static void put_odd(struct buf *odd, const char *name)
{
    if (odd) {
        buf_str(odd, odd->len ? " " : "");
        buf_str(odd, name);
    }
}

static void match_all(const struct landscape *land, const struct domain *domain,
                      const struct external_strategy_tunable *tunables,
                      struct match *matches, struct buf *odd)
{
    const uint16_t *best = domain_point(land->domain, land->best);
    int n = domain_tunables(domain);
    bool *used = mem_new((size_t)n, sizeof(bool));

    for (int i = 0; i < land->tunables_n; i++) {
        const struct landscape_tunable *in = &land->tunables[i];
        struct match *match = &matches[i];
        int t = find_tunable(tunables, n, in->name), levels;

        *match = (struct match){ .tunable = t, .level = best[i] };
        if (t < 0) {
            put_odd(odd, in->name);
            continue;
        }
        used[t] = true;
        levels = domain_tunable(domain, t)->levels;
        match->levels = mem_new((size_t)levels, sizeof(int));
        for (int level = 0; level < levels; level++)
            match->levels[level] = find_level(in, tunables[t].values[level]);
    }
    for (int t = 0; t < n; t++)
        if (!used[t])
            put_odd(odd, tunables[t].name);
    free(used);
}

/* The recorded point with the same values, or -1. */
static int find_point(const struct landscape *land, const struct match *matches,
                      const uint16_t *levels)
{
    uint16_t there[DOMAIN_TUNABLES_MAX];

    for (int i = 0; i < land->tunables_n; i++) {
        int level = matches[i].tunable < 0
                        ? matches[i].level
                        : matches[i].levels[levels[matches[i].tunable]];

        if (level < 0)
            return -1;
        there[i] = (uint16_t)level;
    }
    return domain_find(land->domain, there);
}

double *landscape_prior(const struct landscape *land,
                        const struct domain *domain,
                        const struct external_strategy_tunable *tunables,
                        int *known, struct buf *odd)
{
    struct match matches[DOMAIN_TUNABLES_MAX];
    double *prior = mem_new((size_t)domain_size(domain), sizeof(*prior));

    *known = 0;
    if (land->best >= 0)
        match_all(land, domain, tunables, matches, odd);
    for (int point = 0; point < domain_size(domain); point++) {
        int there = land->best < 0 ? -1
                                   : find_point(land, matches,
                                                domain_point(domain, point));
        double time_s = there < 0 ? 0 : land->configs[there].time_s;

        prior[point] = time_s > 0 ? log(time_s) : (double)NAN;
        *known += time_s > 0;
    }
    for (int i = 0; land->best >= 0 && i < land->tunables_n; i++)
        free(matches[i].levels);
    return prior;
}
