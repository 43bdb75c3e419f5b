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
    return check_element_error(rule, false, &room, type, 0, ref, 2);
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
        { TOLERANCE_EXACT, ELEMENT_INT32, 2, 2.5, 0 },
        { TOLERANCE_EXACT, ELEMENT_INT32, 3, 2.5, 0 },
        { TOLERANCE_EXACT, ELEMENT_INT32, -3, -2.6, 0 },
        { TOLERANCE_EXACT, ELEMENT_INT32, -2, -2.6, 0.6 },
        { TOLERANCE_EXACT, ELEMENT_INT64, 7, 6.75, 0 },
        { TOLERANCE_ABSOLUTE, ELEMENT_INT32, 2, 2.5, 0.5 },
        { TOLERANCE_EXACT, ELEMENT_FP32, -0.0, 0, 0 },
        { TOLERANCE_EXACT, ELEMENT_FP32, NAN, 0, INFINITY },
        { TOLERANCE_ULP, ELEMENT_FP32, INFINITY, INFINITY, INFINITY },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double error =
            error_of(rows[i].rule, rows[i].type, rows[i].out, rows[i].ref);

        if (!(fabs(error - rows[i].error) < 1e-15 || error == rows[i].error))
            fail_msg("row %zu: %g", i, error);
    }
}

/* As doubles they would be equal. */
static void large_integers_are_not_rounded(void **state)
{
    const int64_t out[] = { (INT64_C(1) << 53) + 1, INT64_MIN, INT64_MAX };

    (void)state;
    assert_true(check_element_error(TOLERANCE_EXACT, false, out, ELEMENT_INT64,
                                    0, 0x1p53, 0) == 1);
    assert_true(check_element_error(TOLERANCE_EXACT, false, out, ELEMENT_INT64,
                                    1, -0x1p63, 0) == 0);
    assert_true(check_element_error(TOLERANCE_ABSOLUTE, false, out,
                                    ELEMENT_INT64, 2, 0x1p63 - 1024,
                                    0) == 1023);
}

static void infinities_are_matched_where_they_are_allowed(void **state)
{
    const enum tolerance_rule rule = TOLERANCE_MAX_ERROR;
    const double out[] = { INFINITY, -INFINITY, NAN, 1 };
    const enum element_type fp64 = ELEMENT_FP64;

    (void)state;
    assert_true(check_element_error(rule, true, out, fp64, 0, INFINITY, 1) ==
                0);
    assert_true(
        isinf(check_element_error(rule, true, out, fp64, 1, INFINITY, 1)));
    assert_true(check_element_error(rule, true, out, fp64, 2, NAN, 1) == 0);
    assert_true(isinf(check_element_error(rule, true, out, fp64, 3, NAN, 1)));
    assert_true(isinf(check_element_error(rule, true, out, fp64, 2, 1, 1)));
    assert_true(check_element_error(rule, true, out, fp64, 3, 3, 1) == 0.5);
    assert_true(
        isinf(check_element_error(rule, false, out, fp64, 0, INFINITY, 1)));
    assert_true(check_square(true, INFINITY) == 0 &&
                check_square(true, 3) == 9);
    assert_true(isinf(check_square(false, INFINITY)));
    assert_true(check_square_error(true, fp64, INFINITY, INFINITY) == 0);
    assert_true(isinf(check_square_error(true, fp64, 1, INFINITY)));
    assert_true(check_square_error(true, fp64, 1, 3) == 4);
}

/* The square of a subnormal of fp32 is 0 in fp32; -ftz=true makes 0 of each
 * subnormal; and fp16 has no number nearer to 2.9e-7. */
