/* test_cuda.c - the kernels of test_judge.c and test_launch_child.c, and worse
 * ones, on a GPU
 *
 * nvcc builds them here; without nvcc or an NVIDIA device the test is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/outcome.h"
#include "tests/worker/runner/box.h"
#include "worker/runner/sources.h"

#define FOLDER FA_BINARY_DIR "/tests/cuda"
#define RUNNER FOLDER "/fa-runner"
#define FIXTURES FA_SOURCE_DIR "/tests/fixtures/runner/"

static struct box box;

static int build_cubin(const char *name)
{
    char source[512], object[512];

    snprintf(source, sizeof(source), "%s%s.cu", FIXTURES, name);
    snprintf(object, sizeof(object), "%s/%s.cubin", FOLDER, name);
    return box_command((const char *[]){ FA_NVCC_PATH, "-cubin", "-arch=native",
                                         source, "-o", object, NULL });
}

static int build_all(void **state)
{
    static const char *const before[] = { FA_NVCC_PATH, "-O2", "-arch=native",
                                          "-I.",        "-o",  RUNNER,
                                          NULL };
    static const char *const after[] = { "-ldl", NULL };

    (void)state;
    (void)mkdir(FOLDER, 0755); /* there already, or nvcc says so */
    if (chdir(FA_SOURCE_DIR) < 0 || box_build(RUNNER_CUDA, before, after) != 0)
        return -1;
    return build_cubin("add") | build_cubin("faults") |
           build_cubin("reference");
}

static int set_up(void **state)
{
    (void)state;
    box_start(&box, RUNNER);
    if (!box_open(&box, "cuda"))
        return -1;
    if (box.reply.kind == WIRE_OK)
        return 0;
    print_error("%s\n", box.reply.error);
    return -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)box_stop(&box); /* most of the kernels end it */
    return 0;
}

static void request_of(struct wire_request *request, const char *file,
                       const char *entry)
{
    struct wire_measure *measure = &request->measure;

    box_request(request, entry, "sum", 1000001);
    snprintf(measure->kernel.path, sizeof(measure->kernel.path),
             FOLDER "/%s.cubin", file);
    snprintf(measure->reference.path, sizeof(measure->reference.path),
             FOLDER "/reference.cubin");
    measure->timeout_s = 2;
}

/* The kernel ends in 'outcome' with 'text' in its detail; the next one, in a
 * new process if need be, is right. */
static void assert_outcome(const char *file, const char *entry,
                           enum outcome outcome, const char *text)
{
    const struct wire_result *result = &box.reply.result;
    struct wire_request request;

    request_of(&request, file, entry);
    assert_true(box_ask(&box, &request));
    if (box.reply.kind != WIRE_RESULT || result->outcome != outcome ||
        !strstr(result->detail, text))
        fail_msg("%s: %s: %s%s", entry, outcome_name(result->outcome),
                 result->detail, box.reply.error);
    if (result->poisoned) {
        tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
    }
    request_of(&request, "add", "right");
    assert_true(box_ask(&box, &request));
    assert_int_equal(result->outcome, OUTCOME_CORRECT);
}

/* Build a program of the fixtures and run it; it compares the GPU with the
 * host. */
static void assert_same(const char *name)
{
    char source[512], program[512];

    snprintf(source, sizeof(source), FIXTURES "%s.cu", name);
    snprintf(program, sizeof(program), FOLDER "/%s", name);
    assert_int_equal(box_command((const char *[]){
                         FA_NVCC_PATH, "-O2", "-arch=native", "-D_GNU_SOURCE",
                         "-I.", source, "-o", program, NULL }),
                     0);
    assert_int_equal(box_command((const char *[]){ program, NULL }), 0);
}

static void fills_are_those_of_the_host_to_the_bit(void **state)
{
    (void)state;
    assert_same("fill_same");
}

static void looks_are_those_of_the_host(void **state)
{
    (void)state;
    assert_same("look_same");
}

static void correct_kernel_is_timed(void **state)
{
    (void)state;
    assert_outcome("add", "right", OUTCOME_CORRECT, "");
    assert_int_equal(box.reply.result.n_samples, 5);
    assert_true(box.reply.result.usage.regs > 0);
    assert_true(box.reply.result.blocked);
}

/* 1,000 launches in 20 batches; the host delayed no batch. */
static void long_series_are_held_at_the_gate_batch_by_batch(void **state)
{
    struct wire_request request;

    (void)state;
    request_of(&request, "add", "right");
    request.measure.least = request.measure.most = 1000;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
    assert_int_equal(box.reply.result.sampling, WIRE_FIXED);
    assert_int_equal(box.reply.result.n_samples, 1000);
    assert_true(box.reply.result.blocked);
}

