#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/compare/compare.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/result/report.h"
#include "tests/coordinator/compare/compare_fixture.h"
#include "tests/coordinator/near.h"

#define REMAKE                                                        \
    "; make it anew: build/dev/tests/compare_fixtures tests/fixtures" \
    "/compare"

/* Two databases to compare, each in a file that is unlinked at once. */
struct pair {
    struct compare_side a, b;
    struct compare *compare;
    struct err err;
    int rc;
};

static void open_side(const char *path, struct compare_side *side,
                      const char *remedy)
{
    struct err err = { "" };

    if (compare_side_open(path, side, &err) < 0)
        fail_msg("%s%s", err.text, remedy);
}

static void make_side(const struct compare_plan *plan,
                      struct compare_side *side)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };
    char folder[] = "/tmp/fa_compare_XXXXXX";
    char *path;

    assert_non_null(mkdtemp(folder));
    path = mem_printf("%s/%s", folder, "side.db");
    compare_fixture(path, plan);
    open_side(path, side, "");
    side->file.path = "side.db";
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char *name = mem_printf("%s%s", path, ends[i]);

        (void)unlink(name); /* not all of them are there */
        free(name);
    }
    rmdir(folder);
    free(path);
}

static void compare_plans(struct compare_plan a, struct compare_plan b,
                          struct pair *out)
{
    const struct compare_rules rules = COMPARE_RULES;

    *out = (struct pair){ .rc = 0 };
    make_side(&a, &out->a);
    make_side(&b, &out->b);
    out->rc = compare_make(&out->a, &out->b, &rules, &out->compare, &out->err);
}

static void done(struct pair *pair)
{
    compare_free(pair->compare);
    compare_side_close(&pair->a);
    compare_side_close(&pair->b);
}

static const struct compare_plan calm = {
    .seed = 11, .factor = 1, .noise = 0.005, .blocks = 8
};
static const struct compare_plan calm_too = {
    .seed = 12, .factor = 1, .noise = 0.005, .blocks = 8
};

/* ---- the signs, on the committed databases */

static void expect_fixture(const char *a, const char *b,
                           enum compare_outcome outcome, const char *verdict)
{
    char *path_a = mem_printf(FA_SOURCE_DIR "/tests/fixtures/compare/%s.db", a);
    char *path_b = mem_printf(FA_SOURCE_DIR "/tests/fixtures/compare/%s.db", b);
    const struct compare_rules rules = COMPARE_RULES;
    struct pair pair = { .rc = 0 };

    open_side(path_a, &pair.a, REMAKE);
    open_side(path_b, &pair.b, REMAKE);
    assert_int_equal(
        compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err), 0);
    assert_int_equal(pair.compare->outcome, outcome);
    assert_int_equal(pair.compare->n_deciding, 1);
    assert_string_equal(verdict_name(pair.compare->rows[0].verdict), verdict);
    assert_true(pair.compare->rows[0].blocks);
    assert_string_equal(pair.a.winner.state, "confirmed");
    done(&pair);
    free(path_a);
    free(path_b);
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
    struct compare_plan b = calm_too;
    struct pair pair;
    const struct compare_row *row;

    (void)state;
    b.factor = 0.8;
    compare_plans(calm, b, &pair);
    row = &pair.compare->rows[0];
    assert_near(row->speedup.value, 1.25, 0.01);
    assert_true(row->speedup.lo < 1.25 && row->speedup.hi > 1.25);
    assert_near(row->a_s, 100e-6, 1e-6);
    assert_near(row->b_s, 80e-6, 1e-6);
    assert_int_equal(pair.compare->verdicts[VERDICT_FAST], 11);
    done(&pair);
}

/* The winner has one row, and the configurations have eleven: the same evidence
 * gives the second row a wider interval. */
