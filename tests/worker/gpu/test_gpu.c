#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/outcome.h"
#include "tests/worker/gpu/gpu_fixture.h"
#include "worker/gpu/gpu_share.h"
#include "worker/gpu/gpus.h"
#include "worker/process/sandbox.h"
#include "worker/process/sandbox_policy.h"

static void right_kernel_is_measured(void **state)
{
    struct gpu *gpu = gpu_fixture_open(RUNNER);
    struct gpu_result result = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_CORRECT);
    assert_int_equal(result.wire.n_samples, 5);
    assert_true(result.wire.checked.launches >= 5);
    assert_true(result.wire.samples[0] > 0);
    assert_false(result.repeated);
    assert_memory_equal(gpu_uuid(gpu), "CPU-", 4);
    assert_string_not_equal(gpu_fact(gpu, "sm_count"), "");
    gpu_close(gpu);
}

static void wrong_kernel_is_measured_again_before_it_is_believed(void **state)
{
    struct gpu *gpu = gpu_fixture_open(RUNNER);
    struct gpu_result first = MEASURE(gpu, "right");
    struct gpu_result wrong = MEASURE(gpu, "element_wrong");
    struct gpu_result after = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(first.outcome, OUTCOME_CORRECT);
    assert_int_equal(wrong.outcome, OUTCOME_CORRECTNESS);
    assert_true(wrong.repeated);
    assert_int_equal(wrong.wire.max_at, 777);
    assert_int_equal(after.outcome, OUTCOME_CORRECT);
    gpu_close(gpu);
}

static void failure_of_a_fresh_runner_is_believed_at_once(void **state)
{
    struct gpu *gpu = gpu_fixture_open(RUNNER);
    struct gpu_result result = MEASURE(gpu, "element_wrong");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_CORRECTNESS);
    assert_false(result.repeated);
    gpu_close(gpu);
}

static void what_is_asked_of_a_fresh_runner_finds_one(void **state)
{
    struct gpu_job job = { .lease = 7,
                           .request = REQUEST("element_wrong"),
                           .artifact = KERNELS "element_wrong.so",
                           .reference = KERNELS "sum.so",
                           .fresh = true };
    struct gpu *gpu = gpu_fixture_open(RUNNER);
    struct gpu_result before = MEASURE(gpu, "right");
    struct gpu_result fresh = gpu_fixture_measure_job(gpu, &job);
    struct gpu_result after = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(before.outcome, OUTCOME_CORRECT);
    assert_int_equal(fresh.outcome, OUTCOME_CORRECTNESS);
    assert_false(fresh.repeated); /* nothing that it could have inherited */
    assert_int_equal(after.outcome, OUTCOME_CORRECT);
    gpu_close(gpu);
}

static void kernels_that_fault_are_runtime_and_leave_nothing(void **state)
{
    struct gpu *gpu = gpu_fixture_open(RUNNER);
    struct gpu_result fault = MEASURE(gpu, "past_the_end");
    struct gpu_result after = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(fault.outcome, OUTCOME_RUNTIME);
    assert_string_not_equal(fault.detail, "");
    assert_int_equal(after.outcome, OUTCOME_CORRECT);
    gpu_close(gpu);
}

static void kernel_that_exits_is_a_crash(void **state)
{
    struct gpu *gpu = gpu_fixture_open(RUNNER);
    struct gpu_result result = MEASURE(gpu, "exits");
    struct gpu_result after = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_string_equal(result.detail, "exit status 0");
    assert_int_equal(result.wire.max_at, -1);
    assert_int_equal(result.wire.checked.launches, -1);
    assert_true(isnan(result.wire.relative_l2));
    assert_int_equal(after.outcome, OUTCOME_CORRECT);
    gpu_close(gpu);
}

