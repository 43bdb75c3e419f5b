#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/stats/pair_averages.h"
#include "coordinator/stats/prng.h"

static void three_values_have_six_averages(void **state)
{
    static const double values[] = { 1, 2, 6 };
    const struct pair_averages_stratum stratum = { values, 3, 1 };
    static const double in_order[] = { 1, 1.5, 2, 3.5, 4, 6 };
    struct pair_averages *averages = pair_averages_new(&stratum, 1);
    struct pair_averages_weight weight = pair_averages_weigh(averages, 2);
    double at[2];

    (void)state;
    for (int i = 0; i < 5; i++) {
        pair_averages_at(averages, i + 1, at);
        assert_true(at[0] == in_order[i] && at[1] == in_order[i + 1]);
    }
    assert_int_equal(weight.below, 2);
    assert_int_equal(weight.upto, 3);
    pair_averages_free(averages);
}

static void positions_outside_count_as_the_nearest(void **state)
{
    static const double values[] = { 1, 2, 6 };
    const struct pair_averages_stratum stratum = { values, 3, 1 };
    struct pair_averages *averages = pair_averages_new(&stratum, 1);
    double at[2];

    (void)state;
    pair_averages_at(averages, 0, at);
    assert_true(at[0] == 1 && at[1] == 1);
    pair_averages_at(averages, 6, at);
    assert_true(at[0] == 6 && at[1] == 6);
    pair_averages_at(averages, 9, at);
    assert_true(at[0] == 6 && at[1] == 6);
    pair_averages_free(averages);
}

/* No average is of values of two strata: 3 and 30 have none between. */
static void strata_have_averages_of_their_own(void **state)
{
    static const double low[] = { 1, 3 }, high[] = { 30 };
    const struct pair_averages_stratum strata[] = { { low, 2, 1 },
                                                    { high, 1, 3 } };
    struct pair_averages *averages = pair_averages_new(strata, 2);
    double at[2];

    (void)state;
    pair_averages_at(averages, 3, at);
    assert_true(at[0] == 3 && at[1] == 30);
    pair_averages_at(averages, 5, at);
    assert_true(at[0] == 30 && at[1] == 30);
    assert_int_equal(pair_averages_weigh(averages, 30).below, 3);
    assert_int_equal(pair_averages_weigh(averages, 30).upto, 6);
    pair_averages_free(averages);
}

/* ---- random values, against the list of all averages ---- */

#define STRATA 3

struct listed {
    double value;
    uint64_t weight;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct listed *)a)->value;
    double y = ((const struct listed *)b)->value;

    return (x > y) - (x < y);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct listed *list_all(const struct pair_averages_stratum *strata,
                               size_t n_strata, size_t *n)
{
    struct listed *out = NULL;

    *n = 0;
    for (size_t s = 0; s < n_strata; s++)
        for (size_t i = 0; i < strata[s].n; i++)
            for (size_t j = i; j < strata[s].n; j++) {
                out = mem_grow(out, *n + 1, sizeof(*out));
                out[(*n)++] = (struct listed){
                    (strata[s].values[i] + strata[s].values[j]) / 2,
                    strata[s].weight
                };
            }
    qsort(out, *n, sizeof(*out), by_value);
    return out;
}

static void expect_listed(const struct pair_averages_stratum *strata,
                          size_t n_strata)
{
    struct pair_averages *averages = pair_averages_new(strata, n_strata);
    size_t n;
    struct listed *listed = list_all(strata, n_strata, &n);
    int64_t position = 0;

    for (size_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < listed[i].weight; k++) {
            bool last = k + 1 == listed[i].weight;
            double at[2];

            pair_averages_at(averages, ++position, at);
            assert_true(at[0] == listed[i].value);
            assert_true(at[1] == listed[last && i + 1 < n ? i + 1 : i].value);
        }
    free(listed);
    pair_averages_free(averages);
}

/* Of every other set, the values are coarse, so that many are equal; of every
 * third, a few are far off. */
static double *draw(struct prng *prng, int trial, size_t n)
{
    double *values = mem_new(n, sizeof(*values));

    for (size_t i = 0; i < n; i++) {
        values[i] = prng_normal(prng);
        if (trial % 3 == 0 && i % 5 == 0)
            values[i] = exp(9 * values[i]);
        if (trial % 2 == 0)
            values[i] = round(values[i]);
    }
    qsort(values, n, sizeof(*values), ascending);
    return values;
}

static void every_place_is_that_of_the_sorted_list(void **state)
{
    struct prng prng;

    (void)state;
    prng_init(&prng, 5);
    for (int trial = 0; trial < 24; trial++) {
        struct pair_averages_stratum strata[STRATA];
        double *values[STRATA];
        size_t n = 1 + (size_t)prng_below(&prng, STRATA);

        for (size_t s = 0; s < n; s++) {
            size_t size = 1 + (size_t)prng_below(&prng, 30);

            values[s] = draw(&prng, trial, size);
            strata[s] =
                (struct pair_averages_stratum){ values[s], size,
                                                1 + prng_below(&prng, 3) };
        }
        expect_listed(strata, n);
        for (size_t s = 0; s < n; s++)
            free(values[s]);
    }
}

/* ---- what it costs ---- */

/* The steps for the places that an interval needs, for each value. */
static double steps_of(int trial, size_t n)
{
    struct prng prng;
    struct pair_averages_stratum stratum;
    struct pair_averages *averages;
    int64_t total = (int64_t)(n * (n + 1) / 2);
    double *values, at[2], steps;

    prng_init(&prng, 7);
    values = draw(&prng, trial, n);
    stratum = (struct pair_averages_stratum){ values, n, 1 };
    averages = pair_averages_new(&stratum, 1);
    pair_averages_at(averages, total / 100, at);
    pair_averages_at(averages, total / 2, at);
    pair_averages_at(averages, total - total / 100, at);
    (void)pair_averages_weigh(averages, 0);
    steps = (double)pair_averages_steps(averages) / (double)n;
    pair_averages_free(averages);
    free(values);
    return steps;
}

/* A list of all averages would have n / 2 for each value: 2,000 of 4,000. */
static void time_grows_with_the_values_not_with_their_pairs(void **state)
{
    (void)state;
    for (int trial = 0; trial < 4; trial++) {
        double few = steps_of(trial, 250), many = steps_of(trial, 4000);

        print_message("kind %d: %.0f steps a value of 250, %.0f of 4,000\n",
                      trial, few, many);
        assert_true(few < 150);
        assert_true(many < 300);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_values_have_six_averages),
        cmocka_unit_test(positions_outside_count_as_the_nearest),
        cmocka_unit_test(strata_have_averages_of_their_own),
        cmocka_unit_test(every_place_is_that_of_the_sorted_list),
        cmocka_unit_test(time_grows_with_the_values_not_with_their_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
