/* test_measure.c - faults of kernels are found, named and contained */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <math.h>

#include "common/outcome.h"
#include "tests/worker/runner/box.h"
#include "worker/runner/resident.h"

#define RUNNER FA_BINARY_DIR "/bin/fa-runner"

static struct box box;
static char folder[] = "/tmp/fa-measure-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const command[] = { "rm", "-rf", folder, NULL };

    (void)state;
    return box_command(command);
}

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

/* The kernel ends in 'outcome' with 'text' in its detail. */
static void assert_outcome(const char *entry, enum outcome outcome,
                           const char *text)
{
    const struct wire_result *result = box_measure(&box, entry);

    if (result->outcome != outcome || !strstr(result->detail, text))
        fail_msg("%s: %s: %s", entry, outcome_name(result->outcome),
                 result->detail);
    assert_true(outcome == OUTCOME_CORRECT || result->n_samples == 0 ||
                strstr(box.stages, "recheck"));
}

static void correct_kernel_is_checked_and_timed(void **state)
{
    const struct wire_result *result = box_measure(&box, "right");

    (void)state;
    assert_int_equal(result->outcome, OUTCOME_CORRECT);
    assert_string_equal(box.stages, "load reference check time recheck ");
    assert_string_equal(result->detail, "");
    assert_int_equal(result->n_samples, 5);
    assert_int_equal(result->n_states, 3);
    assert_true(result->relative_l2 > 0 && result->relative_l2 < 1e-7);
    assert_true(result->max_error < 1e-6);
    assert_true(result->held_s > 0 && !result->poisoned);
}

static void reference_is_made_once_a_problem(void **state)
{
    struct wire_request request;

    (void)state;
    box_measure(&box, "right");
    box_measure(&box, "right");
    assert_string_equal(box.stages, "load check time recheck ");
    box_request(&request, "right", "sum", 1001);
    request.measure.seed = 2;
    assert_true(box_ask(&box, &request));
    assert_string_equal(box.stages, "load reference check time recheck ");
}

static void problems_leave_in_the_order_of_their_use(void **state)
{
    struct wire_request request;

    (void)state;
    for (int64_t n = 100; n <= 100 + RESIDENT_PROBLEMS; n++) {
        box_request(&request, "right", "sum", n);
        request.measure.least = request.measure.most = 1;
        assert_true(box_ask(&box, &request));
        assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
    }
    box_request(&request, "right", "sum", 101);
    assert_true(box_ask(&box, &request));
    assert_string_equal(box.stages, "load check time recheck ");
    box_request(&request, "right", "sum", 100);
    assert_true(box_ask(&box, &request));
    assert_string_equal(box.stages, "load reference check time recheck ");
}

/* 2 kernels on 27 problems, one kernel after the other, as in fuzzing. */
static void problems_in_turn_are_made_once(void **state)
{
    struct wire_request request;
    int made = 0;

    (void)state;
    for (int kernel = 0; kernel < 2; kernel++)
        for (int64_t n = 100; n < 127; n++) {
            box_request(&request, "right", "sum", n);
            request.measure.least = request.measure.most = 1;
            assert_true(box_ask(&box, &request));
            made += strstr(box.stages, "reference") != NULL;
        }
    assert_int_equal(made, 27);
}

/* The reply to a request for 'entry' with 5 to 30 samples. */
static const struct wire_result *sampled(const char *entry, double noise,
                                         double incumbent_s)
{
    struct wire_request request;

    box_request(&request, entry, "sum", 1001);
    request.measure.most = 30;
    request.measure.noise = noise;
    request.measure.incumbent_s = incumbent_s;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
    return &box.reply.result;
}

static void samples_are_taken_until_they_settle(void **state)
{
    const struct wire_result *result = sampled("uneven", 100, 0);

    (void)state;
    assert_int_equal(result->sampling, WIRE_SETTLED);
    assert_int_equal(result->n_samples, 5);
    assert_int_equal(result->l2, L2_MODE_FLUSH);
    assert_int_equal(result->n_rejected, 0);
    assert_false(result->blocked); /* a launch is over when it returns */
}

