#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "coordinator/compare/compare.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/result/report.h"
#include "tests/coordinator/compare/compare_pair.h"
#include "tests/coordinator/near.h"

/* ---- the signs, on the committed databases */

static void expect_fixture(const char *a, const char *b,
                           enum compare_outcome outcome, const char *verdict)
{
    const struct compare_rules rules = COMPARE_RULES;
    struct compare_pair pair = { .rc = 0 };

    compare_pair_open_fixture(a, &pair.a);
    compare_pair_open_fixture(b, &pair.b);
    assert_int_equal(
        compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err), 0);
    assert_int_equal(pair.compare->outcome, outcome);
    assert_int_equal(pair.compare->n_deciding, 1);
    assert_string_equal(verdict_name(pair.compare->rows[0].verdict), verdict);
    assert_true(pair.compare->rows[0].blocks);
    assert_string_equal(pair.a.winner.state, "confirmed");
    compare_pair_end(&pair);
}

static void only_slower_is_a_regression(void **state)
{
    (void)state;
    expect_fixture("base", "base", COMPARE_FINE, "SAME");
    expect_fixture("base", "faster", COMPARE_FINE, "FAST");
    expect_fixture("base", "slower", COMPARE_REGRESSION, "SLOW");
    expect_fixture("base", "noisy", COMPARE_INCONCLUSIVE, "AMBG");
}

static void swapping_the_sides_inverts_the_ratio(void **state)
{
    (void)state;
    expect_fixture("faster", "base", COMPARE_REGRESSION, "SLOW");
    expect_fixture("slower", "base", COMPARE_FINE, "FAST");
    expect_fixture("faster", "slower", COMPARE_REGRESSION, "SLOW");
}

/* ---- ratios */

static void the_ratio_is_a_over_b(void **state)
{
    struct compare_plan b = compare_pair_calm_too;
    struct compare_pair pair;
    const struct compare_row *row;

    (void)state;
    b.factor = 0.8;
    compare_pair_make(compare_pair_calm, b, &pair);
    row = &pair.compare->rows[0];
    assert_near(row->speedup.value, 1.25, 0.01);
    assert_true(row->speedup.lo < 1.25 && row->speedup.hi > 1.25);
    assert_near(row->a_s, 100e-6, 1e-6);
    assert_near(row->b_s, 80e-6, 1e-6);
    assert_int_equal(pair.compare->verdicts[VERDICT_FAST], 11);
    compare_pair_end(&pair);
}

/* The winner has one row, and the configurations have eleven: the same evidence
 * gives the second row a wider interval. */
static void intervals_hold_for_all_rows_of_a_kind_together(void **state)
{
    const struct compare_row *winner, *config = NULL;
    struct compare_pair pair;

    (void)state;
    compare_pair_make(compare_pair_calm, compare_pair_calm_too, &pair);
    winner = &pair.compare->rows[0];
    for (size_t i = 1; i < pair.compare->n_rows; i++)
        if (pair.compare->rows[i].a == winner->a)
            config = &pair.compare->rows[i];
    assert_non_null(config);
    assert_true(config->speedup.value == winner->speedup.value);
    assert_true(config->speedup.lo < winner->speedup.lo);
    assert_true(config->speedup.hi > winner->speedup.hi);
    compare_pair_end(&pair);
}

static void more_samples_do_not_make_up_for_more_rows(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    const struct compare_row *winner, *config = NULL;
    struct compare_pair pair;

    (void)state;
    a.blocks = b.blocks = 0;
    compare_pair_make(a, b, &pair);
    winner = &pair.compare->rows[0];
    for (size_t i = 1; i < pair.compare->n_rows; i++)
        if (pair.compare->rows[i].a == winner->a)
            config = &pair.compare->rows[i];
    assert_non_null(config);
    assert_false(config->blocks);
    /* quantiles of 0.05 and of 0.05 / 11 */
    assert_near(log(config->speedup.hi / config->speedup.lo) /
                    log(winner->speedup.hi / winner->speedup.lo),
                2.838 / 1.960, 0.001);
    compare_pair_end(&pair);
}

static double width_of(struct compare_plan a, struct compare_plan b)
{
    struct compare_pair pair;
    double width;

    compare_pair_make(a, b, &pair);
    assert_true(pair.compare->rows[0].blocks);
    width = log(pair.compare->rows[0].speedup.hi /
                pair.compare->rows[0].speedup.lo);
    compare_pair_end(&pair);
    return width;
}

