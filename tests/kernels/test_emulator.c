/* Every bug of tests/fixtures/kernels/faults.cu is reported, in these words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fnmatch.h>

#include "tests/kernels/fixture.h"
#include "worker/runner/emulator/emulator.h"

#define SOURCE "tests/fixtures/kernels/faults.cu"

enum {
    N = 2048,      /* elements of 'in' and 'out' */
    N_FAULTS = 32, /* of the fixture */
    ENDLESS = 31
};

static struct device_kernel *kernel;
static struct device_buffer *in, *out;

static int launch_of(struct device_kernel *loaded, int fault, size_t smem,
                     double timeout_s, struct device_err *err)
{
    void *addresses[2] = { device_address(in), device_address(out) };
    void *args[3] = { &addresses[0], &addresses[1], &fault };
    const struct device_launch l = { .kernel = loaded,
                                     .grid = { 2, 1, 1 },
                                     .block = { 64, 1, 1 },
                                     .smem = smem,
                                     .args = args,
                                     .n_args = 3 };

    return device_run(NULL, &l, timeout_s, err);
}

/* The first launch of the kernel. */
static int launch(int fault, size_t smem, double timeout_s,
                  struct device_err *err)
{
    struct device_kernel *loaded = fixture_load_again("faults");
    const int rc = launch_of(loaded, fault, smem, timeout_s, err);

    device_unload(NULL, loaded);
    return rc;
}

static void launch_after_the_first_names_its_order(void **state)
{
    struct device_err err;

    (void)state;
    assert_int_equal(launch_of(kernel, 0, 2048, 10, &err), 0);
    assert_int_equal(launch_of(kernel, 3, 2048, 10, &err), DEVICE_FAULT);
    assert_int_equal(fnmatch("out of bounds: *, faults.cu:*; blocks and "
                             "threads ran in drawn order 2",
                             err.text, 0),
                     0);
}

static void correct_kernel_reverses_each_block(void **state)
{
    const uint16_t *result = device_address(out);
    struct device_err err;

    (void)state;
    assert_int_equal(launch(0, 2048, 10, &err), 0);
    /* vector i of block 0 comes from vector 127 - i; element 0, 5 and 8 */
    assert_int_equal(result[0], 127 * 8);
    assert_int_equal(result[5], 127 * 8 + 5);
    assert_int_equal(result[8], 126 * 8);
    assert_int_equal(result[1024], 1024 + 127 * 8);
    assert_int_equal(result[2047], 1024 + 7);
}