static void intervals_hold_for_all_rows_of_a_kind_together(void **state)
{
    const struct compare_row *winner, *config = NULL;
    struct pair pair;

    (void)state;
    compare_plans(calm, calm_too, &pair);
    winner = &pair.compare->rows[0];
    for (size_t i = 1; i < pair.compare->n_rows; i++)
        if (pair.compare->rows[i].a == winner->a)
            config = &pair.compare->rows[i];
    assert_non_null(config);
    assert_true(config->speedup.value == winner->speedup.value);
    assert_true(config->speedup.lo < winner->speedup.lo);
    assert_true(config->speedup.hi > winner->speedup.hi);
    done(&pair);
}

static void more_samples_do_not_make_up_for_more_rows(void **state)
{
    struct compare_plan a = calm, b = calm_too;
    const struct compare_row *winner, *config = NULL;
    struct pair pair;

    (void)state;
    a.blocks = b.blocks = 0;
    compare_plans(a, b, &pair);
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
    done(&pair);
}

static double width_of(struct compare_plan a, struct compare_plan b)
{
    struct pair pair;
    double width;

    compare_plans(a, b, &pair);
    assert_true(pair.compare->rows[0].blocks);
    width = log(pair.compare->rows[0].speedup.hi /
                pair.compare->rows[0].speedup.lo);
    done(&pair);
    return width;
}

/* The same times: a pass that may end after any look needs a wider interval
 * than one that was always to have as many blocks. */
static void passes_that_ended_by_looks_have_wider_intervals(void **state)
{
    struct compare_plan a = calm, b = calm_too, a_looks, b_looks;

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
    struct compare_plan a = calm, b = calm_too, a_of_ten, b_of_ten;

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
    struct compare_plan a = calm, b = calm_too;
    const struct speedup *alone, *of_two;
    struct pair far, near;

    (void)state;
    a.blocks = b.blocks = 0;
    compare_plans(a, b, &far);
    a.close = b.close = true;
    compare_plans(a, b, &near);
    assert_int_equal(near.compare->n_deciding, 1);
    alone = &far.compare->rows[0].speedup;
    of_two = &near.compare->rows[0].speedup;
    /* quantiles of 0.05 and of 0.05 / 2 */
    assert_near(log(of_two->hi / of_two->lo) / log(alone->hi / alone->lo),
                2.2414 / 1.960, 0.001);
    done(&far);
    done(&near);
}

static void without_blocks_the_screening_samples_count(void **state)
{
    struct compare_plan a = calm, b = calm_too;
    struct pair pair;

    (void)state;
    a.blocks = b.blocks = 0;
    b.factor = 1.1;
    compare_plans(a, b, &pair);
    assert_false(pair.compare->rows[0].blocks);
    assert_int_equal(pair.compare->rows[0].n_a, 7);
    assert_int_equal(pair.compare->rows[0].verdict, VERDICT_SLOW);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    assert_false(pair.a.canaries);
    assert_near(pair.a.between, COMPARE_BETWEEN, 0);
    done(&pair);
}

static void a_late_sample_changes_little(void **state)
{
    struct compare_plan a = calm, b = calm_too;
    struct pair pair;

    (void)state;
    a.blocks = b.blocks = 0;
    a.late = b.late = true;
    b.factor = 1.15;
    compare_plans(a, b, &pair);
    assert_near(pair.compare->rows[0].speedup.value, 1 / 1.15, 0.01);
    assert_true(pair.compare->rows[0].speedup.hi < 0.9);
    assert_int_equal(pair.compare->rows[0].verdict, VERDICT_SLOW);
    done(&pair);
}

/* 1 % slower, in 8 blocks with 0.5 % of noise: certainly less than the
 * threshold. */
static void a_change_below_the_threshold_is_no_regression(void **state)
{
    struct compare_plan b = calm_too;
    struct pair pair;

    (void)state;
    b.factor = 1.01;
    compare_plans(calm, b, &pair);
    assert_int_equal(pair.compare->rows[0].verdict, VERDICT_SAME);
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    assert_true(pair.a.canaries);
    assert_true(pair.a.between < 0.02);
    done(&pair);
}

