#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/confirm/look_level.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/stats/normal.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise_results.h"

#define LOOKS 6

/* A pass of 70 blocks at most that ended at look 'n'. */
static int looked[LOOKS] = { 12, 18, 26, 38, 52, 70 };
static struct sequential ended(struct sequential_candidate *candidate, int n)
{
    *candidate = (struct sequential_candidate){ .looks = n };
    return (struct sequential){
        .looks = n, .looked = looked, .most = 70, .candidates = candidate
    };
}

static double level_at(int n, double alpha)
{
    struct sequential_candidate candidate;
    const struct sequential looks = ended(&candidate, n);

    return look_level(&looks, 0, alpha);
}

/* The first look has what is spent by then: 0.05 ln(1 + (e - 1) 12 / 70). */
static void the_first_look_has_what_is_spent(void **state)
{
    (void)state;
    assert_near(level_at(1, 0.05), 0.01290864, 1e-7);
}

static void without_a_look_all_is_left(void **state)
{
    (void)state;
    assert_near(level_at(0, 0.05), 0.05, 1e-15);
}

/* One that was dropped keeps the level of the look that dropped it.  'blocks':
 * so many are there when the pass is closed. */
static void check_pass(size_t blocks)
{
    static const struct noise calm = { .sd = 0.01 };
    const double logs[] = { 0, -0.01, -0.004, 0.04 };
    static const bool nobody[4] = { false };
    const struct noise_pass pass = { 4, blocks, 5, 1, logs };
    const struct sequential_design design = { .candidates = 4,
                                              .shapes = 1,
                                              .group = 2,
                                              .most = 70,
                                              .closed = true,
                                              .rules = VERDICT_RULES };
    struct noise_stream stream = noise_stream(7);
    struct noise_results results;
    struct sequential *found;

    noise_results_measure(&calm, &pass, &stream, &results);
    found = sequential_replay(&design, results.items, results.n, nobody);
    assert_int_equal(found->last, blocks < 70);
    assert_true(found->candidates[3].dropped);
    assert_true(found->candidates[3].looks < found->candidates[1].looks);
    for (size_t c = 0; c < 4; c++)
        assert_near(look_level(found, c, 0.05 / 3), found->candidates[c].level,
                    1e-12);
    sequential_free(found);
    noise_results_fini(&results);
}

static void it_is_the_level_of_the_pass_itself(void **state)
{
    (void)state;
    check_pass(140);
    check_pass(15);
}

/* The means of two walks, at their looks. */
static void walk(struct noise_stream *stream, double means[LOOKS])
{
    double sum = 0;

    for (int i = 0; i < LOOKS; i++) {
        int before = i > 0 ? looked[i - 1] : 0;

        sum += sqrt(looked[i] - before) * noise_normal(stream);
        means[i] = sum / looked[i];
    }
}

/* Whatever stops two passes: is the interval of their difference wrong at any
 * pair of looks at which they could have stopped? */
static bool crosses(double means[2][LOOKS], double bounds[LOOKS][LOOKS])
{
    for (int i = 0; i < LOOKS; i++)
        for (int j = 0; j < LOOKS; j++)
            if (fabs(means[0][i] - means[1][j]) > bounds[i][j])
                return true;
    return false;
}

static void two_passes_may_stop_at_any_look(void **state)
{
    struct noise_stream stream = noise_stream(3);
    double bounds[LOOKS][LOOKS], means[2][LOOKS];
    int wrong = 0, plain = 0;

    (void)state;
    for (int i = 0; i < LOOKS; i++)
        for (int j = 0; j < LOOKS; j++)
            bounds[i][j] = normal_quantile(
                               1 - level_at(j + 1, level_at(i + 1, 0.05)) / 2) *
                           sqrt(1.0 / looked[i] + 1.0 / looked[j]);
    for (int i = 0; i < 4000; i++) {
        walk(&stream, means[0]);
        walk(&stream, means[1]);
        wrong += crosses(means, bounds);
    }
    assert_in_range(wrong, 20, 200); /* 5 % */
    for (int i = 0; i < LOOKS; i++)
        for (int j = 0; j < LOOKS; j++)
            bounds[i][j] = 1.959964 * sqrt(1.0 / looked[i] + 1.0 / looked[j]);
    for (int i = 0; i < 4000; i++) {
        walk(&stream, means[0]);
        walk(&stream, means[1]);
        plain += crosses(means, bounds);
    }
    assert_in_range(plain, 800, 4000); /* what a plain interval allows */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_look_has_what_is_spent),
        cmocka_unit_test(without_a_look_all_is_left),
        cmocka_unit_test(it_is_the_level_of_the_pass_itself),
        cmocka_unit_test(two_passes_may_stop_at_any_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