/* 8 MB of inputs: a GPU's L2 holds some of them, so there are copies. */
static void inputs_rotate_and_are_checked(void **state)
{
    struct wire_request request;

    (void)state;
    request_of(&request, "add", "right");
    request.measure.l2 = L2_MODE_ROTATE;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
    assert_int_equal(box.reply.result.l2, L2_MODE_ROTATE);
    assert_true(box.reply.result.copies >= 2);
}

static void wrong_values_are_correctness(void **state)
{
    (void)state;
    assert_outcome("add", "element_wrong", OUTCOME_CORRECTNESS,
                   "'out'[777] is");
    assert_outcome("add", "element_nan", OUTCOME_CORRECTNESS,
                   "'out'[5] is NaN");
    assert_outcome("add", "tail_unwritten", OUTCOME_CORRECTNESS,
                   "'out'[1000000] is NaN or unwritten");
    assert_outcome("add", "first_seed_alone", OUTCOME_CORRECTNESS,
                   "second seed");
}

/* Their counters are put back, so each launch is the first. */
static void nothing_is_kept_from_launch_to_launch(void **state)
{
    (void)state;
    assert_outcome("add", "right_until_timed", OUTCOME_CORRECT, "");
    assert_outcome("add", "idle_when_timed", OUTCOME_CORRECT, "");
}

static void writes_elsewhere_are_runtime_errors(void **state)
{
    (void)state;
    assert_outcome("add", "past_the_end", OUTCOME_RUNTIME,
                   "byte 1 after the end of output 'out'");
    assert_outcome("add", "before_the_start", OUTCOME_RUNTIME,
                   "byte 9 before output 'out'");
    assert_outcome("add", "input_written", OUTCOME_RUNTIME,
                   "the kernel changed input 'a'");
}

static void faults_are_runtime_errors(void **state)
{
    (void)state;
    assert_outcome("add", "null_read", OUTCOME_RUNTIME, "IllegalAddress");
    assert_outcome("faults", "wild_write", OUTCOME_RUNTIME, "IllegalAddress");
    assert_outcome("faults", "misaligned", OUTCOME_RUNTIME,
                   "MisalignedAddress");
    assert_outcome("faults", "traps", OUTCOME_RUNTIME, "LaunchFailure");
}

static void impossible_launches_are_constraints(void **state)
{
    struct wire_request request;

    (void)state;
    assert_outcome("faults", "few_threads", OUTCOME_CONSTRAINTS,
                   "128 threads per block");
    request_of(&request, "add", "right");
    request.measure.kernel.smem = 1 << 20;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.result.outcome, OUTCOME_CONSTRAINTS);
    assert_non_null(strstr(box.reply.result.detail, "1048576 bytes"));
}

/* 40 KiB and 16 KiB: neither alone needs to be asked for. */
static void static_and_dynamic_shared_memory_are_granted_together(void **state)
{
    struct wire_request request;

    (void)state;
    request_of(&request, "faults", "static_smem");
    request.measure.kernel.smem = 16 << 10;
    assert_true(box_ask(&box, &request));
    assert_string_equal(box.reply.result.detail, "");
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
    assert_int_equal(box.reply.result.usage.static_smem, 40 << 10);
}

static void endless_kernel_times_out(void **state)
{
    (void)state;
    assert_outcome("add", "endless", OUTCOME_TIMEOUT, "still running after 2");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_are_those_of_the_host_to_the_bit),
        cmocka_unit_test(looks_are_those_of_the_host),
        CASE(correct_kernel_is_timed),
        CASE(long_series_are_held_at_the_gate_batch_by_batch),
        CASE(inputs_rotate_and_are_checked),
        CASE(wrong_values_are_correctness),
        CASE(nothing_is_kept_from_launch_to_launch),
        CASE(writes_elsewhere_are_runtime_errors),
        CASE(faults_are_runtime_errors),
        CASE(impossible_launches_are_constraints),
        CASE(static_and_dynamic_shared_memory_are_granted_together),
        CASE(endless_kernel_times_out),
    };

    if (access("/dev/nvidiactl", F_OK) < 0) {
        print_message("skipped: no NVIDIA device on this machine\n");
        return 77; /* SKIP_RETURN_CODE */
    }
    return cmocka_run_group_tests(tests, build_all, NULL);
}
