#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/mann_whitney.h"
#include "tests/coordinator/near.h"

/* All values of x are below those of y: of the 20 ways to choose 3 of 6, one is
 * as low and one as high. */
static void complete_separation_is_the_rarest_order(void **state)
{
    static const double x[] = { 1, 2, 3 }, y[] = { 4, 5, 6 };
    struct mann_whitney out;

    (void)state;
    mann_whitney(x, 3, y, 3, &out);
    assert_true(out.exact && out.u == 0 && out.delta == -1);
    assert_near(out.p, 0.1, 1e-12);
    assert_int_equal(out.magnitude, MANN_WHITNEY_LARGE);
    mann_whitney(y, 3, x, 3, &out);
    assert_true(out.u == 9 && out.delta == 1);
    assert_near(out.p, 0.1, 1e-12);
}

/* From the published table: two-sided 5 % for 8 and 10 is U = 17, so 18 is
 * not enough. */
static void critical_values_are_those_of_the_table(void **state)
{
    static const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static const double at_17[] = {
        1.5, 2.5, 7.1, 8.5, 9, 10, 11, 12, 13, 5.5
    };
    static const double at_18[] = {
        1.5, 2.5, 6.1, 8.5, 9, 10, 11, 12, 13, 5.5
    };
    struct mann_whitney out;

    (void)state;
    mann_whitney(x, 8, at_17, 10, &out);
    assert_true(out.exact && out.u == 17);
    assert_true(out.p > 0.03 && out.p <= 0.05);
    mann_whitney(x, 8, at_18, 10, &out);
    assert_true(out.u == 18 && out.p > 0.05);
}

static void ties_count_half_and_leave_the_exact_table(void **state)
{
    static const double x[] = { 1, 2, 2 }, y[] = { 2, 3 };
    struct mann_whitney out;

    (void)state;
    mann_whitney(x, 3, y, 2, &out);
    assert_true(out.u == 1 && !out.exact);
    assert_near(out.delta, -2.0 / 3, 1e-12);
}

static void equal_values_say_nothing(void **state)
{
    static const double x[] = { 2, 2, 2, 2 };
    struct mann_whitney out;

    (void)state;
    mann_whitney(x, 4, x, 4, &out);
    assert_true(out.p == 1 && out.delta == 0);
    assert_string_equal(mann_whitney_magnitude_name(out.magnitude),
                        "negligible");
}

static void magnitudes_change_at_their_bounds(void **state)
{
    static const double y[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    static const struct {
        double x;
        enum mann_whitney_magnitude magnitude;
    } rows[] = {
        { 5.5, MANN_WHITNEY_NEGLIGIBLE }, { 6.5, MANN_WHITNEY_SMALL },
        { 4.5, MANN_WHITNEY_SMALL },      { 7.5, MANN_WHITNEY_MEDIUM },
        { 8.5, MANN_WHITNEY_LARGE },
    };
    struct mann_whitney out;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        mann_whitney(&rows[i].x, 1, y, 10, &out);
        assert_int_equal(out.magnitude, rows[i].magnitude);
    }
}

static void holm_multiplies_by_what_is_left(void **state)
{
    static const double p[] = { 0.01, 0.04, 0.03, 0.005 };
    static const double want[] = { 0.03, 0.06, 0.06, 0.02 };
    double out[4];

    (void)state;
    mann_whitney_holm(p, 4, out);
    for (int i = 0; i < 4; i++)
        assert_near(out[i], want[i], 1e-12);
}

static void holm_never_exceeds_one_or_changes_the_order(void **state)
{
    double p[] = { 0.9, 0.5, 0.011, 0.01 };

    (void)state;
    mann_whitney_holm(p, 4, p);
    assert_near(p[3], 0.04, 1e-12);
    assert_near(p[2], 0.04, 1e-12);
    assert_true(p[0] == 1 && p[1] == 1);
    mann_whitney_holm(p, 0, p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_separation_is_the_rarest_order),
        cmocka_unit_test(critical_values_are_those_of_the_table),
        cmocka_unit_test(ties_count_half_and_leave_the_exact_table),
        cmocka_unit_test(equal_values_say_nothing),
        cmocka_unit_test(magnitudes_change_at_their_bounds),
        cmocka_unit_test(holm_multiplies_by_what_is_left),
        cmocka_unit_test(holm_never_exceeds_one_or_changes_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
