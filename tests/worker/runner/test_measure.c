/* test_measure.c - a problem is made, a kernel is checked and timed, and what
 * cannot be measured is said */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
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
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
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
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
}

static void reference_that_is_not_here_is_an_error(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "right", "absent", 1001);
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.kind, WIRE_ERROR);
    assert_non_null(strstr(box.reply.error, "absent.so"));
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
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
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
}

static void missing_artifact_is_an_error(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "absent", "sum", 1001);
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.kind, WIRE_ERROR);
    assert_non_null(strstr(box.reply.error, "absent.so"));
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
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
        CASE(an_input_has_the_numbers_of_its_file),
        CASE(a_file_of_another_size_is_an_error),
        CASE(impossible_launches_are_constraints),
        CASE(reference_that_faults_is_told_as_such),
        CASE(reference_that_is_not_here_is_an_error),
        CASE(useless_reference_is_told_as_such),
        CASE(missing_artifact_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
