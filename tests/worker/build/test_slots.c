/* test_slots.c - so many builds at once, in the order of their leases */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "tests/worker/build/build_fixture.h"
#include "worker/build/slots.h"

static void slots_build_so_many_at_once_in_order(void **state)
{
    struct build_job job = build_fixture_job("#error one\n", "");
    struct slots *slots = slots_new(&build_fixture_tools, 1);
    struct build_result result;
    int64_t lease, until_ns = clock_boot_ns() + 30 * NS_PER_S;
    struct err err;

    (void)state;
    job.key = "7123456789abcdef0123456789abcdef";
    assert_int_equal(slots_add(slots, 11, &job, &err), 0);
    assert_int_equal(slots_add(slots, 12, &job, &err), 0);
    assert_int_equal(slots_add(slots, 13, &job, &err), ERR_INPUT);
    assert_int_equal(slots_deadline_ns(slots), 0); /* a slot is free */
    assert_string_equal(err.text, "lease 13 is over the credit of 2 builds");
    slots_step(slots, clock_boot_ns());
    assert_true(slots_deadline_ns(slots) > 0); /* 12 waits for its end */
    assert_true(slots_next_started(slots, &lease));
    assert_int_equal(lease, 11);
    assert_false(slots_next_started(slots, &lease));
    slots_cancel(slots, 12);
    while (!slots_next_result(slots, &lease, &result)) {
        assert_true(clock_boot_ns() < until_ns);
        slots_step(slots, clock_boot_ns());
    }
    assert_int_equal(lease, 11);
    assert_string_equal(result.detail, "kernel.cu:1:2: error: #error one");
    assert_int_equal(slots_busy(slots), 0);
    build_result_fini(&result);
    slots_free(slots);
}

static void cancelled_build_leaves_nothing(void **state)
{
    struct build_job job = build_fixture_job("#include \"kernel.cu\"\n", "");
    struct slots *slots = slots_new(&build_fixture_tools, 1);

    (void)state;
    job.key = "8123456789abcdef0123456789abcdef";
    assert_int_equal(slots_add(slots, 1, &job, NULL), 0);
    slots_step(slots, clock_boot_ns());
    assert_int_equal(build_fixture_entries("tmp"), 1);
    slots_free(slots);
    assert_int_equal(build_fixture_entries("tmp"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_build_so_many_at_once_in_order),
        cmocka_unit_test(cancelled_build_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, build_fixture_set_up,
                                  build_fixture_tear_down);
}
