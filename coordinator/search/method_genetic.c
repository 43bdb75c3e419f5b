/* Steady-state genetic algorithm.
 *
 * The population is the fastest trials so far, of any method; it
 * begins as a Latin hypercube.  Each ask makes one child of two parents chosen
 * by tournament: each tunable from either, some mutated, and moved to an
 * unseen legal point.  There are no generations, so nothing waits.
 */
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/search/method.h"

#define POPULATION 20
#define TOURNAMENT 2
#define CHILDREN_MAX 200 /* tries for one that is legal and unseen */

struct genetic {
    int first[POPULATION]; /* points that begin the population */
    int first_n, next;
    int *line;
};

static void *start(struct method_search *search)
{
    struct genetic *genetic = mem_new(1, sizeof(*genetic));
    int n = POPULATION - search->trials.timed;

    if (n > search->left)
        n = search->left;
    if (n > 0)
        genetic->first_n = method_lhs_sample(search, n, genetic->first);
    genetic->line =
        mem_new((size_t)domain_hood_max(search->domain), sizeof(int));
    return genetic;
}

static void end(void *self)
{
    struct genetic *genetic = self;

    free(genetic->line);
    free(genetic);
}

/* The fittest of a few random ones; 'n' ones are sorted by time. */
static const uint16_t *parent(struct method_search *search, const int *fastest,
                              int n)
{
    int best = n;

    for (int i = 0; i < TOURNAMENT; i++) {
        int k = (int)prng_below(&search->prng, (uint64_t)n);

        best = k < best ? k : best;
    }
    return domain_point(search->domain,
                        search->trials.list[fastest[best]].point);
}

static void mutate(struct method_search *search, uint16_t *level, int t,
                   int tunables)
{
    const struct domain_tunable *tunable = domain_tunable(search->domain, t);
    struct prng *prng = &search->prng;
    bool near = tunable->ordered && prng_below(prng, 2) == 0;
    int to = *level;

    if (prng_below(prng, (uint64_t)tunables) != 0)
        return;
    if (near)
        to += prng_below(prng, 2) ? 1 : -1;
    else
        to = (int)prng_below(prng, (uint64_t)tunable->levels);
    if (to >= 0 && to < tunable->levels)
        *level = (uint16_t)to;
}

static int child(struct method_search *search, const int *fastest, int n)
{
    const uint16_t *a = parent(search, fastest, n);
    const uint16_t *b = parent(search, fastest, n);
    int tunables = domain_tunables(search->domain), point;
    uint16_t levels[DOMAIN_TUNABLES_MAX];

    for (int t = 0; t < tunables; t++) {
        levels[t] = prng_below(&search->prng, 2) ? a[t] : b[t];
        mutate(search, &levels[t], t, tunables);
    }
    point = domain_find(search->domain, levels);
    if (point < 0 || trials_state(&search->trials, point) != TRIAL_UNSEEN)
        return -1;
    return point;
}

/* An unseen neighbour of a member of the population, or -1. */
static int neighbour(struct genetic *genetic, struct method_search *search,
                     const int *fastest, int n)
{
    const struct trials *trials = &search->trials;
    int of = fastest[prng_below(&search->prng, (uint64_t)n)];
    int found = domain_neighbours(search->domain, trials->list[of].point, false,
                                  genetic->line);

    prng_shuffle(&search->prng, genetic->line, (size_t)found);
    for (int i = 0; i < found; i++)
        if (trials_state(trials, genetic->line[i]) == TRIAL_UNSEEN)
            return genetic->line[i];
    return -1;
}

static int ask(void *self, struct method_search *search)
{
    struct genetic *genetic = self;
    int fastest[POPULATION], n, point = -1;

    while (genetic->next < genetic->first_n) {
        point = genetic->first[genetic->next++];
        if (trials_state(&search->trials, point) == TRIAL_UNSEEN)
            return point;
    }
    n = trials_fastest(&search->trials, fastest, POPULATION);
    point = -1;
    for (int i = 0; n > 0 && point < 0 && i < CHILDREN_MAX; i++)
        point = child(search, fastest, n);
    if (n > 0 && point < 0)
        point = neighbour(genetic, search, fastest, n);
    return point >= 0 ? point
                      : trials_random_unseen(&search->trials, &search->prng);
}

const struct method method_genetic = {
    .name = "genetic",
    .about = "genetic algorithm: children of the fastest twenty, one at a time",
    .learns = true,
    .start = start,
    .ask = ask,
    .end = end,
};
