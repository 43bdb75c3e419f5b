#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/schedule/arrivals.h"

#define WINDOW (16 * ARRIVALS_FLOOR) /* 16 s at the slowest rate */
#define FLOOR_NS (16 * NS_PER_S)

static struct arrivals *arrivals;

static int set_up(void **state)
{
    (void)state;
    arrivals = arrivals_new(2, 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arrivals_free(arrivals);
    return 0;
}

static int64_t asked(size_t host, size_t file, int64_t offset, int64_t at_s)
{
    return arrivals_asked(arrivals, host, file, offset, at_s * NS_PER_S);
}

static void time_between_two_windows_counts(void **state)
{
    (void)state;
    assert_int_equal(asked(0, 0, 0, 100), 0);
    assert_int_equal(asked(0, 0, WINDOW, 107), 7 * NS_PER_S);
    assert_int_equal(asked(0, 0, 2 * WINDOW, 120), 13 * NS_PER_S);
}

static void slower_than_the_floor_does_not_count(void **state)
{
    (void)state;
    asked(0, 0, 0, 100);
    assert_int_equal(asked(0, 0, WINDOW, 500), FLOOR_NS);
    assert_int_equal(asked(0, 0, WINDOW + WINDOW / 2, 900), FLOOR_NS / 2);
}

/* Whatever a host asks for, it ends. */
static void a_file_counts_for_its_bytes_at_the_floor(void **state)
{
    int64_t sum = 0;

    (void)state;
    for (int64_t i = 0; i < 1000; i++)
        sum += asked(0, 0, i * 7919 % (4 * WINDOW), 100 + 1000 * i);
    assert_true(sum > 0);
    assert_true(sum <= 4 * FLOOR_NS);
}

static void what_is_asked_again_does_not_count(void **state)
{
    (void)state;
    asked(0, 0, 0, 100);
    assert_int_equal(asked(0, 0, 0, 110), 0);
    assert_int_equal(asked(0, 0, WINDOW, 112), 12 * NS_PER_S);
    assert_int_equal(asked(0, 0, WINDOW, 113), 0);
    assert_int_equal(asked(0, 0, 0, 114), 0);
}

static void two_files_at_once_count_once(void **state)
{
    (void)state;
    asked(0, 0, 0, 100);
    asked(0, 1, 0, 100);
    assert_int_equal(asked(0, 0, WINDOW, 108), 8 * NS_PER_S);
    assert_int_equal(asked(0, 1, WINDOW, 110), 2 * NS_PER_S);
}

static void hosts_have_nothing_in_common(void **state)
{
    (void)state;
    asked(0, 0, 0, 100);
    asked(1, 0, 0, 103);
    assert_int_equal(asked(0, 0, WINDOW, 108), 8 * NS_PER_S);
    assert_int_equal(asked(1, 0, WINDOW, 108), 5 * NS_PER_S);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(time_between_two_windows_counts),
        CASE(slower_than_the_floor_does_not_count),
        CASE(a_file_counts_for_its_bytes_at_the_floor),
        CASE(what_is_asked_again_does_not_count),
        CASE(two_files_at_once_count_once),
        CASE(hosts_have_nothing_in_common),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
