#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <time.h>

#include <cmocka.h>

#include "common/clock.h"

#define UTC_S 1700000000

static time_t boot_s = 1000, utc_s = UTC_S;

/* In place of the C library's. */
int clock_gettime(clockid_t id, struct timespec *out)
{
    *out = (struct timespec){ .tv_sec = id == CLOCK_REALTIME ? utc_s : boot_s };
    return 0;
}

static void a_clock_that_is_set_does_not_move_the_steady_one(void **state)
{
    (void)state;
    assert_int_equal(clock_steady_utc_ns(), UTC_S * NS_PER_S);
    boot_s += 10;
    utc_s += 10 + 3600;
    assert_int_equal(clock_steady_utc_ns(), (UTC_S + 10) * NS_PER_S);
    assert_int_equal(clock_utc_ns(), (UTC_S + 3610) * NS_PER_S);
    boot_s += 5;
    utc_s -= 7200;
    assert_int_equal(clock_steady_utc_ns(), (UTC_S + 15) * NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_is_set_does_not_move_the_steady_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
