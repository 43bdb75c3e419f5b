/* test_judge.c - faults of kernels are found and named */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/outcome.h"
#include "tests/worker/runner/box.h"

#define RUNNER FA_BINARY_DIR "/bin/fa-runner"

static struct box box;

static int set_up(void **state)
{
    (void)state;
    box_start(&box, RUNNER);
    return box_open(&box, "cpu") ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)box_stop(&box); /* some of the kernels end it */
    return 0;
}

static void wrong_element_is_named(void **state)
{
    (void)state;
    box_assert_outcome(&box, "element_wrong", OUTCOME_CORRECTNESS,
                       "first seed: 'out'[777] is ");
    assert_string_equal(box.reply.result.argument, "out");
    assert_int_equal(box.reply.result.max_at, 777);
    assert_false(box.reply.result.poisoned);
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
}

static void assert_rule(const char *entry, enum tolerance_rule rule,
                        double most, enum outcome outcome, const char *text)
{
    struct wire_request request;

    box_request(&request, entry, "sum", 1001);
    request.measure.args[2].tolerance =
        (struct tolerance){ .rules = 1u << rule };
    request.measure.args[2].tolerance.most[rule] = most;
    request.measure.least = request.measure.most = 1;
    assert_true(box_ask(&box, &request));
    if (box.reply.result.outcome != outcome ||
        !strstr(box.reply.result.detail, text))
        fail_msg("%s: %s", entry, box.reply.result.detail);
}

/* The right kernel rounds once, as the exact rule does. */
static void broken_rule_is_named(void **state)
{
    const enum outcome wrong = OUTCOME_CORRECTNESS;

    (void)state;
    assert_rule("right", TOLERANCE_EXACT, 0, OUTCOME_CORRECT, "");
    assert_rule("right", TOLERANCE_ULP, 0.5, OUTCOME_CORRECT, "");
    assert_rule("right", TOLERANCE_ABSOLUTE, 1e-6, OUTCOME_CORRECT, "");
    assert_rule("element_wrong", TOLERANCE_EXACT, 0, wrong,
                "first seed: 'out'[777] is ");
    assert_rule("element_wrong", TOLERANCE_EXACT, 0, wrong,
                ", should be exactly ");
    assert_rule("element_wrong", TOLERANCE_ULP, 4, wrong, "; ulp is ");
    assert_rule("element_wrong", TOLERANCE_ABSOLUTE, 1e-3, wrong,
                "; absolute is ");
    assert_rule("element_wrong", TOLERANCE_RELATIVE_L2, 1e-3, wrong,
                "; relative_l2 is ");
    assert_rule("element_nan", TOLERANCE_ABSOLUTE, 1e9, wrong,
                "'out'[5] is NaN or unwritten");
    assert_rule("tail_unwritten", TOLERANCE_EXACT, 0, wrong,
                "'out'[1000] is NaN or unwritten");
}

/* Measured with 'out' as 'fill', times 2, and 'b' in this role. */
static void assert_roles(const char *entry, const char *reference,
                         enum fill_kind fill, enum wire_role role,
                         enum outcome outcome, const char *text)
{
    struct wire_request request;
    const struct wire_result *result = &box.reply.result;

    box_request(&request, entry, reference, 1001);
    request.measure.args[2].fill = fill;
    request.measure.args[2].scale = 2;
    request.measure.args[1].role = role;
    if (role == WIRE_WORKSPACE)
        request.measure.args[1].fill = FILL_POISON;
    assert_true(box_ask(&box, &request));
    if (result->outcome != outcome || !strstr(result->detail, text))
        fail_msg("%s: %s: %s", entry, outcome_name(result->outcome),
                 result->detail);
    assert_int_equal(result->n_samples, outcome == OUTCOME_CORRECT ? 5 : 0);
}

