#include "coordinator/stats/signed_rank.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/stats/normal.h"

/* The exact distribution costs n^3. Above this many the approximation is within
 * 1 % of any p that matters. */
#define EXACT_MAX 128

/* Resolution of the weights of strata of unequal size: 1/16. */
#define WEIGHT_STEPS 8

/* An interval is reported if its best possible error rate is at most this times
 * the one asked for: 5 differences for 95 %, 8 for 99 %. */
#define MISS_SLACK 1.5

/* The average of two differences of one stratum; its sign counts with
 * 'weight'. */
struct average {
    double value;
    uint64_t weight;
};

struct stratum {
    double *values; /* [n], a slice of those of the ranking */
    size_t n;
    uint64_t weight;
};

struct ranking {
    struct difference *sorted;
    double *values;
    struct stratum *strata;
    size_t n_strata;
    struct average *averages; /* ascending */
    size_t n_averages;
    uint64_t total; /* the weight of all averages */
    double *below;  /* [total / 2 + 1] P(weight of the positive ones <= k) */
};

static int by_stratum(const void *a, const void *b)
{
    int x = ((const struct difference *)a)->stratum;
    int y = ((const struct difference *)b)->stratum;

    return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

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

static void find_strata(struct ranking *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        r->values[i] = r->sorted[i].value;
        if (i == 0 || r->sorted[i].stratum != r->sorted[i - 1].stratum)
            r->strata[r->n_strata++].values = &r->values[i];
        r->strata[r->n_strata - 1].n++;
    }
}

/* Integers, so that the distribution stays on a lattice and can be exact. */
static void weigh_strata(struct ranking *r)
{
    uint64_t most = 0, divisor = 0;

    for (size_t s = 0; s < r->n_strata; s++)
        if (pairs(r->strata[s].n) > most)
            most = pairs(r->strata[s].n);
    for (size_t s = 0; s < r->n_strata; s++) {
        uint64_t mine = pairs(r->strata[s].n);

        assert(mine > 0); /* the first member makes the stratum */
        r->strata[s].weight = (WEIGHT_STEPS * most + mine / 2) / mine;
        divisor = common_divisor(r->strata[s].weight, divisor);
    }
    for (size_t s = 0; s < r->n_strata; s++) {
        r->strata[s].weight /= divisor;
        r->total += r->strata[s].weight * pairs(r->strata[s].n);
        r->n_averages += pairs(r->strata[s].n);
    }
}

static void merge(const struct average *a, size_t n_a, const struct average *b,
                  size_t n_b, struct average *to)
{
    while (n_a > 0 && n_b > 0) {
        bool first = a->value <= b->value;

        *to++ = first ? *a : *b;
        a += first;
        n_a -= first;
        b += !first;
        n_b -= !first;
    }
    memcpy(to, n_a > 0 ? a : b, (n_a + n_b) * sizeof(*to));
}

/* Merge ascending runs, neighbour with neighbour, until there is one.
 * ends  [n_runs] of each, in 'items' */
static struct average *merge_runs(struct average *items, size_t *ends,
                                  size_t n_runs)
{
    struct average *other = mem_new(ends[n_runs - 1], sizeof(*other)), *kept;

    for (size_t next = 0; n_runs > 1; n_runs = next) {
        size_t from = 0;

        next = 0;
        for (size_t i = 0; i < n_runs; i += 2) {
            size_t middle = ends[i];
            size_t end = i + 1 < n_runs ? ends[i + 1] : middle;

            merge(&items[from], middle - from, &items[middle], end - middle,
                  &other[from]);
            ends[next++] = from = end;
        }
        kept = items;
        items = other;
        other = kept;
    }
    free(other);
    return items;
}

/* With the values in order, the averages of each one with those from it on are
 * in order, too: to merge them is faster than to sort them. */
static void find_averages(struct ranking *r, size_t n)
{
    size_t *ends = mem_new(n, sizeof(*ends)), n_runs = 0;
    struct average *to;

    r->averages = mem_new(r->n_averages, sizeof(*r->averages));
    to = r->averages;
    for (size_t s = 0; s < r->n_strata; s++) {
        const struct stratum *at = &r->strata[s];

        qsort(at->values, at->n, sizeof(*at->values), by_value);
        for (size_t i = 0; i < at->n; i++) {
            for (size_t j = i; j < at->n; j++)
                *to++ = (struct average){ (at->values[i] + at->values[j]) / 2,
                                          at->weight };
            ends[n_runs++] = (size_t)(to - r->averages);
        }
    }
    r->averages = merge_runs(r->averages, ends, n_runs);
    free(ends);
}

/* Each rank is positive or not: count the ways to each sum, rank by rank.  Only
 * the lower half is stored, since sums only grow. */
static void exact_below(struct ranking *r, size_t n)
{
    uint64_t half = r->total / 2, reach = 0;
    double each = ldexp(1, -(int)n);

    r->below[0] = 1;
    for (size_t s = 0; s < r->n_strata; s++)
        for (uint64_t rank = 1; rank <= r->strata[s].n; rank++) {
            uint64_t step = rank * r->strata[s].weight;

            reach = reach + step < half ? reach + step : half;
            for (uint64_t k = reach + 1; k-- > step;)
                r->below[k] += r->below[k - step];
        }
    r->below[0] *= each;
    for (uint64_t k = 1; k <= half; k++)
        r->below[k] = r->below[k] * each + r->below[k - 1];
}