static void a_replay_has_no_cubins(void **state)
{
    struct compare_plan a = calm;
    struct pair pair;

    (void)state;
    a.device = "replay";
    a.same_code = true;
    compare_plans(a, a, &pair);
    assert_int_equal(pair.rc, 0);
    assert_int_equal(pair.compare->same_code, 0);
    done(&pair);
}

static void one_cubin_in_both_is_the_machine(void **state)
{
    struct compare_plan a = calm, b = calm_too;
    struct pair pair;

    (void)state;
    a.same_code = b.same_code = true;
    b.factor = 1.05;
    compare_plans(a, b, &pair);
    assert_int_equal(pair.compare->same_code, 11);
    assert_near(pair.compare->same_code_ratio, 1 / 1.05, 0.01);
    done(&pair);
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
    struct compare_plan a = calm, b = calm_too;
    const struct compare_row *row;
    struct pair pair;

    (void)state;
    b.drift = 0.4;
    compare_plans(a, b, &pair);
    row = &pair.compare->rows[0];
    assert_false(row->over_baseline);
    assert_true(row->speedup.value < 0.9);
    assert_int_equal(times_noted(pair.compare, "machine code"), 1);
    done(&pair);
    a.same_code = b.same_code = true;
    b.blocks = 10;
    compare_plans(a, b, &pair);
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
    done(&pair);
}

static void a_regression_shows_through_drift(void **state)
{
    struct compare_plan a = calm, b = calm_too;
    const struct compare_row *row;
    struct pair pair;

    (void)state;
    a.same_code = b.same_code = true;
    b.drift = -0.4;
    b.fastest = 1.05; /* and still faster than the second */
    b.slow = COMPARE_SECOND;
    compare_plans(a, b, &pair);
    row = &pair.compare->rows[0];
    assert_true(row->over_baseline && row->b_s < row->a_s);
    assert_near(row->speedup.value, 1 / 1.05, 0.01);
    assert_int_equal(row->verdict, VERDICT_SLOW);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    done(&pair);
}

/* A's winner is the baseline, which B's winner beats. */
static void a_baseline_that_won_is_compared_with_a_winner(void **state)
{
    struct compare_plan a = calm, b = calm_too;
    const struct compare_row *row;
    struct pair pair, other;

    (void)state;
    a.same_code = b.same_code = true;
    a.fastest = 1.7;
    a.blocks = 12;
    compare_plans(a, b, &pair);
    row = &pair.compare->rows[0];
    assert_ptr_equal(row->a, report_baseline(pair.a.report));
    assert_true(row->over_baseline);
    assert_near(row->speedup.value, 1.5, 0.02);
    assert_int_equal(row->verdict, VERDICT_FAST);
    assert_int_equal(row->n_a, 12);
    assert_int_equal(row->n_b, 8);
    compare_plans(b, a, &other);
    row = &other.compare->rows[0];
    assert_near(row->speedup.value, 1 / 1.5, 0.01);
    assert_int_equal(row->verdict, VERDICT_SLOW);
    done(&pair);
    done(&other);
}

/* ---- which of them decide */

static void another_configuration_decides_only_when_asked(void **state)
{
    struct compare_plan b = calm_too;
    struct compare_rules every = COMPARE_RULES;
    struct compare *compare;
    struct pair pair;

    (void)state;
    b.slow = 7;
    compare_plans(calm, b, &pair);
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    assert_int_equal(pair.compare->verdicts[VERDICT_SLOW], 1);
    assert_int_equal(pair.compare->rows[1].a->point, 7); /* the worst first */
    every.every = true;
    assert_int_equal(
        compare_make(&pair.a, &pair.b, &every, &compare, &pair.err), 0);
    assert_int_equal(compare->outcome, COMPARE_REGRESSION);
    compare_free(compare);
    done(&pair);
}