/* Also before each of the timed launches: the recheck would find the sums. */
static void filled_outputs_are_restored_before_every_launch(void **state)
{
    const enum outcome right = OUTCOME_CORRECT, wrong = OUTCOME_CORRECTNESS;

    (void)state;
    assert_roles("accumulates", "sum", FILL_ZEROS, WIRE_IN, right, "");
    assert_roles("accumulates", "sum_onto", FILL_ONES, WIRE_IN, right, "");
    assert_roles("accumulates", "sum_onto", FILL_NORMAL, WIRE_IN, right, "");
    assert_roles("accumulates", "sum", FILL_ONES, WIRE_IN, wrong,
                 "first seed: 'out'[");
    assert_roles("accumulates", "sum", FILL_POISON, WIRE_IN, wrong,
                 "'out'[0] is NaN or unwritten");
    assert_roles("right", "sum_onto", FILL_NORMAL, WIRE_IN, wrong,
                 "first seed: 'out'[");
}

static void a_workspace_is_poison_or_what_the_launch_before_left(void **state)
{
    (void)state;
    assert_roles("by_workspace", "twice", FILL_POISON, WIRE_WORKSPACE,
                 OUTCOME_CORRECT, "");
    assert_roles("once_by_workspace", "twice", FILL_POISON, WIRE_WORKSPACE,
                 OUTCOME_CORRECTNESS, "second seed: 'out'[");
    assert_roles("by_workspace", "twice", FILL_POISON, WIRE_IN, OUTCOME_RUNTIME,
                 "");
}

/* No error is relative to them, and a correct result has finite ones. */
static void zeros_can_be_approached_absolutely(void **state)
{
    struct wire_request request;
    const struct wire_result *result = &box.reply.result;

    (void)state;
    box_request(&request, "slightly_off", "sum", 1001);
    request.measure.args[0].fill = request.measure.args[1].fill = FILL_ZEROS;
    request.measure.args[2].tolerance =
        (struct tolerance){ .rules = 1u << TOLERANCE_ABSOLUTE,
                            .most = { [TOLERANCE_ABSOLUTE] = 1e-6 } };
    assert_true(box_ask(&box, &request));
    assert_int_equal(result->outcome, OUTCOME_CORRECT);
    assert_true(result->relative_l2 == 0 && result->max_error == 0);
    request.measure.args[2].tolerance.most[TOLERANCE_ABSOLUTE] = 1e-12;
    assert_true(box_ask(&box, &request));
    assert_int_equal(result->outcome, OUTCOME_CORRECTNESS);
    assert_true(isinf(result->max_error));
}

/* The outcome of 'entry' after one seed and one trial with this edge. */
static void assert_edge(const char *entry, enum edge edge, enum outcome outcome,
                        const char *text)
{
    struct wire_request request;
    const struct wire_result *result = &box.reply.result;

    box_request(&request, entry, "sum", 1001);
    request.measure.args[0].infinities = true;
    request.measure.trials =
        (struct trials){ .seeds = 1, .edges = { 1u << edge }, .n_edges = 1 };
    request.measure.least = request.measure.most = 1;
    assert_true(box_ask(&box, &request));
    if (result->outcome != outcome ||
        strncmp(result->detail, text, strlen(text)) != 0)
        fail_msg("%s: %s: %s", entry, outcome_name(result->outcome),
                 result->detail);
}

static void each_edge_finds_what_seeds_do_not(void **state)
{
    static const struct {
        const char *entry;
        enum edge edge;
        const char *name;
    } rows[] = {
        { "wrong_at_zero", EDGE_ZEROS, "inputs with zeros: " },
        { "wrong_at_ties", EDGE_TIES, "inputs with ties: " },
        { "wrong_when_large", EDGE_LARGE, "inputs with large values: " },
        { "wrong_when_tiny", EDGE_TINY, "inputs with tiny values: " },
        { "wrong_at_infinity", EDGE_INFINITIES, "inputs with infinities: " },
        { "wrong_when_extreme", EDGE_EXTREME, "inputs with extreme values: " },
    };
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_edge(rows[i].entry, rows[i].edge, OUTCOME_CORRECTNESS,
                    rows[i].name);
        assert_edge("right", rows[i].edge, OUTCOME_CORRECT, "");
        assert_string_equal(box.reply.result.detail, "");
    }
    for (size_t i = 1; i < 6; i++)
        assert_edge(rows[i].entry, EDGE_ZEROS, OUTCOME_CORRECT, "");
}