static void noisy_kernel_is_unstable_and_keeps_its_samples(void **state)
{
    const struct wire_result *result = sampled("uneven", 0.01, 0);

    (void)state;
    assert_int_equal(result->sampling, WIRE_UNSTABLE);
    assert_int_equal(result->n_samples, 30);
}

static void loser_stops_early(void **state)
{
    const struct wire_result *result = sampled("uneven", 0.01, 1e-9);

    (void)state;
    assert_int_equal(result->sampling, WIRE_LOSER);
    assert_int_equal(result->n_samples, 5);
}

static void rotated_inputs_are_copies_in_other_places(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "right", "sum", 1001);
    request.measure.l2 = L2_MODE_ROTATE;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
    assert_int_equal(box.reply.result.l2, L2_MODE_ROTATE);
    assert_int_equal(box.reply.result.copies, 2);
}

/* Which of the copies is used is nothing that a launch can learn. */
static void rotated_inputs_are_checked(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "two_places_alone", "sum", 1001);
    request.measure.l2 = L2_MODE_ROTATE;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
    assert_int_equal(box.reply.result.copies, 2);
}

static void wrong_element_is_named(void **state)
{
    (void)state;
    assert_outcome("element_wrong", OUTCOME_CORRECTNESS,
                   "first seed: 'out'[777] is ");
    assert_string_equal(box.reply.result.argument, "out");
    assert_int_equal(box.reply.result.max_at, 777);
    assert_false(box.reply.result.poisoned);
    assert_outcome("right", OUTCOME_CORRECT, "");
}

/* A file with these numbers, and a request whose 'b' has it. */
static void with_file(struct wire_request *request, const char *name,
                      const float *numbers, size_t n)
{
    FILE *file;
    char path[80];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(numbers, sizeof(*numbers), n, file), n);
    assert_int_equal(fclose(file), 0);
    box_request(request, "element_wrong", "sum", 1001);
    snprintf(request->measure.files, sizeof(request->measure.files), "%s",
             folder);
    request->measure.args[1].fill = FILL_FILE;
    snprintf(request->measure.args[1].file, WIRE_NAME_MAX, "%s", name);
    request->measure.args[0].fill = FILL_ZEROS;
    request->measure.args[2].tolerance =
        (struct tolerance){ .rules = 1u << TOLERANCE_EXACT };
}

/* out[777] lacks b[777].  Another name is another problem, the same is not read
 * again. */
static void an_input_has_the_numbers_of_its_file(void **state)
{
    static float numbers[1001];
    struct wire_request request;

    (void)state;
    numbers[777] = 4096.5f;
    with_file(&request, "first", numbers, 1001);
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECTNESS);
    assert_non_null(
        strstr(box.reply.result.detail, "should be exactly 4096.5"));
    numbers[777] = 512.25f;
    with_file(&request, "second", numbers, 1001);
    assert_true(box_ask(&box, &request));
    assert_non_null(
        strstr(box.reply.result.detail, "should be exactly 512.25"));
    with_file(&request, "first", numbers, 1001);
    assert_true(box_ask(&box, &request));
    assert_string_equal(box.stages, "load check ");
    assert_non_null(
        strstr(box.reply.result.detail, "should be exactly 4096.5"));
}

static void assert_no_file(const struct wire_request *request, const char *text)
{
    assert_true(box_ask(&box, request));
    assert_int_equal(box.reply.kind, WIRE_ERROR);
    if (!strstr(box.reply.error, text))
        fail_msg("%s", box.reply.error);
}

