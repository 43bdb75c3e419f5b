/* What is refused, and what is said of what is compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/compare/compare.h"
#include "tests/coordinator/compare/compare_pair.h"

static void refused(struct compare_plan b, const char *text)
{
    struct compare_pair pair;

    compare_pair_make(compare_pair_calm, b, &pair);
    assert_int_equal(pair.rc, ERR_INPUT);
    assert_null(pair.compare);
    assert_string_equal(pair.err.text, text);
    compare_pair_end(&pair);
}

static void times_of_different_things_are_refused(void **state)
{
    struct compare_plan b = compare_pair_calm_too;

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
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair = { .rc = 0 };

    (void)state;
    b.name = "matmul";
    compare_pair_make_side(&a, &pair.a);
    compare_pair_make_side(&b, &pair.b);
    for (size_t i = 0; i < pair.b.report->configs[0].params.n; i++)
        pair.b.report->configs[0].params.items[i].name[0] = '_';
    pair.rc = compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
    assert_int_equal(pair.rc, ERR_INPUT);
    assert_string_equal(pair.err.text,
                        "side.db is a sweep of 'vector_add', side.db of "
                        "'matmul': different kernels cannot be compared");
    compare_pair_end(&pair);
    a.device = b.device = "replay";
    compare_pair_make(a, b, &pair);
    assert_int_equal(pair.rc, ERR_INPUT);
    compare_pair_end(&pair);
}

/* Their sweeps are called as their files. */
static void records_of_one_kernel_are_compared(void **state)
{
    const struct compare_rules rules = COMPARE_RULES;
    static const char *const kernels[] = { "kern", "kernel_2" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
        struct compare_pair pair = { .rc = 0 };

        a.device = b.device = "replay";
        a.name = "before";
        b.name = "after";
        compare_pair_make_side(&a, &pair.a);
        compare_pair_make_side(&b, &pair.b);
        pair.a.report->sweep.kernel = mem_strdup("kern");
        pair.b.report->sweep.kernel = mem_strdup(kernels[i]);
        pair.rc =
            compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
        assert_int_equal(pair.rc, i ? ERR_INPUT : 0);
        if (i)
            assert_non_null(strstr(pair.err.text,
                                   "'kern', side.db of 'kernel_2': different "
                                   "kernels"));
        compare_pair_end(&pair);
    }
}

static void records_of_two_models_are_compared_when_told_so(void **state)
{
    struct compare_rules rules = COMPARE_RULES;
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair = { .rc = 0 };

    (void)state;
    a.device = b.device = "replay";
    b.arch = "sm_90";
    compare_pair_make_side(&a, &pair.a);
    compare_pair_make_side(&b, &pair.b);
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
    compare_pair_end(&pair);
}

static void only_records_may_differ_in_gpu(void **state)
{
    struct compare_rules rules = COMPARE_RULES;
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair = { .rc = 0 };

    (void)state;
    rules.across_gpus = true;
    compare_pair_make_side(&a, &pair.a);
    compare_pair_make_side(&b, &pair.b);
    pair.rc = compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
    assert_int_equal(pair.rc, ERR_INPUT);
    assert_string_equal(pair.err.text,
                        "compare: --across-gpus is for records; side.db holds "
                        "times of a GPU, side.db holds times of a GPU");
    compare_pair_end(&pair);
}

static void a_renamed_sweep_can_be_compared(void **state)
{
    struct compare_plan b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    b.name = "vector_add_2";
    compare_pair_make(compare_pair_calm, b, &pair);
    assert_int_equal(pair.rc, 0);
    assert_string_equal(
        pair.compare->warnings[0],
        "different sweeps: 'vector_add' in A, 'vector_add_2' in B");
    compare_pair_end(&pair);
}

static void comparing_a_file_with_itself_warns(void **state)
{
    const struct compare_rules rules = COMPARE_RULES;
    struct compare_pair pair = { .rc = 0 };

    (void)state;
    compare_pair_open_fixture("base", &pair.a);
    compare_pair_open_fixture("base", &pair.b);
    assert_int_equal(
        compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err), 0);
    assert_string_equal(
        pair.compare->warnings[0],
        "A and B are the same file: every difference is chance");
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    compare_pair_end(&pair);
}

static void differences_are_warned_of(void **state)
{
    struct compare_plan b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    b.uuid = "GPU-2";
    b.driver = "590.10";
    compare_pair_make(compare_pair_calm, b, &pair);
    assert_int_equal(pair.compare->n_warnings, 3);
    assert_string_equal(pair.compare->warnings[0],
                        "different GPUs of the same model, which often differ "
                        "by more than 1 %: GPU-1 in A, GPU-2 in B");
    assert_string_equal(pair.compare->warnings[1],
                        "another driver: 580.65 in A, 590.10 in B");
    assert_int_equal(pair.compare->outcome, COMPARE_FINE);
    compare_pair_end(&pair);
}

static void emulated_times_are_compared_with_emulated_ones(void **state)
{
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair;

    (void)state;
    a.device = b.device = "cpu";
    compare_pair_make(a, b, &pair);
    assert_int_equal(pair.rc, 0);
    assert_string_equal(
        pair.compare->warnings[0],
        "both sides have emulated times, which say nothing about a GPU");
    compare_pair_end(&pair);
}

/* A record knows the cpu device by the name of its GPU. */
static void records_of_emulated_times_are_no_records_of_a_gpu(void **state)
{
    struct compare_rules rules = COMPARE_RULES;
    struct compare_plan a = compare_pair_calm, b = compare_pair_calm_too;
    struct compare_pair pair = { .rc = 0 };

    (void)state;
    rules.across_gpus = true;
    a.device = b.device = "replay";
    compare_pair_make_side(&a, &pair.a);
    compare_pair_make_side(&b, &pair.b);
    free(pair.b.report->sweep.recorded_on);
    pair.b.report->sweep.recorded_on = mem_strdup("emulation");
    pair.rc = compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
    assert_int_equal(pair.rc, ERR_INPUT);
    assert_string_equal(
        pair.err.text,
        "side.db holds recorded times (device replay), side.db holds recorded "
        "times of the cpu device, which are not GPU times: these cannot be "
        "compared");
    free(pair.a.report->sweep.recorded_on);
    pair.a.report->sweep.recorded_on = mem_strdup("emulation");
    pair.rc = compare_make(&pair.a, &pair.b, &rules, &pair.compare, &pair.err);
    assert_int_equal(pair.rc, 0);
    assert_string_equal(
        pair.compare->warnings[0],
        "both sides have emulated times, which say nothing about a GPU");
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
        cmocka_unit_test(times_of_different_things_are_refused),
        cmocka_unit_test(two_kernels_are_refused),
        cmocka_unit_test(records_of_one_kernel_are_compared),
        cmocka_unit_test(records_of_two_models_are_compared_when_told_so),
        cmocka_unit_test(only_records_may_differ_in_gpu),
        cmocka_unit_test(a_renamed_sweep_can_be_compared),
        cmocka_unit_test(comparing_a_file_with_itself_warns),
        cmocka_unit_test(differences_are_warned_of),
        cmocka_unit_test(emulated_times_are_compared_with_emulated_ones),
        cmocka_unit_test(records_of_emulated_times_are_no_records_of_a_gpu),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