/* Its reference is infinite where an element of 'a' is 0. */
static const struct wire_result *logarithms(const char *entry)
{
    struct wire_request request;

    box_request(&request, entry, "log_sum", 1001);
    request.measure.trials = (struct trials){ .seeds = 2,
                                              .edges = { 1u << EDGE_ZEROS },
                                              .n_edges = 1 };
    request.measure.args[2].tolerance.most[TOLERANCE_MAX_ERROR] = 1e-4;
    request.measure.args[2].tolerance.most[TOLERANCE_RELATIVE_L2] = 1e-4;
    assert_true(box_ask(&box, &request));
    return &box.reply.result;
}

static void what_is_not_finite_in_the_reference_is_left_out(void **state)
{
    const struct wire_result *result = logarithms("log_of");
    const char *detail = result->detail;

    (void)state;
    assert_int_equal(result->outcome, OUTCOME_CORRECT);
    assert_in_range(strtol(detail, NULL, 10), 400, 900);
    assert_non_null(
        strstr(detail, " of 1001 elements of 'out' not judged by inputs with "
                       "zeros: there the reference is not finite, or beyond "
                       "the output's type"));
    logarithms("log_wrong_at_zero"); /* of 'b' */
    assert_int_equal(result->outcome, OUTCOME_CORRECTNESS);
    assert_int_equal(strncmp(detail, "inputs with zeros: ", 19), 0);
}

/* Its argument has a rounding error of 1, so no kernel would be right. */
static void an_ill_conditioned_reference_does_not_judge(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "cosine_of", "cosine_sum", 1001);
    request.measure.trials = (struct trials){ .seeds = 2,
                                              .edges = { 1u << EDGE_EXTREME },
                                              .n_edges = 1 };
    assert_true(box_ask(&box, &request));
    assert_string_equal(box.reply.result.detail,
                        "not judged by inputs with extreme values: there small "
                        "changes of the inputs change the reference much");
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
}

static void nan_and_unwritten_elements_fail(void **state)
{
    (void)state;
    box_assert_outcome(&box, "element_nan", OUTCOME_CORRECTNESS,
                       "'out'[5] is NaN or unwritten");
    assert_true(isinf(box.reply.result.max_error));
    box_assert_outcome(&box, "tail_unwritten", OUTCOME_CORRECTNESS,
                       "'out'[1000] is NaN or unwritten");
}

static void kernel_right_for_one_seed_fails(void **state)
{
    (void)state;
    box_assert_outcome(&box, "first_seed_alone", OUTCOME_CORRECTNESS,
                       "second seed: ");
}

static void writes_outside_the_outputs_are_runtime_errors(void **state)
{
    static const char *const entries[] = { "past_the_end", "before_the_start",
                                           "input_written", "null_read" };

    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct wire_result *result = box_measure(&box, entries[i]);

        if (result->outcome != OUTCOME_RUNTIME || !result->detail[0])
            fail_msg("%s: %s: %s", entries[i], outcome_name(result->outcome),
                     result->detail);
        if (result->poisoned) {
            tear_down(NULL);
            set_up(NULL);
        }
        box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(wrong_element_is_named),
        CASE(broken_rule_is_named),
        CASE(filled_outputs_are_restored_before_every_launch),
        CASE(a_workspace_is_poison_or_what_the_launch_before_left),
        CASE(zeros_can_be_approached_absolutely),
        CASE(each_edge_finds_what_seeds_do_not),
        CASE(what_is_not_finite_in_the_reference_is_left_out),
        CASE(an_ill_conditioned_reference_does_not_judge),
        CASE(nan_and_unwritten_elements_fail),
        CASE(kernel_right_for_one_seed_fails),
        CASE(writes_outside_the_outputs_are_runtime_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