static void a_file_of_another_size_is_an_error(void **state)
{
    static const float numbers[1002] = { 1 };
    struct wire_request request;

    (void)state;
    with_file(&request, "short", numbers, 1000);
    assert_no_file(&request, "the file of 'b': 4000 bytes instead of 4004");
    with_file(&request, "long", numbers, 1002);
    assert_no_file(&request, "the file of 'b': more than 4004 bytes");
    with_file(&request, "gone", numbers, 1001);
    snprintf(request.measure.args[1].file, WIRE_NAME_MAX, "never");
    assert_no_file(&request, "/never: No such file");
    assert_outcome("right", OUTCOME_CORRECT, "");
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

static void a_workspace_is_new_before_every_launch(void **state)
{
    (void)state;
    assert_roles("by_workspace", "twice", FILL_POISON, WIRE_WORKSPACE,
                 OUTCOME_CORRECT, "");
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
    };
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_edge(rows[i].entry, rows[i].edge, OUTCOME_CORRECTNESS,
                    rows[i].name);
        assert_edge("right", rows[i].edge, OUTCOME_CORRECT, "");
        assert_string_equal(box.reply.result.detail, "");
    }
    for (size_t i = 1; i < 5; i++)
        assert_edge(rows[i].entry, EDGE_ZEROS, OUTCOME_CORRECT, "");
}

/* It is wrong with zeros, but so is its reference. */
static void a_reference_that_is_not_finite_does_not_judge(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "log_of", "log_sum", 1001);
    request.measure.trials = (struct trials){ .seeds = 2,
                                              .edges = { 1u << EDGE_ZEROS },
                                              .n_edges = 1 };
    request.measure.args[2].tolerance.most[TOLERANCE_MAX_ERROR] = 1e-4;
    request.measure.args[2].tolerance.most[TOLERANCE_RELATIVE_L2] = 1e-4;
    assert_true(box_ask(&box, &request));
    assert_string_equal(box.reply.result.detail,
                        "not judged by inputs with zeros: there the reference "
                        "is not finite, or beyond the output's type");
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
}

static void nan_and_unwritten_elements_fail(void **state)
{
    (void)state;
    assert_outcome("element_nan", OUTCOME_CORRECTNESS,
                   "'out'[5] is NaN or unwritten");
    assert_true(isinf(box.reply.result.max_error));
    assert_outcome("tail_unwritten", OUTCOME_CORRECTNESS,
                   "'out'[1000] is NaN or unwritten");
}

static void kernel_right_for_one_seed_fails(void **state)
{
    (void)state;
    assert_outcome("first_seed_alone", OUTCOME_CORRECTNESS, "second seed: ");
}

/* On a GPU they cheat by what they keep (test_cuda.c). */
static void nothing_is_kept_from_launch_to_launch(void **state)
{
    (void)state;
    assert_outcome("right_until_timed", OUTCOME_CORRECT, "");
    assert_outcome("idle_when_timed", OUTCOME_CORRECT, "");
    assert_outcome("two_places_alone", OUTCOME_CORRECT, "");
}

static void kernel_that_forges_a_reply_fails(void **state)
{
    (void)state;
    assert_outcome("forges", OUTCOME_RUNTIME,
                   "its process sent something that is not a reply");
    assert_outcome("right", OUTCOME_CORRECT, "");
}

static void kernel_that_closes_its_socket_fails(void **state)
{
    (void)state;
    assert_outcome("hangs_up", OUTCOME_RUNTIME,
                   "the kernel closed a descriptor of its process");
    assert_outcome("right", OUTCOME_CORRECT, "");
}

static void kernel_cannot_end_its_judge(void **state)
{
    (void)state;
    assert_outcome("kills_its_judge", OUTCOME_CORRECTNESS, "first seed: ");
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
        assert_outcome("right", OUTCOME_CORRECT, "");
    }
}