/* The new winner compensates only for users who tune again. */
static void the_old_winner_is_compared_with_itself_too(void **state)
{
    struct compare_plan b = calm_too;
    struct pair pair;

    (void)state;
    b.slow = COMPARE_FASTEST;
    b.factor = 0.97;
    compare_plans(calm, b, &pair);
    assert_int_equal(pair.compare->n_deciding, 2);
    assert_int_equal(pair.compare->rows[0].subject, COMPARE_WINNER);
    assert_int_equal(pair.compare->rows[0].b->point, COMPARE_SECOND);
    assert_int_equal(pair.compare->rows[1].subject, COMPARE_KEPT);
    assert_int_equal(pair.compare->rows[1].verdict, VERDICT_SLOW);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    assert_non_null(
        strstr(pair.compare->why, "A's winner's configuration is 0.8"));
    done(&pair);
}

static void a_winner_that_fails_is_a_regression(void **state)
{
    struct compare_plan b = calm_too;
    struct pair pair;

    (void)state;
    b.fails = COMPARE_FASTEST;
    b.factor = 0.9;
    compare_plans(calm, b, &pair);
    assert_int_equal(pair.compare->rows[1].state, COMPARE_BROKE);
    assert_int_equal(pair.compare->broke, 1);
    assert_int_equal(pair.compare->outcome, COMPARE_REGRESSION);
    assert_string_equal(pair.compare->why,
                        "A's winner's configuration is correct in A but fails "
                        "in B at n16m: misaligned address");
    done(&pair);
}

static void unmeasured_configurations_are_ignored(void **state)
{
    struct compare_plan b = calm_too;
    struct pair pair;

    (void)state;
    b.pending = true;
    b.factor = 0.9;
    compare_plans(calm, b, &pair);
    assert_int_equal(pair.compare->rows[1].state, COMPARE_UNTIMED);
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    done(&pair);
}

/* ---- what is refused, and what is said */

static void refused(struct compare_plan b, const char *text)
{
    struct pair pair;

    compare_plans(calm, b, &pair);
    assert_int_equal(pair.rc, ERR_INPUT);
    assert_null(pair.compare);
    assert_string_equal(pair.err.text, text);
    done(&pair);
}

static void times_of_different_things_are_refused(void **state)
{
    struct compare_plan b = calm_too;

    (void)state;
    b.device = "cpu";
    refused(b,
            "side.db holds times of a GPU, side.db holds emulated times "
            "(device cpu), which are not GPU times: these cannot be compared");
    b.device = NULL;
    b.arch = "sm_90";
    refused(b, "side.db was measured on L4 (sm_89), side.db on H200 (sm_90): "
               "times of different GPU models cannot be compared");
    b.arch = NULL;
    b.l2 = "warm";
    refused(b, "side.db was measured with \"l2\": \"flush\", side.db with "
               "\"warm\": such times cannot be compared");
}

static void two_kernels_are_refused(void **state)
{
    const struct compare_rules rules = COMPARE_RULES;
    struct compare_plan a = calm, b = calm_too;
    struct pair pair = { .rc = 0 };

    (void)state;
    b.name = "matmul";
    make_side(&a, &pair.a);
    make_side(&b, &pair.b);
    for (size_t i = 0; i < pair.b.report->configs[0].params.n; i++)
        pair.b.report->configs[0].params.items[i].name[0] = '_';
    pair.rc = compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
    assert_int_equal(pair.rc, ERR_INPUT);
    assert_string_equal(pair.err.text,
                        "side.db is a sweep of 'vector_add', side.db of "
                        "'matmul': different kernels cannot be compared");
    done(&pair);
    a.device = b.device = "replay";
    compare_plans(a, b, &pair);
    assert_int_equal(pair.rc, ERR_INPUT);
    done(&pair);
}

static void records_of_two_models_are_compared_when_told_so(void **state)
{
    struct compare_rules rules = COMPARE_RULES;
    struct compare_plan a = calm, b = calm_too;
    struct pair pair = { .rc = 0 };

    (void)state;
    a.device = b.device = "replay";
    b.arch = "sm_90";
    make_side(&a, &pair.a);
    make_side(&b, &pair.b);
    pair.rc = compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
    assert_int_equal(pair.rc, ERR_INPUT);
    assert_non_null(strstr(pair.err.text, "--across-gpus compares records"));
    rules.across_gpus = true;
    pair.b.report->name[0] = 'V';
    pair.rc = compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
    assert_int_equal(pair.rc, 0);
    assert_string_equal(pair.compare->warnings[1],
                        "two models of GPU, so every ratio is one of GPUs, "
                        "too: L4 in A, H200 in B");
    done(&pair);
}