/* The same times: a pass that may end after any look needs a wider interval
 * than one that was always to have as many blocks. */
static void passes_that_ended_by_looks_have_wider_intervals(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too,
                        a_looks, b_looks;

    (void)state;
    a.blocks = b.blocks = 12;
    a_looks = a;
    b_looks = b;
    a_looks.most = b_looks.most = 70;
    assert_true(width_of(a, b) < width_of(a_looks, b));
    assert_true(width_of(a, b) < width_of(a, b_looks));
    assert_true(width_of(a_looks, b) < width_of(a_looks, b_looks));
    assert_true(width_of(a, b_looks) < width_of(a_looks, b_looks));
}

/* The same times: the fastest of ten was luckier than one that was alone. */
static void the_choice_among_finalists_widens_the_interval(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too,
                        a_of_ten, b_of_ten;

    (void)state;
    a.blocks = b.blocks = 12;
    a_of_ten = a;
    b_of_ten = b;
    a_of_ten.finalists = b_of_ten.finalists = 10;
    assert_true(width_of(a, b) < width_of(a_of_ten, b));
    assert_true(width_of(a, b) < width_of(a, b_of_ten));
    assert_true(width_of(a_of_ten, b) < width_of(a_of_ten, b_of_ten));
    assert_true(width_of(a, b_of_ten) < width_of(a_of_ten, b_of_ten));
}

/* Two could be the fastest by their samples, on both sides. */
static void the_choice_among_screened_ones_widens_the_interval(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    const struct speedup *alone, *of_two;
    struct compare_pair far, near;

    (void)state;
    a.blocks = b.blocks = 0;
    compare_pair_make(a, b, &far);
    a.close = b.close = true;
    compare_pair_make(a, b, &near);
    assert_int_equal(near.compare->n_deciding, 1);
    alone = &far.compare->rows[0].speedup;
    of_two = &near.compare->rows[0].speedup;
    /* quantiles of 0.05 and of 0.05 / 2 */
    assert_near(log(of_two->hi / of_two->lo) / log(alone->hi / alone->lo),
                2.2414 / 1.960, 0.001);
    compare_pair_end(&far);
    compare_pair_end(&near);
}

static void without_blocks_the_screening_samples_count(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    a.blocks = b.blocks = 0;
    b.factor = 1.1;
    compare_pair_make(a, b, &pair);
    assert_false(pair.compare->rows[0].blocks);
    assert_int_equal(pair.compare->rows[0].n_a, 7);
    assert_int_equal(pair.compare->rows[0].verdict, VERDICT_SLOW);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    assert_false(pair.a.canaries);
    assert_near(pair.a.between, COMPARE_BETWEEN, 0);
    compare_pair_end(&pair);
}

static void a_late_sample_changes_little(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    a.blocks = b.blocks = 0;
    a.late = b.late = true;
    b.factor = 1.15;
    compare_pair_make(a, b, &pair);
    assert_near(pair.compare->rows[0].speedup.value, 1 / 1.15, 0.01);
    assert_true(pair.compare->rows[0].speedup.hi < 0.9);
    assert_int_equal(pair.compare->rows[0].verdict, VERDICT_SLOW);
    compare_pair_end(&pair);
}

/* 1 % slower, in 8 blocks with 0.5 % of noise: certainly less than the
 * threshold. */
static void a_change_below_the_threshold_is_no_regression(void **state)
{
    struct compare_plan b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    b.factor = 1.01;
    compare_pair_make(compare_pair_calm, b, &pair);
    assert_int_equal(pair.compare->rows[0].verdict, VERDICT_SAME);
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    assert_true(pair.a.canaries);
    assert_true(pair.a.between < 0.02);
    compare_pair_end(&pair);
}

static void a_replay_has_no_cubins(void **state)
{
    struct compare_plan a = compare_pair_calm;
    struct compare_pair pair;

    (void)state;
    a.device = "replay";
    a.same_code = true;
    compare_pair_make(a, a, &pair);
    assert_int_equal(pair.rc, 0);
    assert_int_equal(pair.compare->same_code, 0);
    compare_pair_end(&pair);
}