/* '*' stands for an address or a line number. */
static const char *const texts[N_FAULTS] = {
    NULL,
    "misaligned address: 16-byte cp_async write of shared memory + 130 by "
    "thread (1,0,0) of block (0,0,0), faults.cu:*",
    "misaligned address 0x*: 16-byte cp_async read of 'in' + 130 by thread "
    "(1,0,0) of block (0,0,0), faults.cu:*",
    "out of bounds: 16-byte cp_async write of shared memory + 2048 by thread "
    "(0,0,0) of block (0,0,0), faults.cu:*; the launch has 2048 bytes",
    "out of bounds 0x*: 16-byte cp_async read of 'in' + 4096 (4096 bytes long) "
    "by thread (0,0,0) of block (0,0,0), faults.cu:*",
    "out of bounds 0x*: 2-byte read of 'in' + 4096 (4096 bytes long) by thread "
    "(3,0,0) of block (0,0,0), faults.cu:*",
    "out of bounds 0x*: read of 'in' + 4096 (4096 bytes long) by thread "
    "(3,0,0) of block (0,0,0)",
    "out of bounds 0x*: read of 'in' - 4096 (4096 bytes long) by thread "
    "(3,0,0) of block (0,0,0)",
    "wild address 0x8: read of memory that is in no array by thread (3,0,0) of "
    "block (0,0,0)",
    "store to an input 0x*: 2-byte write of 'in' + 10 by thread (3,0,0) of "
    "block (0,0,0), faults.cu:*",
    "store to an input 0x*: write of 'in' + 10 by thread (3,0,0) of block "
    "(0,0,0)",
    "double store: 2-byte write of 'out' + 0 by thread (33,0,0) of block "
    "(0,0,0), faults.cu:*, where thread (32,0,0) of block (0,0,0) stored "
    "without a barrier between",
    NULL, /* the next test's: 'in' block 0 is correct */
    "missing cp_async_wait: 16-byte read of shared memory + 1024 by thread "
    "(63,0,0) of block (0,0,0), faults.cu:*, which thread (0,0,0) is still "
    "copying to",
    "missing cp_async_wait: 16-byte read of shared memory + 1024 by thread "
    "(63,0,0) of block (0,0,0), faults.cu:*, which thread (0,0,0) is still "
    "copying to",
    "missing cp_async_wait: 16-byte read of shared memory + 1024 by thread "
    "(63,0,0) of block (0,0,0), faults.cu:*, which thread (0,0,0) is still "
    "copying to",
    "unwritten shared memory: 16-byte read of shared memory + 2032 by thread "
    "(0,0,0) of block (0,0,0), faults.cu:*",
    "missing barrier: 16-byte read of shared memory + 1008 by thread (0,0,0) "
    "of "
    "block (0,0,0), faults.cu:*, which thread (63,0,0) wrote",
    "missing barrier: 16-byte cp_async write of shared memory + 0 by thread "
    "(32,0,0) of block (0,0,0), faults.cu:*, which thread (63,0,0) read",
    "unwritten shared memory: 2-byte read of shared memory + 16 by thread "
    "(0,0,0) of block (0,0,0), faults.cu:*",
    "missing barrier: 4-byte write of shared memory + 512 by thread (41,0,0) "
    "of block (0,0,0), faults.cu:*, which thread (40,0,0) wrote",
    "out of bounds: 2-byte read of shared memory + 2054 by thread (3,0,0) of "
    "block (0,0,0), faults.cu:*; the launch has 2048 bytes",
    "divergence: thread (32,0,0) of block (0,0,0) is at shfl_xor, faults.cu:*, "
    "but thread (63,0,0) of its warp is at vote, faults.cu:*",
    "divergence: thread (32,0,0) of block (0,0,0) is at shfl_xor, faults.cu:*, "
    "but thread (63,0,0) of its warp is at shfl_xor, faults.cu:*",
    "divergence: thread (35,0,0) of block (0,0,0) is at a barrier while thread "
    "(32,0,0) waits for it at syncwarp, faults.cu:*",
    "divergence: thread (32,0,0) of block (0,0,0) is at the barrier "
    "faults.cu:*, but thread (63,0,0) of its warp is at that of faults.cu:*",
    "divergence: thread (3,0,0) of block (0,0,0) exits while thread (0,0,0) "
    "waits for it at syncwarp, faults.cu:*",
    "early exit: thread (3,0,0) of block (0,0,0) has ended and never reaches "
    "the barrier where thread (0,0,0) waits, faults.cu:*",
    "trap by thread (3,0,0) of block (0,0,0), faults.cu:*",
    "integer division by zero by thread (3,0,0) of block (0,0,0)",
    "stack overflow in thread (3,0,0) of block (0,0,0)",
    NULL, /* ends by its time limit */
};

static void each_fault_is_reported(void **state)
{
    struct device_err err = { .text = "" };

    (void)state;
    for (int fault = 1; fault < N_FAULTS; fault++) {
        if (!texts[fault])
            continue;
        const int rc = launch(fault, 2048, 10, &err);

        if (rc != DEVICE_FAULT || fnmatch(texts[fault], err.text, 0) != 0)
            fail_msg("fault %d: %d, %s\nnot %s", fault, rc, err.text,
                     texts[fault]);
    }
}

/* A __syncwarp() in each branch, and a barrier a warp. */
static void legal_branches_are_no_fault(void **state)
{
    struct device_err err;

    (void)state;
    for (int fault = N_FAULTS; fault < N_FAULTS + 2; fault++)
        if (launch(fault, 2048, 10, &err) < 0)
            fail_msg("%d: %s", fault, err.text);
}

#ifdef __x86_64__
/* The processor tells neither the address nor that it is a store. */
static void store_that_no_address_can_be_is_no_read_of_0(void **state)
{
    struct device_err err;

    (void)state;
    assert_int_equal(launch(N_FAULTS + 2, 2048, 10, &err), DEVICE_FAULT);
    assert_string_equal(err.text, "wild address: access of memory beyond all "
                                  "addresses by thread (3,0,0) of block "
                                  "(0,0,0)");
}
#endif

static void correct_kernel_runs_after_a_fault(void **state)
{
    struct device_err err;

    (void)state;
    assert_int_equal(launch(3, 2048, 10, &err), DEVICE_FAULT);
    assert_int_equal(launch(0, 2048, 10, &err), 0);
}