static void runner_that_hangs_is_killed_at_the_limit(void **state)
{
    struct gpu *gpu = gpu_fixture_open(
        gpu_fixture_script(SAY_OPEN "trap '' TERM; while :; do sleep 1; done"));
    struct gpu_result result = gpu_fixture_measure(
        gpu, REQUEST("right"), KERNELS "right.so", NS_PER_S / 4);

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_TIMEOUT);
    assert_string_equal(result.detail, "no answer within 0.25 s");
    assert_true(result.seconds < 3);
    assert_int_equal(gpu_fixture_settle(gpu), GPU_IDLE);
    gpu_close(gpu);
}

static void death_by_signal_names_it_and_the_last_words(void **state)
{
    struct gpu *gpu = gpu_fixture_open(gpu_fixture_script(
        SAY_OPEN READ_REQUEST "echo bad address >&2; kill -SEGV $$"));
    struct gpu_result result = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_RUNTIME);
    assert_string_equal(result.detail, "signal 11 (SIGSEGV): bad address");
    gpu_close(gpu);
}

static void kill_from_outside_is_the_boxs_fault(void **state)
{
    struct gpu *gpu = gpu_fixture_open(
        gpu_fixture_script(SAY_OPEN READ_REQUEST "kill -KILL $$"));
    struct gpu_result result = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_string_equal(result.detail, "signal 9 (SIGKILL)");
    gpu_close(gpu);
}

/* Slurm sends it to all processes of a job that it preempts. */
static void term_from_outside_is_the_boxs_fault(void **state)
{
    struct gpu *gpu = gpu_fixture_open(
        gpu_fixture_script(SAY_OPEN READ_REQUEST "kill -TERM $$"));
    struct gpu_result result = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_string_equal(result.detail, "signal 15 (SIGTERM)");
    gpu_close(gpu);
}

static void garbage_on_the_pipe_is_a_crash(void **state)
{
    struct gpu *gpu = gpu_fixture_open(
        gpu_fixture_script(SAY_OPEN READ_REQUEST "echo hello; sleep 100"));
    struct gpu_result result = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_non_null(strstr(result.detail, "hello"));
    gpu_close(gpu);
}

#define SAY_USELESS READ_REQUEST "printf 'reference bad\\npoisoned 0\\n\\n'; "

static void useless_reference_is_told_as_such(void **state)
{
    struct gpu *gpu =
        gpu_fixture_open(gpu_fixture_script(SAY_OPEN SAY_USELESS));
    struct gpu_result result = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_string_equal(result.detail, "bad");
    assert_true(result.reference);
    assert_false(result.repeated);
    gpu_close(gpu);
}

static void death_in_the_reference_is_the_references(void **state)
{
    struct gpu *gpu = gpu_fixture_open(gpu_fixture_script(
        SAY_OPEN READ_REQUEST "echo progress reference; kill -SEGV $$"));
    struct gpu_result result = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_string_equal(result.detail, "reference: signal 11 (SIGSEGV)");
    assert_true(result.reference);
    gpu_close(gpu);
}

/* The kernel before it may have damaged the process. */
static void reference_fails_in_a_fresh_runner_before_it_is_blamed(void **state)
{
    struct gpu *gpu = gpu_fixture_open(gpu_fixture_script(
        SAY_OPEN "[ -e useless ] || { touch useless; " SAY_CORRECT SAY_USELESS
                 "exit 1; }; " SAY_CORRECT "exit 0"));
    struct gpu_result first = MEASURE(gpu, "right");
    struct gpu_result second = MEASURE(gpu, "right");

    (void)state;
    assert_int_equal(first.outcome, OUTCOME_CORRECT);
    assert_int_equal(second.outcome, OUTCOME_CORRECT);
    assert_true(second.repeated);
    assert_false(second.reference);
    gpu_close(gpu);
}

/* The first process measures once, and the second request kills it; the next
 * process measures that one. */