static void one_cubin_in_both_is_the_machine(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    a.same_code = b.same_code = true;
    b.factor = 1.05;
    compare_pair_make(a, b, &pair);
    assert_int_equal(pair.compare->same_code, 11);
    assert_near(pair.compare->same_code_ratio, 1 / 1.05, 0.01);
    compare_pair_end(&pair);
}

static void a_regression_of_one_cubin_is_called_one(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    a.same_code = b.same_code = true;
    a.blocks = b.blocks = 0; /* so times are compared */
    b.factor = 1.2;
    compare_pair_make(a, b, &pair);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    assert_non_null(strstr(pair.compare->why, "; its cubin is the same in A, "
                                              "so the kernel did not change"));
    compare_pair_end(&pair);
}

/* ---- ratios to a baseline that is the same machine code */

static const struct compare_row *row_of(const struct compare *compare,
                                        const char *key)
{
    for (size_t i = compare->n_deciding; i < compare->n_rows; i++)
        if (strcmp(compare->rows[i].a->key, key) == 0)
            return &compare->rows[i];
    return NULL;
}

static size_t times_noted(const struct compare *compare, const char *why)
{
    size_t n = 0;

    for (size_t i = 0; i < compare->n_warnings; i++)
        n += strstr(compare->warnings[i], "times are compared") != NULL &&
             strstr(compare->warnings[i], why) != NULL;
    return n;
}

/* B's machine became slower by 40 % while it confirmed. */
static void drift_of_one_side_cancels_over_the_baseline(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    const struct compare_row *row;
    struct compare_pair pair;

    (void)state;
    b.drift = 0.4;
    compare_pair_make(a, b, &pair);
    row = &pair.compare->rows[0];
    assert_false(row->over_baseline);
    assert_true(row->speedup.value < 0.9);
    assert_int_equal(times_noted(pair.compare, "machine code"), 1);
    compare_pair_end(&pair);
    a.same_code = b.same_code = true;
    b.blocks = 10;
    compare_pair_make(a, b, &pair);
    row = &pair.compare->rows[0];
    assert_true(row->over_baseline);
    assert_int_equal(row->n_a, 8);
    assert_int_equal(row->n_b, 10);
    assert_near(row->speedup.value, 1, 0.01);
    assert_int_equal(row->verdict, VERDICT_SAME);
    assert_true(row->b_s > 1.1 * row->a_s);
    assert_int_equal(times_noted(pair.compare, ""), 0);
    row = row_of(pair.compare, report_baseline(pair.a.report)->key);
    assert_true(row->over_baseline && row->speedup.lo == 1 &&
                row->speedup.hi == 1);
    assert_int_equal(row->n_a, 8);
    assert_int_equal(row->n_b, 10);
    compare_pair_end(&pair);
}

static void a_regression_shows_through_drift(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    const struct compare_row *row;
    struct compare_pair pair;

    (void)state;
    a.same_code = b.same_code = true;
    b.drift = -0.4;
    b.fastest = 1.05; /* and still faster than the second */
    b.slow = COMPARE_SECOND;
    compare_pair_make(a, b, &pair);
    row = &pair.compare->rows[0];
    assert_true(row->over_baseline && row->b_s < row->a_s);
    assert_near(row->speedup.value, 1 / 1.05, 0.01);
    assert_int_equal(row->verdict, VERDICT_SLOW);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    compare_pair_end(&pair);
}

/* A's winner is the baseline, which B's winner beats. */
static void a_baseline_that_won_is_compared_with_a_winner(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    const struct compare_row *row;
    struct compare_pair pair, other;

    (void)state;
    a.same_code = b.same_code = true;
    a.fastest = 1.7;
    a.blocks = 12;
    compare_pair_make(a, b, &pair);
    row = &pair.compare->rows[0];
    assert_ptr_equal(row->a, report_baseline(pair.a.report));
    assert_true(row->over_baseline);
    assert_near(row->speedup.value, 1.5, 0.02);
    assert_int_equal(row->verdict, VERDICT_FAST);
    assert_int_equal(row->n_a, 12);
    assert_int_equal(row->n_b, 8);
    compare_pair_make(b, a, &other);
    row = &other.compare->rows[0];
    assert_near(row->speedup.value, 1 / 1.5, 0.01);
    assert_int_equal(row->verdict, VERDICT_SLOW);
    compare_pair_end(&pair);
    compare_pair_end(&other);
}

