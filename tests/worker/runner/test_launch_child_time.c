#include <fcntl.h>
#include <setjmp.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/runner/device/launch_child.h"

#define OBJECT FA_BINARY_DIR "/tests/fixtures/computes_early.so"
#define ENDLESS FA_BINARY_DIR "/tests/fixtures/endless.so"
#define EARLY_S 0.02 /* what the kernel takes before it is started */
#define DEADLINE_S 60

static double clock_of(clockid_t clock)
{
    struct timespec now;

    assert_int_equal(clock_gettime(clock, &now), 0);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void await_use(pid_t pid, double seconds)
{
    const double end = clock_of(CLOCK_MONOTONIC) + DEADLINE_S;
    clockid_t clock;

    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    while (clock_of(clock) < seconds) {
        assert_true(clock_of(CLOCK_MONOTONIC) < end);
        sched_yield();
    }
}

static void time_begins_when_the_kernel_is_loaded(void **state)
{
    const struct launch_child_object object = { open(OBJECT, O_RDONLY),
                                                OBJECT };
    float a = 1, b = 2, out = 0, *p[] = { &a, &b, &out };
    int64_t n = 1;
    void *args[] = { &p[0], &p[1], &p[2], &n };
    const struct device_launch launch = {
        .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .args = args, .n_args = 4
    };
    struct launch_child_reply reply;
    struct launch_child child;
    struct device_err err;
    double seconds;

    (void)state;
    assert_true(object.file >= 0);
    assert_int_equal(launch_child_start(&object, &child, &err), 0);
    /* loading takes some as well; then it is beyond both */
    await_use(child.pid, child.loaded_s + EARLY_S);
    assert_int_equal(launch_child_run(&child, &launch,
                                      (struct emulator_order){ .blocks = 0 },
                                      launch_child_limits(10), &reply, &seconds,
                                      &err),
                     0);
    assert_int_equal(reply.outcome, EMULATOR_DONE);
    assert_true(seconds >= EARLY_S);
    close(object.file);
}

static void loop_without_primitive_ends_by_its_processor_time(void **state)
{
    const struct launch_child_object object = { open(ENDLESS, O_RDONLY),
                                                ENDLESS };
    const struct launch_child_limits limits = { .processor_s = 0.1,
                                                .wall_s = 20 };
    float a = 1, b = 2, out = 0, *p[] = { &a, &b, &out };
    int64_t n = 1;
    void *args[] = { &p[0], &p[1], &p[2], &n };
    const struct device_launch launch = {
        .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .args = args, .n_args = 4
    };
    struct launch_child_reply reply;
    struct launch_child child;
    struct device_err err;
    double seconds;

    (void)state;
    assert_true(object.file >= 0);
    assert_int_equal(launch_child_start(&object, &child, &err), 0);
    assert_int_equal(launch_child_run(&child, &launch,
                                      (struct emulator_order){ .blocks = 0 },
                                      limits, &reply, &seconds, &err),
                     0);
    assert_int_equal(reply.outcome, EMULATOR_TIMEOUT);
    assert_string_equal(reply.text,
                        "time is up in thread (0,0,0) of block (0,0,0)");
    assert_true(seconds < 2);
    close(object.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_begins_when_the_kernel_is_loaded),
        cmocka_unit_test(loop_without_primitive_ends_by_its_processor_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