static void what_the_type_cannot_hold_is_no_relative_error(void **state)
{
    static const struct {
        enum element_type type;
        double out, ref;
        bool is_error;
    } cases[] = {
        { ELEMENT_FP32, 0, 0x1p-252, false },
        { ELEMENT_FP32, 0, 0x1p-127, false },
        { ELEMENT_BF16, 0, 0x1p-127, false },
        { ELEMENT_FP32, 0, 0x1p-126, true },
        { ELEMENT_FP32, 0x1p-126, 0, true },
        { ELEMENT_FP16, 0x5p-24, 0x4.dp-24, false },
        { ELEMENT_FP16, 0, 0x1.1p-24, true },
        { ELEMENT_FP64, 0, 0x1p-1074, false },
        { ELEMENT_FP64, 0, 0x1p-1073, true },
        { ELEMENT_INT32, 0, 0x1p-1, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const enum element_type type = cases[i].type;
        uint64_t room = 0;
        double error, square;

        element_store(&room, type, 0, cases[i].out);
        error = check_element_error(TOLERANCE_MAX_ERROR, false, &room, type, 0,
                                    cases[i].ref, fabs(cases[i].ref));
        square = check_square_error(false, type, cases[i].out, cases[i].ref);
        assert_int_equal(error > 0, cases[i].is_error);
        assert_int_equal(check_is_underflow(type, cases[i].out, cases[i].ref),
                         !cases[i].is_error);
        assert_true(cases[i].is_error || square == 0);
    }
    assert_true(isinf(check_square_error(false, ELEMENT_FP32, NAN, 0x1p-130)));
}

/* 3 of 2: 1 over 4 * 2, or over 0.1. */
static void an_element_is_judged_by_the_rule_that_it_breaks_most(void **state)
{
    const struct check_how how = {
        .tolerance = { .rules =
                           1u << TOLERANCE_MAX_ERROR | 1u << TOLERANCE_ABSOLUTE,
                       .most = { [TOLERANCE_MAX_ERROR] = 0.5,
                                 [TOLERANCE_ABSOLUTE] = 0.25 } }
    };
    const struct check_how for_all = { .tolerance.rules =
                                           1u << TOLERANCE_RELATIVE_L2 };
    const double out = 3;
    const struct check_element element =
        check_element(&how, &out, ELEMENT_FP64, 0, 2, 2);
    const struct check_element unruled =
        check_element(&for_all, &out, ELEMENT_FP64, 0, 2, 2);

    (void)state;
    assert_int_equal(element.rule, TOLERANCE_ABSOLUTE);
    assert_true(element.error == 1 && element.excess == 4);
    assert_true(element.relative == 0.25 && check_rank(&how, &element) == 4);
    assert_true(check_rank(&for_all, &unruled) == 0.25);
}

static void a_check_fails_by_an_element_or_by_all(void **state)
{
    const struct check_how how = { .tolerance = {
                                       .rules = 1u << TOLERANCE_RELATIVE_L2 |
                                                1u << TOLERANCE_ULP,
                                       .most = { [TOLERANCE_RELATIVE_L2] = 0.5,
                                                 [TOLERANCE_ULP] = 2 } } };
    struct check right = { .relative_l2 = 0.5,
                           .rule = TOLERANCE_ULP,
                           .error = 2 };
    struct check element = { .rule = TOLERANCE_ULP, .error = 2.5 };
    struct check all = { .relative_l2 = NAN, .rule = TOLERANCE_ULP };

    (void)state;
    assert_false(check_fails(&how, &right));
    assert_true(check_fails(&how, &element));
    assert_int_equal(element.rule, TOLERANCE_ULP);
    assert_true(check_fails(&how, &all));
    assert_int_equal(all.rule, TOLERANCE_RELATIVE_L2);
}

/* Finite is enough, which is how large inputs are judged by 'absolute'. */
static void an_infinite_limit_refuses_what_is_not_finite(void **state)
{
    (void)state;
    assert_true(check_excess(1e300, INFINITY) == 0);
    assert_true(isinf(check_excess(INFINITY, INFINITY)));
    assert_true(check_excess(0, 0) == 0 && isinf(check_excess(1, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_measures_in_its_unit),
        cmocka_unit_test(large_integers_are_not_rounded),
        cmocka_unit_test(an_element_is_judged_by_the_rule_that_it_breaks_most),
        cmocka_unit_test(a_check_fails_by_an_element_or_by_all),
        cmocka_unit_test(an_infinite_limit_refuses_what_is_not_finite),
        cmocka_unit_test(infinities_are_matched_where_they_are_allowed),
        cmocka_unit_test(what_the_type_cannot_hold_is_no_relative_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