/* ---- which of them decide */

static void another_configuration_decides_only_when_asked(void **state)
{
    struct compare_plan b = compare_pair_calm_too;
    struct compare_rules every = COMPARE_RULES;
    struct compare *compare;
    struct compare_pair pair;

    (void)state;
    b.slow = 7;
    compare_pair_make(compare_pair_calm, b, &pair);
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    assert_int_equal(pair.compare->verdicts[VERDICT_SLOW], 1);
    assert_int_equal(pair.compare->rows[1].a->point, 7); /* the worst first */
    every.every = true;
    assert_int_equal(
        compare_make(&pair.a, &pair.b, &every, &compare, &pair.err), 0);
    assert_int_equal(compare->outcome, COMPARE_REGRESSION);
    compare_free(compare);
    compare_pair_end(&pair);
}

/* The new winner compensates only for users who tune again. */
static void the_old_winner_is_compared_with_itself_too(void **state)
{
    struct compare_plan b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    b.slow = COMPARE_FASTEST;
    b.factor = 0.97;
    compare_pair_make(compare_pair_calm, b, &pair);
    assert_int_equal(pair.compare->n_deciding, 2);
    assert_int_equal(pair.compare->rows[0].subject, COMPARE_WINNER);
    assert_int_equal(pair.compare->rows[0].b->point, COMPARE_SECOND);
    assert_int_equal(pair.compare->rows[1].subject, COMPARE_KEPT);
    assert_int_equal(pair.compare->rows[1].verdict, VERDICT_SLOW);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    assert_non_null(
        strstr(pair.compare->why, "A's winner's configuration is 0.8"));
    compare_pair_end(&pair);
}

static void a_winner_that_fails_is_a_regression(void **state)
{
    struct compare_plan b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    b.fails = COMPARE_FASTEST;
    b.factor = 0.9;
    compare_pair_make(compare_pair_calm, b, &pair);
    assert_int_equal(pair.compare->rows[1].state, COMPARE_BROKE);
    assert_int_equal(pair.compare->broke, 1);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    assert_string_equal(pair.compare->why,
                        "A's winner's configuration is correct in A but fails "
                        "in B at n16m: misaligned address");
    compare_pair_end(&pair);
}

static void unmeasured_configurations_are_ignored(void **state)
{
    struct compare_plan b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    b.pending = true;
    b.factor = 0.9;
    compare_pair_make(compare_pair_calm, b, &pair);
    assert_int_equal(pair.compare->rows[1].state, COMPARE_UNTIMED);
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    compare_pair_end(&pair);
}

static int setup(void **state)
{
    struct err err;

    (void)state;
    return hash_setup(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_slower_is_a_regression),
        cmocka_unit_test(swapping_the_sides_inverts_the_ratio),
        cmocka_unit_test(the_ratio_is_a_over_b),
        cmocka_unit_test(intervals_hold_for_all_rows_of_a_kind_together),
        cmocka_unit_test(more_samples_do_not_make_up_for_more_rows),
        cmocka_unit_test(passes_that_ended_by_looks_have_wider_intervals),
        cmocka_unit_test(the_choice_among_finalists_widens_the_interval),
        cmocka_unit_test(the_choice_among_screened_ones_widens_the_interval),
        cmocka_unit_test(without_blocks_the_screening_samples_count),
        cmocka_unit_test(a_late_sample_changes_little),
        cmocka_unit_test(a_change_below_the_threshold_is_no_regression),
        cmocka_unit_test(a_replay_has_no_cubins),
        cmocka_unit_test(one_cubin_in_both_is_the_machine),
        cmocka_unit_test(a_regression_of_one_cubin_is_called_one),
        cmocka_unit_test(drift_of_one_side_cancels_over_the_baseline),
        cmocka_unit_test(a_regression_shows_through_drift),
        cmocka_unit_test(a_baseline_that_won_is_compared_with_a_winner),
        cmocka_unit_test(another_configuration_decides_only_when_asked),
        cmocka_unit_test(the_old_winner_is_compared_with_itself_too),
        cmocka_unit_test(a_winner_that_fails_is_a_regression),
        cmocka_unit_test(unmeasured_configurations_are_ignored),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