static void inherited_failure_is_not_believed(void **state)
{
    struct gpu *gpu = gpu_fixture_open(gpu_fixture_script(
        SAY_OPEN SAY_CORRECT "[ -e first ] || { touch first; " READ_REQUEST
                             "kill -SEGV $$; }; " SAY_CORRECT "exit 0"));
    struct gpu_result first = MEASURE(gpu, "right");
    struct gpu_result second = MEASURE(gpu, "right");

    (void)state;
    assert_string_equal(first.detail, "");
    assert_int_equal(first.outcome, OUTCOME_CORRECT);
    assert_int_equal(second.outcome, OUTCOME_CORRECT);
    assert_true(second.repeated);
    gpu_close(gpu);
}

static void device_that_cannot_be_opened_is_trouble(void **state)
{
    struct gpu *gpu = gpu_fixture_open(gpu_fixture_script(
        READ_REQUEST
        "printf 'error no CUDA device\\npoisoned 1\\n\\n'; sleep 100"));

    (void)state;
    assert_int_equal(gpu_fixture_settle(gpu), GPU_TROUBLE);
    assert_string_equal(gpu_trouble(gpu), "no CUDA device");
    gpu_close(gpu);
}

static void runner_that_never_opens_is_trouble_after_three_tries(void **state)
{
    struct gpu *gpu = gpu_fixture_open(gpu_fixture_script(
        "echo x >> tries; echo libcuda.so.1 missing >&2; exit 1"));

    (void)state;
    assert_int_equal(gpu_fixture_settle(gpu), GPU_TROUBLE);
    assert_string_equal(gpu_trouble(gpu),
                        "fa-runner cannot open the device: exit status 1: "
                        "libcuda.so.1 missing");
    gpu_close(gpu);
}

/* It tells its network devices: two lines of a heading, and "lo". */
static void runner_of_the_cpu_device_has_no_network(void **state)
{
    struct gpu_spec spec = {
        .device = "cpu",
        .gpu = "0",
        .runner = gpu_fixture_script(READ_REQUEST
                                     "printf 'ok\\nfact uuid %s\\n\\n' "
                                     "$(wc -l </proc/net/dev); read -r line"),
        .dir = gpu_fixture_dir,
    };
    struct sandbox *sandbox;
    struct gpu *gpu;
    bool offline;

    (void)state;
    assert_int_equal(
        sandbox_policy_new(&(struct sandbox_policy){ .dir = gpu_fixture_dir,
                                                     .home = gpu_fixture_dir,
                                                     .database = "",
                                                     .allow = "" },
                           &sandbox, NULL),
        0);
    offline = sandbox->means == SANDBOX_MOUNTS && sandbox->offline;
    spec.sandbox = sandbox;
    assert_int_equal(gpu_open(&spec, clock_boot_ns(), &gpu, NULL), 0);
    assert_int_equal(gpu_fixture_settle(gpu), GPU_IDLE);
    if (offline)
        assert_string_equal(gpu_fact(gpu, "uuid"), "3");
    gpu_close(gpu);
    sandbox_free(sandbox);
}

static void cancelled_measurement_gives_no_result(void **state)
{
    struct gpu *gpu =
        gpu_fixture_open(gpu_fixture_script(SAY_OPEN "sleep 1000"));
    struct gpu_job job = { .request = REQUEST("right"),
                           .artifact = KERNELS "right.so",
                           .reference = KERNELS "sum.so" };
    struct gpu_result result;

    (void)state;
    assert_int_equal(gpu_fixture_settle(gpu), GPU_IDLE);
    assert_int_equal(gpu_measure(gpu, &job, clock_boot_ns(), NULL), 0);
    gpu_cancel(gpu, clock_boot_ns());
    assert_int_equal(gpu_state(gpu), GPU_STARTING);
    assert_int_equal(gpu_fixture_settle(gpu), GPU_IDLE);
    assert_false(gpu_next_result(gpu, &result));
    gpu_close(gpu);
}