static void only_records_may_differ_in_gpu(void **state)
{
    struct compare_rules rules = COMPARE_RULES;
    struct compare_plan a = calm, b = calm_too;
    struct pair pair = { .rc = 0 };

    (void)state;
    rules.across_gpus = true;
    make_side(&a, &pair.a);
    make_side(&b, &pair.b);
    pair.rc = compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
    assert_int_equal(pair.rc, ERR_INPUT);
    assert_string_equal(pair.err.text,
                        "compare: --across-gpus is for records; side.db holds "
                        "times of a GPU, side.db holds times of a GPU");
    done(&pair);
}

static void a_renamed_sweep_can_be_compared(void **state)
{
    struct compare_plan b = calm_too;
    struct pair pair;

    (void)state;
    b.name = "vector_add_2";
    compare_plans(calm, b, &pair);
    assert_int_equal(pair.rc, 0);
    assert_string_equal(
        pair.compare->warnings[0],
        "different sweeps: 'vector_add' in A, 'vector_add_2' in B");
    done(&pair);
}

static void comparing_a_file_with_itself_warns(void **state)
{
    const struct compare_rules rules = COMPARE_RULES;
    struct pair pair = { .rc = 0 };

    (void)state;
    open_side(FA_SOURCE_DIR "/tests/fixtures/compare/base.db", &pair.a, REMAKE);
    open_side(FA_SOURCE_DIR "/tests/fixtures/compare/base.db", &pair.b, REMAKE);
    assert_int_equal(
        compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err), 0);
    assert_string_equal(
        pair.compare->warnings[0],
        "A and B are the same file: every difference is chance");
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    done(&pair);
}

static void differences_are_warned_of(void **state)
{
    struct compare_plan b = calm_too;
    struct pair pair;

    (void)state;
    b.uuid = "GPU-2";
    b.driver = "590.10";
    compare_plans(calm, b, &pair);
    assert_int_equal(pair.compare->n_warnings, 3);
    assert_string_equal(pair.compare->warnings[0],
                        "different GPUs of the same model, which often differ "
                        "by more than 1 %: GPU-1 in A, GPU-2 in B");
    assert_string_equal(pair.compare->warnings[1],
                        "another driver: 580.65 in A, 590.10 in B");
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    done(&pair);
}

static void emulated_times_are_compared_with_emulated_ones(void **state)
{
    struct compare_plan a = calm, b = calm_too;
    struct pair pair;

    (void)state;
    a.device = b.device = "cpu";
    compare_plans(a, b, &pair);
    assert_int_equal(pair.rc, 0);
    assert_string_equal(
        pair.compare->warnings[0],
        "both sides have emulated times, which say nothing about a GPU");
    done(&pair);
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
        cmocka_unit_test(drift_of_one_side_cancels_over_the_baseline),
        cmocka_unit_test(a_regression_shows_through_drift),
        cmocka_unit_test(a_baseline_that_won_is_compared_with_a_winner),
        cmocka_unit_test(another_configuration_decides_only_when_asked),
        cmocka_unit_test(the_old_winner_is_compared_with_itself_too),
        cmocka_unit_test(a_winner_that_fails_is_a_regression),
        cmocka_unit_test(unmeasured_configurations_are_ignored),
        cmocka_unit_test(times_of_different_things_are_refused),
        cmocka_unit_test(two_kernels_are_refused),
        cmocka_unit_test(records_of_two_models_are_compared_when_told_so),
        cmocka_unit_test(only_records_may_differ_in_gpu),
        cmocka_unit_test(a_renamed_sweep_can_be_compared),
        cmocka_unit_test(comparing_a_file_with_itself_warns),
        cmocka_unit_test(differences_are_warned_of),
        cmocka_unit_test(emulated_times_are_compared_with_emulated_ones),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
