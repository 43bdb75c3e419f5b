/* Tree-structured Parzen estimator (Bergstra and others 2011), on levels.
 *
 * The trials so far are split into the fast share and the rest.  For each of
 * the two, every tunable has a density over its levels.  Points are drawn from
 * the fast density, and the one most likely to be fast is asked for.  Failed
 * trials belong to the rest, and so do pending ones: a point near many pending
 * ones is worth less until they have results (a constant liar).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/search/method.h"

#define STARTUP 10    /* random trials before the densities are used */
#define FAST_SHARE 10 /* one trial in so many is fast, as in Optuna ... */
#define FAST_MAX 25   /* ... but at most this many */
#define DRAWN 24      /* legal points compared, as in Optuna */
#define DRAWS_MAX 2000
#define PRIOR 1.0 /* weight of the uniform prior, in trials */

struct tpe {
    int tunables;
    double *fast[DOMAIN_TUNABLES_MAX]; /* [levels] density of the fast trials */
    double *rest[DOMAIN_TUNABLES_MAX];
    int fastest[FAST_MAX]; /* trials */
};

static void *start(struct method_search *search)
{
    struct tpe *tpe = mem_new(1, sizeof(*tpe));

    tpe->tunables = domain_tunables(search->domain);
    for (int t = 0; t < tpe->tunables; t++) {
        size_t levels = (size_t)domain_tunable(search->domain, t)->levels;

        tpe->fast[t] = mem_new(levels, sizeof(double));
        tpe->rest[t] = mem_new(levels, sizeof(double));
    }
    return tpe;
}

static void end(void *self)
{
    struct tpe *tpe = self;

    for (int t = 0; t < tpe->tunables; t++) {
        free(tpe->fast[t]);
        free(tpe->rest[t]);
    }
    free(tpe);
}

/* From counts of levels to a density: add the prior, and for an ordered tunable
 * smooth with a normal kernel whose width shrinks as trials come in. */
static void smooth(double *density, const struct domain_tunable *tunable,
                   int trials)
{
    double wide = tunable->levels * 0.3 * pow(trials + 1, -0.4), sum = 0;
    double *counts = mem_new((size_t)tunable->levels, sizeof(double));

    memcpy(counts, density, (size_t)tunable->levels * sizeof(double));
    for (int i = 0; i < tunable->levels; i++) {
        density[i] = tunable->ordered ? 0 : counts[i];
        for (int j = 0; tunable->ordered && j < tunable->levels; j++) {
            double far = (i - j) / (wide + 0.2);

            density[i] += counts[j] * exp(-far * far / 2);
        }
        sum += density[i];
    }
    for (int i = 0; i < tunable->levels; i++)
        density[i] = (PRIOR / tunable->levels +
                      (sum > 0 ? trials * density[i] / sum : 0)) /
                     (trials + PRIOR);
    free(counts);
}

static bool is_fast(const struct tpe *tpe, int n, int i)
{
    for (int k = 0; k < n; k++)
        if (tpe->fastest[k] == i)
            return true;
    return false;
}

static void estimate(struct tpe *tpe, const struct method_search *search)
{
    const struct trials *trials = &search->trials;
    int share = (trials->n + FAST_SHARE - 1) / FAST_SHARE;
    int n = trials_fastest(trials, tpe->fastest,
                           share < FAST_MAX ? share : FAST_MAX);

    for (int t = 0; t < tpe->tunables; t++) {
        const struct domain_tunable *tunable =
            domain_tunable(search->domain, t);

        memset(tpe->fast[t], 0, (size_t)tunable->levels * sizeof(double));
        memset(tpe->rest[t], 0, (size_t)tunable->levels * sizeof(double));
        for (int i = 0; i < trials->n; i++) {
            double *density = is_fast(tpe, n, i) ? tpe->fast[t] : tpe->rest[t];

            density[domain_point(search->domain, trials->list[i].point)[t]]++;
        }
        smooth(tpe->fast[t], tunable, n);
        smooth(tpe->rest[t], tunable, trials->n - n);
    }
}

/* A point drawn from the fast density; unseen, or -1. */
static int draw(const struct tpe *tpe, struct method_search *search)
{
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    int point;

    for (int t = 0; t < tpe->tunables; t++) {
        int last = domain_tunable(search->domain, t)->levels - 1, level = 0;
        double at = prng_unit(&search->prng);

        while (level < last && at >= tpe->fast[t][level])
            at -= tpe->fast[t][level++];
        levels[t] = (uint16_t)level;
    }
    point = domain_find(search->domain, levels);
    if (point >= 0 && trials_state(&search->trials, point) != TRIAL_UNSEEN)
        return -1;
    return point;
}

static double promise(const struct tpe *tpe, const struct method_search *search,
                      int point)
{
    const uint16_t *levels = domain_point(search->domain, point);
    double sum = 0;

    for (int t = 0; t < tpe->tunables; t++)
        sum += log(tpe->fast[t][levels[t]] / tpe->rest[t][levels[t]]);
    return sum;
}

static int ask(void *self, struct method_search *search)
{
    struct tpe *tpe = self;
    double best_promise = 0;
    int best = -1, drawn = 0;

    if (search->trials.n < STARTUP || search->trials.timed == 0)
        return trials_random_unseen(&search->trials, &search->prng);
    estimate(tpe, search);
    for (int i = 0; i < DRAWS_MAX && drawn < DRAWN; i++) {
        int point = draw(tpe, search);
        double here;

        if (point < 0)
            continue;
        drawn++;
        here = promise(tpe, search, point);
        if (best < 0 || here > best_promise) {
            best_promise = here;
            best = point;
        }
    }
    return best >= 0 ? best
                     : trials_random_unseen(&search->trials, &search->prng);
}

const struct method method_tpe = {
    .name = "tpe",
    .about = "tree-structured Parzen estimator: one density per tunable",
    .learns = true,
    .start = start,
    .ask = ask,
    .end = end,
};
