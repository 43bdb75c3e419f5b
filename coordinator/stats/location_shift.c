#include "coordinator/stats/location_shift.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/stats/mann_whitney.h"
#include "coordinator/stats/normal.h"

/* A difference, and its weight: 1 / (n m) in a stratum of n and m. */
struct weighted {
    double value, weight;
};

/* Totals over the strata. */
struct total {
    struct weighted *differences;
    size_t n;
    size_t strata;
    double variance;       /* of the weight above any place, if no shift */
    size_t n_a, n_b;       /* values that are used */
    size_t last_a, last_b; /* of the last stratum */
    double last_p;
};

/* The values of one stratum. */
struct pair {
    double *a, *b;
    size_t n_a, n_b;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct weighted *)a)->value;
    double y = ((const struct weighted *)b)->value;

    return (x > y) - (x < y);
}

/* The values of one stratum, thinned out evenly if there are too many. */
static size_t gather(const struct location_shift_value *from, size_t n,
                     int stratum, double *out)
{
    size_t all = 0, seen = 0, kept = 0;

    for (size_t i = 0; i < n; i++)
        all += from[i].stratum == stratum;
    for (size_t i = 0; i < n; i++) {
        size_t room =
            all < LOCATION_SHIFT_VALUES_MAX ? all : LOCATION_SHIFT_VALUES_MAX;

        if (from[i].stratum != stratum)
            continue;
        if (seen * room / all != (seen + 1) * room / all)
            out[kept++] = from[i].value;
        seen++;
    }
    return kept;
}

static void add_stratum(struct total *total, const struct pair *pair)
{
    double n = (double)pair->n_a, m = (double)pair->n_b;
    struct mann_whitney test;

    if (pair->n_a == 0 || pair->n_b == 0)
        return;
    total->differences =
        mem_grow(total->differences, total->n + pair->n_a * pair->n_b,
                 sizeof(*total->differences));
    for (size_t i = 0; i < pair->n_a; i++)
        for (size_t j = 0; j < pair->n_b; j++)
            total->differences[total->n++] =
                (struct weighted){ pair->a[i] - pair->b[j], 1 / (n * m) };
    mann_whitney(pair->a, pair->n_a, pair->b, pair->n_b, &test);
    total->strata++;
    total->variance += (n + m + 1) / (12 * n * m);
    total->n_a += pair->n_a;
    total->n_b += pair->n_b;
    total->last_a = pair->n_a;
    total->last_b = pair->n_b;
    total->last_p = test.p;
}

static bool seen_before(const struct location_shift_value *a, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (a[k].stratum == a[i].stratum)
            return true;
    return false;
}

/* How many of the lowest differences may be below the interval of two small
 * sets: U is that low with a probability of at most 'share'. */
static size_t exact_below(size_t n, size_t m, double share)
{
    size_t fewer = n < m ? n : m, more = n < m ? m : n;
    size_t may = 0, beyond = n * m / 2 + 1;

    while (may < beyond) { /* the fewest that may not */
        size_t middle = (may + beyond) / 2;

        if (mann_whitney_u_below(fewer, more, middle) <= share)
            may = middle + 1;
        else
            beyond = middle;
    }
    return may;
}

/* The weight that may be beyond an end that misses so often.  With one small
 * stratum it comes from the exact distribution of U, in steps of one
 * difference.  Below 0: none may. */
static double weight_below(const struct total *total, double miss)
{
    size_t n = total->last_a, m = total->last_b;

    if (total->strata > 1 || n > LOCATION_SHIFT_EXACT_MAX ||
        m > LOCATION_SHIFT_EXACT_MAX)
        return (double)total->strata / 2 +
               normal_quantile(miss) * sqrt(total->variance);
    return ((double)exact_below(n, m, miss) - 0.5) / ((double)n * (double)m);
}

/* The first difference with more than 'weight' up to it; 'from' is 1 to count
 * from below and -1 from above. */
static double place(const struct total *total, double weight, int from)
{
    double sum = 0;

    if (weight < 0)
        return from > 0 ? -INFINITY : INFINITY;
    for (size_t i = 0; i < total->n; i++) {
        const struct weighted *at =
            &total->differences[from > 0 ? i : total->n - 1 - i];

        sum += at->weight;
        if (sum > weight)
            return at->value;
    }
    return total->differences[from > 0 ? total->n - 1 : 0].value;
}

static double p_of(const struct total *total)
{
    double above = 0, off;

    if (total->strata == 1)
        return total->last_p;
    for (size_t i = 0; i < total->n; i++)
        above += total->differences[i].weight *
                 (total->differences[i].value > 0    ? 1
                  : total->differences[i].value == 0 ? 0.5
                                                     : 0);
    off = fabs(above - (double)total->strata / 2);
    return fmin(1, 2 * normal_cdf(-off / sqrt(total->variance)));
}

void location_shift_ends(const struct location_shift_value *a, size_t n_a,
                         const struct location_shift_value *b, size_t n_b,
                         struct location_shift_miss miss,
                         struct location_shift *out)
{
    struct total total = { 0 };
    struct pair pair = { .a = mem_new(n_a + 1, sizeof(double)),
                         .b = mem_new(n_b + 1, sizeof(double)) };
    /* an error of rounding in the sum of weights must not move an end */
    const double slack = 1e-9;

    *out = (struct location_shift){
        .estimate = NAN, .lo = -INFINITY, .hi = INFINITY, .p = 1
    };
    for (size_t i = 0; i < n_a; i++) {
        if (seen_before(a, i))
            continue;
        pair.n_a = gather(a, n_a, a[i].stratum, pair.a);
        pair.n_b = gather(b, n_b, a[i].stratum, pair.b);
        add_stratum(&total, &pair);
    }
    if (total.n) {
        double middle = (double)total.strata / 2;

        qsort(total.differences, total.n, sizeof(*total.differences), by_value);
        out->n_a = total.n_a;
        out->n_b = total.n_b;
        out->estimate = (place(&total, middle - slack, 1) +
                         place(&total, middle - slack, -1)) /
                        2;
        out->lo = place(&total, weight_below(&total, miss.lo), 1);
        out->hi = place(&total, weight_below(&total, miss.hi), -1);
        out->p = p_of(&total);
    }
    free(total.differences);
    free(pair.a);
    free(pair.b);
}

void location_shift(const struct location_shift_value *a, size_t n_a,
                    const struct location_shift_value *b, size_t n_b,
                    double confidence, struct location_shift *out)
{
    double miss = (1 - confidence) / 2;

    location_shift_ends(a, n_a, b, n_b,
                        (struct location_shift_miss){ miss, miss }, out);
}