static void request_that_is_none_is_refused(void **state)
{
    struct gpu *gpu = gpu_fixture_open(RUNNER);
    struct gpu_job job = { .artifact = KERNELS "right.so",
                           .reference = KERNELS "sum.so" };
    struct err err;

    (void)state;
    assert_int_equal(gpu_fixture_settle(gpu), GPU_IDLE);
    job.request = REQUEST("right") "quit\n";
    assert_int_equal(gpu_measure(gpu, &job, clock_boot_ns(), &err), ERR_PROTO);
    job.request = REQUEST("right") "artifact /etc/passwd\n";
    assert_int_equal(gpu_measure(gpu, &job, clock_boot_ns(), &err), ERR_PROTO);
    job.request = "";
    assert_int_equal(gpu_measure(gpu, &job, clock_boot_ns(), &err), ERR_PROTO);
    job.request = REQUEST("right");
    job.artifact = "/nowhere/a"; /* evicted meanwhile */
    assert_int_equal(gpu_measure(gpu, &job, clock_boot_ns(), &err), ERR_SYSTEM);
    assert_int_equal(gpu_state(gpu), GPU_IDLE);
    gpu_close(gpu);
}

static void lists_of_gpus_are_checked(void **state)
{
    static const char *const bad[] = { "", "0,0", "x", "0,", "-1", "0 1" };
    struct gpu_spec spec = { .device = "cpu",
                             .runner = RUNNER,
                             .dir = gpu_fixture_dir };
    struct gpus *gpus;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(gpus_open(&spec, bad[i], NULL, 0, &gpus, &err),
                         ERR_INPUT);
    assert_string_equal(
        err.text,
        "gpus '0 1': write all, none, or indices such as 0,1, each once");
    assert_int_equal(gpus_open(&spec, "none", NULL, 0, &gpus, &err), 0);
    assert_int_equal(gpus_step(gpus, 0, &err), 1);
    assert_int_equal(gpus_count(gpus), 0);
    gpus_close(gpus);
}

static void all_gpus_of_the_cpu_device_are_one(void **state)
{
    struct gpu_spec spec = { .device = "cpu",
                             .runner = RUNNER,
                             .dir = gpu_fixture_dir };
    int64_t until_ns = clock_boot_ns() + 20 * NS_PER_S;
    struct gpus *gpus;
    struct err err;
    int rc;

    (void)state;
    assert_int_equal(
        gpus_open(&spec, "all", NULL, clock_boot_ns(), &gpus, &err), 0);
    while ((rc = gpus_step(gpus, clock_boot_ns(), &err)) == 0)
        assert_true(clock_boot_ns() < until_ns);
    assert_int_equal(rc, 1);
    assert_int_equal(gpus_count(gpus), 1);
    assert_ptr_equal(gpus_find(gpus, gpu_uuid(gpus_at(gpus, 0))),
                     gpus_at(gpus, 0));
    assert_null(gpus_find(gpus, "GPU-0"));
    gpus_close(gpus);
}

static void step_until(struct gpus *gpus, size_t n)
{
    int64_t until_ns = clock_boot_ns() + 20 * NS_PER_S;
    struct err err;

    for (;;) {
        int rc = gpus_step(gpus, clock_boot_ns(), &err);

        assert_true(rc >= 0);
        if (rc == 1 && gpus_count(gpus) == n)
            return;
        assert_true(clock_boot_ns() < until_ns);
        poll(NULL, 0, 5);
    }
}

