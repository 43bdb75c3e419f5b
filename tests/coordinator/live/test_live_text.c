#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/live/live_text.h"

static char out[LIVE_TEXT_BYTES];

static void times_have_three_decimals(void **state)
{
    (void)state;
    assert_string_equal(live_text_time(676.1234e-6, out), "676.123 us");
    assert_string_equal(live_text_time(1e-3, out), "1.000 ms");
    assert_string_equal(live_text_time(0.0015, out), "1.500 ms");
    assert_string_equal(live_text_time(1, out), "1.000 s");
    assert_string_equal(live_text_time(61.5, out), "61.500 s");
}

static void durations_have_two_units(void **state)
{
    (void)state;
    assert_string_equal(live_text_duration(0, out), "0 s");
    assert_string_equal(live_text_duration(59.4, out), "59 s");
    assert_string_equal(live_text_duration(59.5, out), "1 min 00 s");
    assert_string_equal(live_text_duration(725, out), "12 min 05 s");
    assert_string_equal(live_text_duration(3599, out), "59 min 59 s");
    assert_string_equal(live_text_duration(3600, out), "1 h 00 min");
    assert_string_equal(live_text_duration(3720, out), "1 h 02 min");
}

static void dollars_have_four_decimals(void **state)
{
    (void)state;
    assert_string_equal(live_text_usd(0.12344, out), "$0.1234");
    assert_string_equal(live_text_usd(12, out), "$12.0000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_three_decimals),
        cmocka_unit_test(durations_have_two_units),
        cmocka_unit_test(dollars_have_four_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
