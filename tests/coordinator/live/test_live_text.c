#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/estimate/estimate.h"
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

static void what_is_left_is_a_range_or_one_number(void **state)
{
    static const struct {
        struct estimate_range s;
        const char *text;
    } rows[] = {
        { { 0, 3.2, 8.1 }, "up to 9 s" },
        { { 45.7, 61, 80.2 }, "45-81 s" },
        { { 40, 100, 180 }, "40 s to 3 min" },
        { { 190, 240, 300 }, "3.1-5 min" },
        { { 725, 800, 1000 }, "12-17 min" },
        { { 1800, 5000, 9000 }, "30 min to 2.5 h" },
        { { 36100, 40000, 45000 }, "10-13 h" },
        { { 698, 725, 770 }, "about 12 min 05 s" },
        { { 2175, 2175, 2175 }, "about 36 min 15 s" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(live_text_left(&rows[i].s, out), rows[i].text);
}

static void dollars_that_are_left_are_rounded_outwards(void **state)
{
    static const struct {
        struct estimate_range usd;
        const char *text;
    } rows[] = {
        { { 0, 0.01, 0.0603 }, "up to $0.0603" },
        { { 0.02001, 0.02505, 0.02999 }, "$0.0200-0.0300" },
        { { 0.1908, 0.22, 0.2501 }, "$0.190-0.251" },
        { { 1.234, 2, 12.001 }, "$1.23-12.01" },
        { { 0.2175, 0.22, 0.23 }, "$0.2200" },
        { { 0, 0, 0 }, "$0.0000" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(live_text_left_usd(&rows[i].usd, out),
                            rows[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_three_decimals),
        cmocka_unit_test(durations_have_two_units),
        cmocka_unit_test(dollars_have_four_decimals),
        cmocka_unit_test(what_is_left_is_a_range_or_one_number),
        cmocka_unit_test(dollars_that_are_left_are_rounded_outwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
