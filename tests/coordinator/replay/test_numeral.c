#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/replay/numeral.h"

static void the_point_is_moved_in_the_text(void **state)
{
    static const struct {
        const char *text;
        int exponent;
        double want;
    } rows[] = {
        { "1", -3, 0.001 },
        { "12.265098571777344", -3, 0.012265098571777344 },
        { "2.5e2", -3, 0.25 },
        { "2.5E-2", 3, 25 },
        { "-0.5", 3, -500 },
        { "1e999999999999999999", -3, HUGE_VAL },
        { "1e-999999999999999999", 3, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (numeral_real(rows[i].text, rows[i].exponent) != rows[i].want)
            fail_msg("%s", rows[i].text);
}

static void a_plain_number_is_known(void **state)
{
    static const char *const numbers[] = { "0", "16", "-1", "0.500000",
                                           "-0.25" };
    static const char *const others[] = {
        "",      "-",
        "01",    "1.",
        ".5",    "1e5",
        "+1",    "0x1",
        " 1",    "1 ",
        "1a",    "inf",
        "1.5.2", "1234567890123456789012345678901234567890"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (!numeral_is(numbers[i]))
            fail_msg("%s", numbers[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (numeral_is(others[i]))
            fail_msg("%s", others[i]);
}

static void what_is_written_is_read_with_every_bit(void **state)
{
    char text[NUMERAL_BYTES];
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        double real;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        real = (double)(seed >> 11) * 0x1p-53 * (i % 3 ? 1e-3 : 1e4);
        numeral_text(real, 3, text);
        if (numeral_real(text, -3) != real)
            fail_msg("%.17g is written as %s", real, text);
    }
    numeral_text(DBL_MAX, 3, text);
    assert_true(numeral_real(text, -3) == DBL_MAX);
    numeral_text(DBL_MIN, 3, text);
    assert_true(numeral_real(text, -3) == DBL_MIN);
}

static void a_timer_s_float_comes_back_as_it_was(void **state)
{
    char text[NUMERAL_BYTES];

    (void)state;
    numeral_text(numeral_real("12.265098571777344", -3), 3, text);
    assert_string_equal(text, "12.265098571777344");
    numeral_text(0.002, 3, text);
    assert_string_equal(text, "2.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_point_is_moved_in_the_text),
        cmocka_unit_test(a_plain_number_is_known),
        cmocka_unit_test(what_is_written_is_read_with_every_bit),
        cmocka_unit_test(a_timer_s_float_comes_back_as_it_was),
    };

    return cmocka_run_group_tests_name("coordinator/replay/numeral", tests,
                                       NULL, NULL);
}
