/* test_check.c - how far an element is from its reference, by each rule */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/runner/device/check.h"

static double error_of(enum tolerance_rule rule, enum element_type type,
                       double out, double ref)
{
    uint64_t room = 0;

    element_store(&room, type, 0, out);
    return check_element_error((struct check_how){ .rule = rule }, &room, type,
                               0, ref, 2);
}

static void each_rule_measures_in_its_unit(void **state)
{
    static const struct {
        enum tolerance_rule rule;
        enum element_type type;
        double out, ref, error;
    } rows[] = {
        { TOLERANCE_MAX_ERROR, ELEMENT_FP32, 3, 2, 0.25 },
        { TOLERANCE_ABSOLUTE, ELEMENT_FP32, 3, 2, 1 },
        { TOLERANCE_ABSOLUTE, ELEMENT_INT32, -3, 2.5, 5.5 },
        { TOLERANCE_ULP, ELEMENT_FP32, 1 + 0x1p-22, 1, 2 },
        { TOLERANCE_ULP, ELEMENT_FP16, 2048, 2050, 1 },
        { TOLERANCE_ULP, ELEMENT_BF16, 1 + 0x1p-7, 1, 1 },
        { TOLERANCE_ULP, ELEMENT_FP16, 0x1p-24, 0, 1 },
        { TOLERANCE_ULP, ELEMENT_FP16, 0, 0x1p-20, 16 },
        { TOLERANCE_EXACT, ELEMENT_FP16, 0.1, 0.1, 0 },
        { TOLERANCE_EXACT, ELEMENT_FP32, 0.1, 0.1, 0 },
        { TOLERANCE_EXACT, ELEMENT_FP32, 1 + 0x1p-23, 1, 0x1p-23 },
        { TOLERANCE_EXACT, ELEMENT_INT8, 7, 8, 1 },
        { TOLERANCE_EXACT, ELEMENT_INT32, 2, 2.5, 0.5 },
        { TOLERANCE_EXACT, ELEMENT_FP32, -0.0, 0, 0 },
        { TOLERANCE_EXACT, ELEMENT_FP32, NAN, 0, INFINITY },
        { TOLERANCE_ULP, ELEMENT_FP32, INFINITY, INFINITY, INFINITY },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double error =
            error_of(rows[i].rule, rows[i].type, rows[i].out, rows[i].ref);

        if (!(error == rows[i].error))
            fail_msg("row %zu: %g", i, error);
    }
}

/* As doubles they would be equal. */
static void large_integers_are_not_rounded(void **state)
{
    const int64_t out[] = { (INT64_C(1) << 53) + 1, INT64_MIN, INT64_MAX };

    const struct check_how exact = { .rule = TOLERANCE_EXACT };
    const struct check_how absolute = { .rule = TOLERANCE_ABSOLUTE };

    (void)state;
    assert_true(check_element_error(exact, out, ELEMENT_INT64, 0, 0x1p53, 0) ==
                1);
    assert_true(check_element_error(exact, out, ELEMENT_INT64, 1, -0x1p63, 0) ==
                0);
    assert_true(check_element_error(absolute, out, ELEMENT_INT64, 2,
                                    0x1p63 - 1024, 0) == 1023);
}

static void infinities_are_matched_where_they_are_allowed(void **state)
{
    const struct check_how strict = { TOLERANCE_MAX_ERROR, false };
    const struct check_how how = { TOLERANCE_MAX_ERROR, true };
    const double out[] = { INFINITY, -INFINITY, NAN, 1 };
    const enum element_type fp64 = ELEMENT_FP64;

    (void)state;
    assert_true(check_element_error(how, out, fp64, 0, INFINITY, 1) == 0);
    assert_true(isinf(check_element_error(how, out, fp64, 1, INFINITY, 1)));
    assert_true(check_element_error(how, out, fp64, 2, NAN, 1) == 0);
    assert_true(isinf(check_element_error(how, out, fp64, 3, NAN, 1)));
    assert_true(isinf(check_element_error(how, out, fp64, 2, 1, 1)));
    assert_true(check_element_error(how, out, fp64, 3, 3, 1) == 0.5);
    assert_true(isinf(check_element_error(strict, out, fp64, 0, INFINITY, 1)));
    assert_true(check_square(how, INFINITY) == 0 && check_square(how, 3) == 9);
    assert_true(isinf(check_square(strict, INFINITY)));
    assert_true(check_square_error(how, INFINITY, INFINITY) == 0);
    assert_true(isinf(check_square_error(how, 1, INFINITY)));
    assert_true(check_square_error(how, 1, 3) == 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_measures_in_its_unit),
        cmocka_unit_test(large_integers_are_not_rounded),
        cmocka_unit_test(infinities_are_matched_where_they_are_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
