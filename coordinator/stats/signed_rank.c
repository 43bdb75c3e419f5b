#include "coordinator/stats/signed_rank.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/stats/normal.h"
#include "coordinator/stats/pair_averages.h"

/* The exact distribution costs n^3. Above this many the approximation is within
 * 1 % of any p that matters. */
#define EXACT_MAX 128

/* Resolution of the weights of strata of unequal size: 1/16. */
#define WEIGHT_STEPS 8

/* An interval is reported if its best possible error rate is at most this times
 * the one asked for: 5 differences for 95 %, 8 for 99 %. */
#define MISS_SLACK 1.5

/* Ranks from 1 to 'n', each with this weight. */
struct stratum {
    size_t n;
    uint64_t weight;
};

struct signed_rank_law {
    struct stratum *strata; /* [n_strata] */
    size_t n_strata;
    size_t n;        /* differences */
    uint64_t total;  /* the weight of all averages of two */
    double *below;   /* [total / 2 + 1] P(weight of the positive ones <= k), if
                      * exact; else NULL */
    double variance; /* of that weight, and its fourth cumulant */
    double fourth;
};

/* ---- the distribution ---- */

static uint64_t pairs(size_t n)
{
    return (uint64_t)n * (n + 1) / 2;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Integers, so that the distribution stays on a lattice and can be exact. */
static void weigh_strata(struct signed_rank_law *law)
{
    uint64_t most = 0, divisor = 0;

    for (size_t s = 0; s < law->n_strata; s++)
        if (pairs(law->strata[s].n) > most)
            most = pairs(law->strata[s].n);
    for (size_t s = 0; s < law->n_strata; s++) {
        uint64_t mine = pairs(law->strata[s].n);

        assert(mine > 0);
        law->strata[s].weight = (WEIGHT_STEPS * most + mine / 2) / mine;
        divisor = common_divisor(law->strata[s].weight, divisor);
    }
    for (size_t s = 0; s < law->n_strata; s++) {
        law->strata[s].weight /= divisor;
        law->total += law->strata[s].weight * pairs(law->strata[s].n);
    }
}

/* Each rank is positive or not: count the ways to each sum, rank by rank.  Only
 * the lower half is stored, since sums only grow. */
static void count_ways(struct signed_rank_law *law)
{
    uint64_t half = law->total / 2, reach = 0;
    double each = ldexp(1, -(int)law->n);

    law->below = mem_new(half + 1, sizeof(*law->below));
    law->below[0] = 1;
    for (size_t s = 0; s < law->n_strata; s++)
        for (uint64_t rank = 1; rank <= law->strata[s].n; rank++) {
            uint64_t step = rank * law->strata[s].weight;

            reach = reach + step < half ? reach + step : half;
            for (uint64_t k = reach + 1; k-- > step;)
                law->below[k] += law->below[k - step];
        }
    law->below[0] *= each;
    for (uint64_t k = 1; k <= half; k++)
        law->below[k] = law->below[k] * each + law->below[k - 1];
}

/* A rank with weight w contributes w or nothing, so its variance is w^2/4 and
 * its fourth cumulant -w^4/8. */
static void sum_moments(struct signed_rank_law *law)
{
    for (size_t s = 0; s < law->n_strata; s++)
        for (size_t rank = 1; rank <= law->strata[s].n; rank++) {
            double square =
                pow((double)rank * (double)law->strata[s].weight, 2);

            law->variance += square / 4;
            law->fourth -= square * square / 8;
        }
}

struct signed_rank_law *signed_rank_law_new(const size_t *sizes, size_t n)
{
    struct signed_rank_law *law = mem_new(1, sizeof(*law));

    law->strata = mem_new(n, sizeof(*law->strata));
    law->n_strata = n;
    for (size_t s = 0; s < n; s++) {
        law->strata[s].n = sizes[s];
        law->n += sizes[s];
    }
    weigh_strata(law);
    if (law->n <= EXACT_MAX)
        count_ways(law);
    else
        sum_moments(law);
    return law;
}

void signed_rank_law_free(struct signed_rank_law *law)
{
    if (!law)
        return;
    free(law->below);
    free(law->strata);
    free(law);
}

/* P(weight of the positive ones <= k), k at most half of all.  Not exact: the
 * normal distribution with Edgeworth's first correction, because the tails are
 * shorter. */
static double below(const struct signed_rank_law *law, uint64_t k)
{
    double middle = (double)law->total / 2, z, density, bend;

    if (law->below)
        return law->below[k];
    z = ((double)k + 0.5 - middle) / sqrt(law->variance);
    density = exp(-z * z / 2) / sqrt(2 * M_PI);
    bend = law->fourth / (24 * law->variance * law->variance);
    return fmax(0, normal_cdf(z) - density * bend * (z * z * z - 3 * z));
}

/* The first k that is less likely to be passed than 'miss', or half of all. */
static uint64_t first_above(const struct signed_rank_law *law, double miss)
{
    uint64_t from = 0, to = law->total / 2;

    while (from < to) {
        uint64_t middle = from + (to - from) / 2;

        if (below(law, middle) <= miss)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* ---- the differences ---- */

/* Sorted by stratum and value. */
struct ranking {
    double *values;
    size_t *sizes; /* [n_strata] */
    size_t n_strata;
    const struct signed_rank_law *law;
    struct signed_rank_law *own; /* NULL if it was given */
    struct pair_averages *averages;
};

static int in_order(const void *a, const void *b)
{
    const struct difference *x = a, *y = b;

    if (x->stratum != y->stratum)
        return (x->stratum > y->stratum) - (x->stratum < y->stratum);
    return (x->value > y->value) - (x->value < y->value);
}

static bool is_law_of(const struct signed_rank_law *law,
                      const struct ranking *r)
{
    if (!law || law->n_strata != r->n_strata)
        return false;
    for (size_t s = 0; s < r->n_strata; s++)
        if (law->strata[s].n != r->sizes[s])
            return false;
    return true;
}

static void find_strata(struct ranking *r, const struct difference *d, size_t n)
{
    struct difference *sorted = mem_dup(d, n * sizeof(*d));

    qsort(sorted, n, sizeof(*sorted), in_order);
    r->values = mem_new(n, sizeof(*r->values));
    r->sizes = mem_new(n, sizeof(*r->sizes));
    for (size_t i = 0; i < n; i++) {
        r->values[i] = sorted[i].value;
        r->n_strata += i == 0 || sorted[i].stratum != sorted[i - 1].stratum;
        r->sizes[r->n_strata - 1]++;
    }
    free(sorted);
}

static void rank(struct ranking *r, const struct signed_rank_law *law,
                 const struct difference *d, size_t n)
{
    struct pair_averages_stratum *strata;
    const double *values;

    *r = (struct ranking){ .own = NULL };
    find_strata(r, d, n);
    if (!is_law_of(law, r))
        law = r->own = signed_rank_law_new(r->sizes, r->n_strata);
    r->law = law;
    values = r->values;
    strata = mem_new(r->n_strata, sizeof(*strata));
    for (size_t s = 0; s < r->n_strata; values += r->sizes[s++])
        strata[s] = (struct pair_averages_stratum){ values, r->sizes[s],
                                                    law->strata[s].weight };
    r->averages = pair_averages_new(strata, r->n_strata);
    free(strata);
}

static void unrank(struct ranking *r)
{
    pair_averages_free(r->averages);
    signed_rank_law_free(r->own);
    free(r->sizes);
    free(r->values);
}

/* From the average outside of an end to the one inside it. */
static double between(double outer, double inner, double share)
{
    return outer + share * (inner - outer);
}

/* Positions 'k' from both ends miss the centre with probability below(k - 1)
 * each.  Between two steps the end is interpolated.  Position 0 is outside the
 * range by the length of the range's last step. */
static void find_interval(const struct ranking *r, double miss,
                          struct signed_rank *out)
{
    int64_t total = (int64_t)r->law->total;
    int64_t k = (int64_t)first_above(r->law, miss), from = k > 0 ? k : 1;
    double before = k > 0 ? below(r->law, (uint64_t)k - 1) : 0;
    double step = below(r->law, (uint64_t)k) - before, lo[2], hi[2];
    double share = fmin((miss - before) / step, 1);

    pair_averages_at(r->averages, from, lo);
    pair_averages_at(r->averages, total - from, hi);
    if (k == 0) {
        out->lo = between(2 * lo[0] - lo[1], lo[0], share);
        out->hi = between(2 * hi[1] - hi[0], hi[1], share);
    } else {
        out->lo = between(lo[0], lo[1], share);
        out->hi = between(hi[1], hi[0], share);
    }
}

/* A zero counts half on either side, as with average ranks. */
static double weight_above_zero(const struct ranking *r)
{
    struct pair_averages_weight weight = pair_averages_weigh(r->averages, 0);

    return (double)(r->law->total - weight.upto) +
           (double)(weight.upto - weight.below) / 2;
}

static double p_two_sided(const struct signed_rank_law *law, double positive)
{
    uint64_t k = (uint64_t)ceil(fmin(positive, (double)law->total - positive));

    return k > law->total / 2 ? 1 : fmin(1, 2 * below(law, k));
}

/* P(weight of the positive ones >= this weight).  The distribution is
 * symmetric, so an upper tail is the lower one of the rest. */
static double p_one_sided(const struct signed_rank_law *law, double positive)
{
    uint64_t least = (uint64_t)floor(positive);

    if (law->total - least <= law->total / 2)
        return below(law, law->total - least);
    return least == 0 ? 1 : 1 - below(law, least - 1);
}

void signed_rank_by(const struct signed_rank_law *law,
                    const struct difference *d, size_t n, double confidence,
                    struct signed_rank *out)
{
    double miss = (1 - confidence) / 2, positive, middle[2];
    struct ranking r;

    assert(confidence >= 0 && confidence < 1);
    *out = (struct signed_rank){
        .n = n,
        .estimate = NAN,
        .lo = -INFINITY,
        .hi = INFINITY,
        .p = 1,
        .p_above = 1,
    };
    if (n == 0)
        return;
    rank(&r, law, d, n);
    pair_averages_at(r.averages, (int64_t)((r.law->total + 1) / 2), middle);
    out->estimate = (middle[0] + middle[r.law->total % 2 == 0]) / 2;
    positive = weight_above_zero(&r);
    out->p = p_two_sided(r.law, positive);
    out->p_above = p_one_sided(r.law, positive);
    if (confidence > 0 && ldexp(1, -(int)n) <= MISS_SLACK * miss)
        find_interval(&r, miss, out);
    unrank(&r);
}

void signed_rank(const struct difference *d, size_t n, double confidence,
                 struct signed_rank *out)
{
    signed_rank_by(NULL, d, n, confidence, out);
}

double signed_rank_p_above(const struct signed_rank_law *law,
                           const struct difference *d, size_t n)
{
    struct ranking r;
    double p;

    if (n == 0)
        return 1;
    rank(&r, law, d, n);
    p = p_one_sided(r.law, weight_above_zero(&r));
    unrank(&r);
    return p;
}