static void unwritten_shared_memory_is_not_read(void **state)
{
    struct device_err err;

    (void)state;
    assert_int_equal(launch(21, 4096, 10, &err), DEVICE_FAULT);
    assert_int_equal(fnmatch("unwritten shared memory: 2-byte read of shared "
                             "memory + 2054 by thread (3,0,0) of block "
                             "(0,0,0), faults.cu:*",
                             err.text, 0),
                     0);
}

static void double_store_names_the_other_block(void **state)
{
    struct device_err err;

    (void)state;
    assert_int_equal(launch(12, 2048, 10, &err), DEVICE_FAULT);
    assert_int_equal(fnmatch("double store: *-byte write of 'out' + * by "
                             "thread (*,0,0) of block (*,0,0), faults.cu:*, "
                             "where thread (*,0,0) of block (*,0,0) stored "
                             "without a barrier between",
                             err.text, 0),
                     0);
}

static void launches_use_up_a_time_limit(void **state)
{
    const double before_s = device_clock_s(NULL);
    struct device_err err;
    double first_s;

    (void)state;
    assert_int_equal(launch(0, 2048, 10, &err), 0);
    first_s = device_clock_s(NULL) - before_s;
    assert_true(first_s > 0);
    assert_int_equal(launch(ENDLESS, 2048, 0.1, &err), DEVICE_TIMEOUT);
    assert_true(device_clock_s(NULL) - before_s > first_s);
}

static void endless_loop_ends_at_its_time_limit(void **state)
{
    struct device_err err;

    (void)state;
    assert_int_equal(launch(ENDLESS, 2048, 0.1, &err), DEVICE_TIMEOUT);
    assert_int_equal(
        fnmatch("time is up in thread (*,0,0) of block (0,0,0) in launch 1 of "
                "the kernel: measure.timeout_s is for all launches *",
                err.text, 0),
        0);
}

static void impossible_launch_is_refused(void **state)
{
    struct device_err err;

    (void)state;
    assert_int_equal(launch(0, 232449, 10, &err), DEVICE_REFUSED);
    assert_string_equal(err.text,
                        "232449 bytes of shared memory, at most 232448");
}

static void store_into_the_slack_is_found_afterwards(void **state)
{
    struct device_buffer *odd = fixture_buffer("odd", ELEMENT_FP16, 5);
    struct device_scan scan = { .buffer = odd };
    struct device_err err;

    (void)state;
    ((uint16_t *)device_address(odd))[6] = 0; /* 2 bytes after the end */
    assert_int_equal(device_scan(NULL, &scan, 1, &err), 0);
    assert_int_equal(scan.overrun, 3);
    device_free(NULL, odd);
}

static void fixture_builds_for_a_gpu_as_well(void **state)
{
    (void)state;
    assert_true(fixture_builds_for_gpu("faults", SOURCE, ""));
}

static int set_up(void **state)
{
    struct device_err err;

    (void)state;
    kernel = fixture_load("faults", SOURCE, "faults", "");
    in = fixture_buffer("in", ELEMENT_FP16, N);
    out = fixture_buffer("out", ELEMENT_FP16, N);
    for (int i = 0; i < N; i++)
        ((uint16_t *)device_address(in))[i] = (uint16_t)i;
    return device_guard(NULL, in, DEVICE_READ, &err);
}

/* As when a cache drops it while it is measured.  The last test: it is gone. */
static void object_that_was_removed_still_runs(void **state)
{
    struct device_err err;

    (void)state;
    fixture_remove("faults");
    assert_int_equal(launch_of(kernel, 0, 2048, 10, &err), 0);
}

static int tear_down(void **state)
{
    (void)state;
    device_free(NULL, in);
    device_free(NULL, out);
    device_unload(NULL, kernel);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_kernel_reverses_each_block),
        cmocka_unit_test(each_fault_is_reported),
        cmocka_unit_test(legal_branches_are_no_fault),
        cmocka_unit_test(launch_after_the_first_names_its_order),
#ifdef __x86_64__
        cmocka_unit_test(store_that_no_address_can_be_is_no_read_of_0),
#endif
        cmocka_unit_test(correct_kernel_runs_after_a_fault),
        cmocka_unit_test(unwritten_shared_memory_is_not_read),
        cmocka_unit_test(double_store_names_the_other_block),
        cmocka_unit_test(launches_use_up_a_time_limit),
        cmocka_unit_test(endless_loop_ends_at_its_time_limit),
        cmocka_unit_test(impossible_launch_is_refused),
        cmocka_unit_test(store_into_the_slack_is_found_afterwards),
        cmocka_unit_test(fixture_builds_for_a_gpu_as_well),
        cmocka_unit_test(object_that_was_removed_still_runs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