static void impossible_launches_are_constraints(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "right", "sum", 1001);
    request.measure.kernel.smem = 1 << 20;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CONSTRAINTS);
    assert_non_null(strstr(box.reply.result.detail, "1048576"));
    request.measure.kernel.smem = 0;
    request.measure.kernel.block[0] = 2048;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CONSTRAINTS);
    request.measure.kernel.block[0] = 128;
    request.measure.kernel.grid[0] = 0;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CONSTRAINTS);
    assert_outcome("right", OUTCOME_CORRECT, "");
}

static void reference_that_faults_is_told_as_such(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "right", "sum_past_the_end", 1001);
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.kind, WIRE_REFERENCE);
    assert_non_null(strstr(box.reply.error, "reference: "));
    assert_non_null(strstr(box.reply.error, "by thread"));
    box_request(&request, "right", "sum", 1001);
    request.measure.reference.block[0] = 2048;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.kind, WIRE_REFERENCE); /* it is refused */
    assert_outcome("right", OUTCOME_CORRECT, "");
}

static void reference_that_is_not_here_is_an_error(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "right", "absent", 1001);
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.kind, WIRE_ERROR);
    assert_non_null(strstr(box.reply.error, "absent.so"));
    assert_outcome("right", OUTCOME_CORRECT, "");
}

static void useless_reference_is_told_as_such(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "right", "sum_less_one", 1001);
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.kind, WIRE_REFERENCE);
    assert_string_equal(box.reply.error,
                        "reference: the reference left 'out'[12] unwritten, "
                        "or not a finite number");
    assert_outcome("right", OUTCOME_CORRECT, "");
}

static void missing_artifact_is_an_error(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "absent", "sum", 1001);
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.kind, WIRE_ERROR);
    assert_non_null(strstr(box.reply.error, "absent.so"));
    assert_outcome("right", OUTCOME_CORRECT, "");
}

static void printing_kernel_does_not_reach_the_pipe(void **state)
{
    (void)state;
    assert_outcome("talks", OUTCOME_CORRECT, "");
    assert_outcome("right", OUTCOME_CORRECT, "");
}

static void exiting_kernel_ends_the_pipe_without_a_reply(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "exits", "sum", 1001);
    assert_false(box_ask(&box, &request));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(correct_kernel_is_checked_and_timed),
        CASE(reference_is_made_once_a_problem),
        CASE(problems_leave_in_the_order_of_their_use),
        CASE(problems_in_turn_are_made_once),
        CASE(samples_are_taken_until_they_settle),
        CASE(noisy_kernel_is_unstable_and_keeps_its_samples),
        CASE(loser_stops_early),
        CASE(rotated_inputs_are_copies_in_other_places),
        CASE(rotated_inputs_are_checked),
        CASE(wrong_element_is_named),
        CASE(an_input_has_the_numbers_of_its_file),
        CASE(a_file_of_another_size_is_an_error),
        CASE(broken_rule_is_named),
        CASE(filled_outputs_are_restored_before_every_launch),
        CASE(a_workspace_is_new_before_every_launch),
        CASE(zeros_can_be_approached_absolutely),
        CASE(each_edge_finds_what_seeds_do_not),
        CASE(a_reference_that_is_not_finite_does_not_judge),
        CASE(nan_and_unwritten_elements_fail),
        CASE(kernel_right_for_one_seed_fails),
        CASE(nothing_is_kept_from_launch_to_launch),
        CASE(kernel_that_forges_a_reply_fails),
        CASE(kernel_that_closes_its_socket_fails),
        CASE(kernel_cannot_end_its_judge),
        CASE(writes_outside_the_outputs_are_runtime_errors),
        CASE(impossible_launches_are_constraints),
        CASE(reference_that_faults_is_told_as_such),
        CASE(reference_that_is_not_here_is_an_error),
        CASE(useless_reference_is_told_as_such),
        CASE(missing_artifact_is_an_error),
        CASE(printing_kernel_does_not_reach_the_pipe),
        CASE(exiting_kernel_ends_the_pipe_without_a_reply),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