/* The normal distribution with Edgeworth's first correction, because the tails
 * are shorter: a rank with weight w contributes w or nothing, so its variance
 * is w^2/4 and its fourth cumulant -w^4/8. */
static void normal_below(struct ranking *r)
{
    double variance = 0, fourth = 0, middle = (double)r->total / 2;

    for (size_t s = 0; s < r->n_strata; s++)
        for (size_t rank = 1; rank <= r->strata[s].n; rank++) {
            double square = pow((double)rank * (double)r->strata[s].weight, 2);

            variance += square / 4;
            fourth -= square * square / 8;
        }
    for (uint64_t k = 0; k <= r->total / 2; k++) {
        double z = ((double)k + 0.5 - middle) / sqrt(variance);
        double density = exp(-z * z / 2) / sqrt(2 * M_PI);
        double bend = fourth / (24 * variance * variance);

        r->below[k] =
            fmax(0, normal_cdf(z) - density * bend * (z * z * z - 3 * z));
    }
}

/* The average at which 'position' of the total weight is reached, counted
 * from the low end, 1 to total. */
static double value_at(const struct ranking *r, uint64_t position)
{
    uint64_t reached = 0;
    size_t i = 0;

    while (i + 1 < r->n_averages &&
           (reached += r->averages[i].weight) < position)
        i++;
    return r->averages[i].value;
}

/* Positions 'k' from both ends miss the centre with probability below[k - 1]
 * each.  Between two steps the end is interpolated.  Position 0 is outside the
 * range by the length of the range's last step. */
static void find_interval(const struct ranking *r, double miss,
                          struct signed_rank *out)
{
    uint64_t k = 0;
    double share, lo[2], hi[2];

    while (k < r->total / 2 && r->below[k] <= miss)
        k++;
    share = (miss - (k > 0 ? r->below[k - 1] : 0)) /
            (r->below[k] - (k > 0 ? r->below[k - 1] : 0));
    share = share > 1 ? 1 : share;
    lo[1] = value_at(r, k + 1);
    hi[1] = value_at(r, r->total - k);
    if (k > 0) {
        lo[0] = value_at(r, k);
        hi[0] = value_at(r, r->total - k + 1);
    } else {
        lo[0] = 2 * lo[1] - value_at(r, 2);
        hi[0] = 2 * hi[1] - value_at(r, r->total - 1);
    }
    out->lo = lo[0] + share * (lo[1] - lo[0]);
    out->hi = hi[0] + share * (hi[1] - hi[0]);
}

/* A zero counts half on either side, as with average ranks. */
static double weight_above_zero(const struct ranking *r)
{
    double positive = 0;

    for (size_t i = 0; i < r->n_averages; i++) {
        double weight = (double)r->averages[i].weight;

        if (r->averages[i].value > 0)
            positive += weight;
        else if (r->averages[i].value == 0)
            positive += weight / 2;
    }
    return positive;
}

static double p_two_sided(const struct ranking *r, double positive)
{
    uint64_t k = (uint64_t)ceil(fmin(positive, (double)r->total - positive));

    return k > r->total / 2 ? 1 : fmin(1, 2 * r->below[k]);
}

/* P(weight of the positive ones >= this weight).  The distribution is
 * symmetric, so an upper tail is the lower one of the rest. */
static double p_one_sided(const struct ranking *r, double positive)
{
    uint64_t least = (uint64_t)floor(positive);

    if (r->total - least <= r->total / 2)
        return r->below[r->total - least];
    return least == 0 ? 1 : 1 - r->below[least - 1];
}

static void rank_all(struct ranking *r, size_t n, double confidence,
                     struct signed_rank *out)
{
    double miss = (1 - confidence) / 2, positive;

    weigh_strata(r);
    find_averages(r, n);
    r->below = mem_new(r->total / 2 + 1, sizeof(*r->below));
    if (n <= EXACT_MAX)
        exact_below(r, n);
    else
        normal_below(r);
    out->estimate =
        (value_at(r, (r->total + 1) / 2) + value_at(r, r->total / 2 + 1)) / 2;
    positive = weight_above_zero(r);
    out->p = p_two_sided(r, positive);
    out->p_above = p_one_sided(r, positive);
    if (ldexp(1, -(int)n) <= MISS_SLACK * miss)
        find_interval(r, miss, out);
    free(r->below);
    free(r->averages);
}

void signed_rank(const struct difference *d, size_t n, double confidence,
                 struct signed_rank *out)
{
    struct ranking r = { .n_strata = 0 };

    assert(confidence > 0 && confidence < 1);
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
    r.sorted = mem_dup(d, n * sizeof(*d));
    r.values = mem_new(n, sizeof(*r.values));
    r.strata = mem_new(n, sizeof(*r.strata));
    qsort(r.sorted, n, sizeof(*r.sorted), by_stratum);
    find_strata(&r, n);
    rank_all(&r, n, confidence, out);
    free(r.strata);
    free(r.values);
    free(r.sorted);
}