static void a_gpu_of_another_worker_is_opened_when_it_is_free(void **state)
{
    struct gpu_spec spec = { .device = "cpu",
                             .runner = RUNNER,
                             .dir = gpu_fixture_dir };
    struct gpu_share *other, *share;
    struct gpus *gpus;
    struct err err;

    (void)state;
    assert_int_equal(gpu_share_open(gpu_fixture_dir, "1", &other, &err), 0);
    assert_int_equal(gpu_share_open(gpu_fixture_dir, "1,2", &share, &err), 0);
    assert_int_equal(
        gpus_open(&spec, "1,2", share, clock_boot_ns(), &gpus, &err), 0);
    step_until(gpus, 1);
    assert_true(gpus_lack_some(gpus));
    assert_non_null(strstr(gpu_uuid(gpus_at(gpus, 0)), "-2"));
    gpu_share_close(other);
    assert_int_equal(gpu_share_take(share), 1);
    gpus_grow(gpus, share, clock_boot_ns());
    gpus_grow(gpus, share, clock_boot_ns()); /* adds none */
    assert_int_equal(gpus_count(gpus), 1);   /* until it is open */
    step_until(gpus, 2);
    assert_string_not_equal(gpu_uuid(gpus_at(gpus, 0)),
                            gpu_uuid(gpus_at(gpus, 1)));
    gpus_close(gpus);
    gpu_share_close(share);
}

static void what_is_no_gpu_needs_one_of_all(void **state)
{
    struct gpu_spec spec = { .device = "cpu",
                             .runner = RUNNER,
                             .dir = gpu_fixture_dir };
    struct gpu_share *other, *share;
    struct gpus *gpus;
    struct err err;

    (void)state;
    assert_int_equal(gpu_share_open(gpu_fixture_dir, "1", &other, &err), 0);
    assert_int_equal(gpu_share_open(gpu_fixture_dir, "1,2", &share, &err), 0);
    assert_int_equal(
        gpus_open(&spec, "all", share, clock_boot_ns(), &gpus, &err), 0);
    step_until(gpus, 1);
    assert_false(gpus_lack_some(gpus));
    gpu_share_close(other);
    assert_int_equal(gpu_share_take(share), 1);
    gpus_grow(gpus, share, clock_boot_ns());
    step_until(gpus, 1);
    gpus_close(gpus);
    gpu_share_close(share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernel_is_measured),
        cmocka_unit_test(wrong_kernel_is_measured_again_before_it_is_believed),
        cmocka_unit_test(failure_of_a_fresh_runner_is_believed_at_once),
        cmocka_unit_test(what_is_asked_of_a_fresh_runner_finds_one),
        cmocka_unit_test(kernels_that_fault_are_runtime_and_leave_nothing),
        cmocka_unit_test(kernel_that_exits_is_a_crash),
        cmocka_unit_test(runner_that_hangs_is_killed_at_the_limit),
        cmocka_unit_test(death_by_signal_names_it_and_the_last_words),
        cmocka_unit_test(kill_from_outside_is_the_boxs_fault),
        cmocka_unit_test(term_from_outside_is_the_boxs_fault),
        cmocka_unit_test(garbage_on_the_pipe_is_a_crash),
        cmocka_unit_test(useless_reference_is_told_as_such),
        cmocka_unit_test(death_in_the_reference_is_the_references),
        cmocka_unit_test(reference_fails_in_a_fresh_runner_before_it_is_blamed),
        cmocka_unit_test(inherited_failure_is_not_believed),
        cmocka_unit_test(device_that_cannot_be_opened_is_trouble),
        cmocka_unit_test(runner_that_never_opens_is_trouble_after_three_tries),
        cmocka_unit_test(runner_of_the_cpu_device_has_no_network),
        cmocka_unit_test(cancelled_measurement_gives_no_result),
        cmocka_unit_test(request_that_is_none_is_refused),
        cmocka_unit_test(lists_of_gpus_are_checked),
        cmocka_unit_test(all_gpus_of_the_cpu_device_are_one),
        cmocka_unit_test(a_gpu_of_another_worker_is_opened_when_it_is_free),
        cmocka_unit_test(what_is_no_gpu_needs_one_of_all),
    };

    return cmocka_run_group_tests(tests, gpu_fixture_set_up,
                                  gpu_fixture_tear_down);
}
