/* Latin hypercube: n points use n equal parts of each tunable's levels once.
 *
 * A plain Latin hypercube ignores what is legal.  Rows that are not legal are
 * repaired first by swapping one tunable with another row, which keeps the
 * levels of every tunable as they are.  Only if that does not help are they
 * moved to the nearest legal point.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/search/method.h"

#define SWAPS_A_ROW 200   /* tries to make a row legal without moving it */
#define SCANNED_MAX 20000 /* points looked at for the nearest one */

struct design {
    struct method_search *search;
    int n, tunables;
    uint16_t *levels; /* [n][tunables] */
};

/* A random level inside the i-th of n strata. */
static void fill(struct design *design)
{
    int n = design->n, *strata = mem_new((size_t)n, sizeof(int));
    struct prng *prng = &design->search->prng;

    for (int t = 0; t < design->tunables; t++) {
        int levels = domain_tunable(design->search->domain, t)->levels;

        for (int i = 0; i < n; i++)
            strata[i] = i;
        prng_shuffle(prng, strata, (size_t)n);
        for (int i = 0; i < n; i++) {
            double at = (strata[i] + prng_unit(prng)) / n;
            int level = (int)(at * levels);

            design->levels[i * design->tunables + t] =
                (uint16_t)(level < levels ? level : levels - 1);
        }
    }
    free(strata);
}

static uint16_t *row(const struct design *design, int i)
{
    return design->levels + (size_t)i * (size_t)design->tunables;
}

static bool usable(const struct design *design, int i)
{
    int point = domain_find(design->search->domain, row(design, i));
    size_t bytes = (size_t)design->tunables * sizeof(uint16_t);

    if (point < 0 ||
        trials_state(&design->search->trials, point) != TRIAL_UNSEEN)
        return false;
    for (int j = 0; j < design->n; j++)
        if (j != i && memcmp(row(design, i), row(design, j), bytes) == 0)
            return false;
    return true;
}

static void swap(struct design *design, int i, int j, int t)
{
    uint16_t held = row(design, i)[t];

    row(design, i)[t] = row(design, j)[t];
    row(design, j)[t] = held;
}

static void repair_by_swaps(struct design *design, int i)
{
    struct prng *prng = &design->search->prng;

    for (int k = 0; k < SWAPS_A_ROW && !usable(design, i); k++) {
        int j = (int)prng_below(prng, (uint64_t)design->n);
        int t = (int)prng_below(prng, (uint64_t)design->tunables);
        bool before = usable(design, j);

        swap(design, i, j, t);
        if (before && !usable(design, j))
            swap(design, i, j, t);
    }
}

static bool is_taken(const int *out, int n, int point)
{
    for (int i = 0; i < n; i++)
        if (out[i] == point)
            return true;
    return false;
}

/* The nearest unseen point that is not among the first n of 'out', or -1. */
static int nearest(const struct design *design, int i, const int *out, int n)
{
    const struct trials *trials = &design->search->trials;
    bool all = trials->unseen_n <= SCANNED_MAX;
    int looked = all ? trials->unseen_n : SCANNED_MAX, best = -1;
    double best_far = DBL_MAX;

    for (int k = 0; k < looked; k++) {
        int point = all ? trials->unseen[k]
                        : trials_random_unseen(trials, &design->search->prng);
        double far = domain_distance(trials->domain, row(design, i),
                                     domain_point(trials->domain, point));

        if (far < best_far && !is_taken(out, n, point)) {
            best_far = far;
            best = point;
        }
    }
    return best;
}

int method_lhs_sample(struct method_search *search, int n, int *out)
{
    struct design design = { .search = search,
                             .tunables = domain_tunables(search->domain) };
    int found = 0;

    if (n > search->trials.unseen_n)
        n = search->trials.unseen_n;
    design.n = n;
    design.levels =
        mem_new((size_t)n * (size_t)design.tunables, sizeof(uint16_t));
    fill(&design);
    for (int i = 0; i < n; i++)
        repair_by_swaps(&design, i);
    for (int i = 0; i < n; i++)
        if (usable(&design, i))
            out[found++] = domain_find(search->domain, row(&design, i));
    for (int i = 0; i < n; i++) {
        int point = usable(&design, i) ? -1 : nearest(&design, i, out, found);

        if (point >= 0)
            out[found++] = point;
    }
    free(design.levels);
    return found;
}

/* As a method of its own: one design after the other from the unseen points. */
struct lhs {
    int points[LHS_MAX];
    int n, next;
};

static void *start(struct method_search *search)
{
    (void)search;
    return mem_new(1, sizeof(struct lhs));
}

static int ask(void *self, struct method_search *search)
{
    struct lhs *lhs = self;

    for (;;) {
        while (lhs->next < lhs->n) {
            int point = lhs->points[lhs->next++];

            if (trials_state(&search->trials, point) == TRIAL_UNSEEN)
                return point;
        }
        lhs->n = method_lhs_sample(
            search, search->left < LHS_MAX ? search->left : LHS_MAX,
            lhs->points);
        lhs->next = 0;
    }
}

const struct method method_lhs = {
    .name = "lhs",
    .about = "Latin hypercube: each n configurations use the values of every "
             "tunable evenly",
    .start = start,
    .ask = ask,
    .end = free,
};
