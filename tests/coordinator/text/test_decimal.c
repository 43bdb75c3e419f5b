#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/stats/prng.h"
#include "coordinator/text/decimal.h"

static const char *text(double real)
{
    static char out[DECIMAL_BYTES];

    size_t len = decimal_text(real, out);

    assert_int_equal(len, strlen(out));
    return out;
}

/* As the header says it. */
static void check(double real)
{
    char want[DECIMAL_BYTES];

    snprintf(want, sizeof(want), "%.9g", real);
    if (strtod(want, NULL) != real)
        snprintf(want, sizeof(want), "%.17g", real);
    assert_string_equal(text(real), want);
}

static void check_around(double real)
{
    check(real);
    check(-real);
    check(nextafter(real, INFINITY));
    check(nextafter(real, 0));
}

static void numbers_are_as_short_as_they_can_be(void **state)
{
    (void)state;
    assert_string_equal(text(0), "0");
    assert_string_equal(text(-0.0), "-0");
    assert_string_equal(text(2040), "2040");
    assert_string_equal(text(-71.5), "-71.5");
    assert_string_equal(text(0.000064), "6.4e-05");
    assert_string_equal(text(0.00064), "0.00064");
    assert_string_equal(text(0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(text(1e300), "1e+300");
}

static void
powers_of_ten_and_their_neighbours_are_as_printf_has_them(void **state)
{
    (void)state;
    for (int e = -320; e <= 308; e++) {
        check_around(pow(10, e));
        check_around(9.99999999 * pow(10, e));
        check_around(9.999999995 * pow(10, e));
    }
    for (int e = -1074; e < 1024; e++)
        check_around(ldexp(1, e));
}

static void samples_of_any_kind_are_as_printf_has_them(void **state)
{
    struct prng prng;

    (void)state;
    prng_init(&prng, 1);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = prng_next(&prng);
        double any, unit = ldexp((double)(prng_next(&prng) >> 11), -53);
        float ms = (float)unit;

        memcpy(&any, &bits, sizeof(any));
        if (isfinite(any))
            check(any);
        check((double)ms / 1e3);
        check(unit * pow(10, (int)(bits % 24) - 13));
        check(round(unit * 1e9) / pow(10, (int)(bits % 20)));
        check((double)(bits >> 44) * 0x1p-20); /* ties */
    }
}

static void check_reading(const char *text)
{
    char *end;
    const char *our_end;
    double want = strtod(text, &end), got = decimal_real(text, &our_end);

    if (memcmp(&want, &got, sizeof(want)) != 0 || end != our_end)
        fail_msg("'%s' reads as %.17g, not %.17g, and leaves '%s'", text, got,
                 want, our_end);
}

static void numbers_are_read_as_strtod_reads_them(void **state)
{
    static const char *const texts[] = { "0",
                                         "-0",
                                         "0.0",
                                         "",
                                         "-",
                                         ".",
                                         ".5",
                                         "-.5",
                                         "5.",
                                         "5.e1",
                                         "1e",
                                         "1e+",
                                         "1e+2,",
                                         "1E-2]",
                                         "0x10",
                                         "0x",
                                         "007",
                                         "1.2.3",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         " 1",
                                         "+1",
                                         "null",
                                         "9007199254740993",
                                         "9007199254740993e-1",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "1e23",
                                         "1e22",
                                         "1e-22",
                                         "1e-23",
                                         "1e-27",
                                         "1e-28",
                                         "9999999999999999999e-27",
                                         "1e400",
                                         "1e-400",
                                         "123456789012345678901234567890",
                                         "0.00000000000000000000000000000001",
                                         "1e99999999999",
                                         "1.7976931348623157e308",
                                         "4.9e-324",
                                         "0.5000000000000000277",
                                         "0.50000000000000005551",
                                         "1--1",
                                         "1-1" };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_reading(texts[i]);
}

static void samples_of_any_length_are_read_as_strtod_reads_them(void **state)
{
    struct prng prng;
    char text[80];

    (void)state;
    prng_init(&prng, 2);
    for (int i = 0; i < 100000; i++) {
        double unit = prng_unit(&prng);

        snprintf(text, sizeof(text), "%.*g", 1 + i % 19,
                 unit * pow(10, i % 37 - 30));
        check_reading(text);
        snprintf(text, sizeof(text), "-%.*f]", i % 23, unit);
        check_reading(text);
        snprintf(text, sizeof(text), "%llue%d",
                 (unsigned long long)(prng_next(&prng) >> i % 64), -(i % 30));
        check_reading(text);
    }
}

/* Halves between two doubles, and what is next to them. */
static void ties_round_to_even(void **state)
{
    struct prng prng;
    char text[80];

    (void)state;
    prng_init(&prng, 3);
    for (int i = 0; i < 20000; i++) {
        uint64_t odd = (prng_next(&prng) >> (8 + i % 3)) | 1;
        int places = 1 + i % 10;

        snprintf(text, sizeof(text), "%llue-%d", (unsigned long long)odd,
                 places);
        check_reading(text);
        snprintf(text, sizeof(text), "%.*f", places,
                 (double)(odd >> 40) + ldexp(1, -places));
        check_reading(text);
    }
}

static void a_number_is_written_as_python_does(void **state)
{
    static const struct {
        double real;
        const char *want;
    } rows[] = {
        { 0, "0.0" },
        { 1, "1.0" },
        { 0.5, "0.5" },
        { 0.1, "0.1" },
        { 1e-4, "0.0001" },
        { 1e-5, "1e-05" },
        { 1.25e-7, "1.25e-07" },
        { 100000, "100000.0" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1e+16" },
        { -2.75, "-2.75" },
        { 12.265098571777344, "12.265098571777344" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[DECIMAL_BYTES];

        decimal_repr(rows[i].real, text);
        assert_string_equal(text, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_as_short_as_they_can_be),
        cmocka_unit_test(
            powers_of_ten_and_their_neighbours_are_as_printf_has_them),
        cmocka_unit_test(samples_of_any_kind_are_as_printf_has_them),
        cmocka_unit_test(numbers_are_read_as_strtod_reads_them),
        cmocka_unit_test(samples_of_any_length_are_read_as_strtod_reads_them),
        cmocka_unit_test(ties_round_to_even),
        cmocka_unit_test(a_number_is_written_as_python_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
