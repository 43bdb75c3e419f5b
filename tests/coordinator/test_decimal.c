#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/prng.h"
#include "coordinator/decimal.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_as_short_as_they_can_be),
        cmocka_unit_test(
            powers_of_ten_and_their_neighbours_are_as_printf_has_them),
        cmocka_unit_test(samples_of_any_kind_are_as_printf_has_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
