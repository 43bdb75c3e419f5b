/* test_check.c - how far an element is from its reference, by each rule */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/runner/device/check.h"
#include "worker/runner/wire/fill_random.h"

static const struct check_how plain, matched = { .infinities = true };
static const struct check_lost fp32_lost = { 0x1p-149, 0x1p-126 },
                               fp64_lost = { 0x1p-1074, 0 };

static double error_of(enum tolerance_rule rule, enum element_type type,
                       double out, double ref)
{
    uint64_t room = 0;

    element_store(&room, type, 0, out);
    return check_element_error(rule, &plain, &room, type, 0, ref, 2);
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
        { TOLERANCE_EXACT, ELEMENT_FP32, -0.0, 0, 0x1p-149 },
        { TOLERANCE_EXACT, ELEMENT_FP16, 0, -0.0, 0x1p-24 },
        { TOLERANCE_EXACT, ELEMENT_FP32, -0.0, -1e-60, 0 },
        { TOLERANCE_EXACT, ELEMENT_FP32, 0, -1e-60, 0x1p-149 },
        { TOLERANCE_EXACT, ELEMENT_FP32, -0.0, -0.0, 0 },
        { TOLERANCE_EXACT, ELEMENT_INT32, 0, -0.0, 0 },
        { TOLERANCE_ULP, ELEMENT_FP32, -0.0, 0, 0 },
        { TOLERANCE_MAX_ERROR, ELEMENT_FP64, -0x1p1023, 0x1p1023, INFINITY },
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
    assert_true(check_element_error(TOLERANCE_EXACT, &plain, out, ELEMENT_INT64,
                                    0, 0x1p53, 0) == 1);
    assert_true(check_element_error(TOLERANCE_EXACT, &plain, out, ELEMENT_INT64,
                                    1, -0x1p63, 0) == 0);
    assert_true(check_element_error(TOLERANCE_ABSOLUTE, &plain, out,
                                    ELEMENT_INT64, 2, 0x1p63 - 1024,
                                    0) == 1023);
}

static void infinities_are_matched_where_they_are_allowed(void **state)
{
    const enum tolerance_rule rule = TOLERANCE_MAX_ERROR;
    const double out[] = { INFINITY, -INFINITY, NAN, 1 };
    const enum element_type fp64 = ELEMENT_FP64;

    (void)state;
    assert_true(
        check_element_error(rule, &matched, out, fp64, 0, INFINITY, 1) == 0);
    assert_true(
        isinf(check_element_error(rule, &matched, out, fp64, 1, INFINITY, 1)));
    assert_true(check_element_error(rule, &matched, out, fp64, 2, NAN, 1) == 0);
    assert_true(
        isinf(check_element_error(rule, &matched, out, fp64, 3, NAN, 1)));
    assert_true(isinf(check_element_error(rule, &matched, out, fp64, 2, 1, 1)));
    assert_true(check_element_error(rule, &matched, out, fp64, 3, 3, 1) == 0.5);
    assert_true(
        isinf(check_element_error(rule, &plain, out, fp64, 0, INFINITY, 1)));
    assert_true(check_square(&matched, 1, INFINITY) == 0 &&
                check_square(&matched, 1, 3) == 9);
    assert_true(isinf(check_square(&plain, 1, INFINITY)));
    assert_true(
        check_square_error(&matched, 1, &fp64_lost, INFINITY, INFINITY) == 0);
    assert_true(
        isinf(check_square_error(&matched, 1, &fp64_lost, 1, INFINITY)));
    assert_true(check_square_error(&matched, 1, &fp64_lost, 1, 3) == 4);
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
        const struct check_lost lost = check_lost(type);
        uint64_t room = 0;
        double error, square;

        element_store(&room, type, 0, cases[i].out);
        error = check_element_error(TOLERANCE_MAX_ERROR, &plain, &room, type, 0,
                                    cases[i].ref, fabs(cases[i].ref));
        square =
            check_square_error(&plain, 1, &lost, cases[i].out, cases[i].ref);
        assert_int_equal(error > 0, cases[i].is_error);
        assert_int_equal(check_is_underflow(&lost, cases[i].out, cases[i].ref),
                         !cases[i].is_error);
        assert_true(cases[i].is_error || square == 0);
    }
    assert_true(
        isinf(check_square_error(&plain, 1, &fp32_lost, NAN, 0x1p-130)));
}

/* Of a trial with edges. */
static void a_reference_beyond_the_type_is_left_out(void **state)
{
    const double fits[ELEMENT_TYPES][2] = {
        { -65504, 65504 },
        { -0x1.fep127, 0x1.fep127 },
        { -0x1.fffffep127, 0x1.fffffep127 },
        { -0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023 },
        { -128, 127 },
        { INT32_MIN, INT32_MAX },
        { -0x1p63, 0x1.fffffffffffffp62 },
    };
    struct check_how how = { .infinities = false };

    (void)state;
    for (int type = 0; type < ELEMENT_TYPES; type++) {
        check_set_range(&how, (enum element_type)type);
        for (int end = 0; end < 2; end++) {
            const double one = type == ELEMENT_FP64 ? INFINITY : 1.1;

            assert_false(check_is_left_out(&how, fits[type][end]));
            assert_true(check_is_left_out(&how, one * fits[type][end]));
        }
        assert_false(check_is_left_out(&how, 0));
        assert_true(check_is_left_out(&how, NAN));
        assert_false(check_is_left_out(&plain, NAN));
    }
    how.infinities = true;
    check_set_range(&how, ELEMENT_FP32);
    assert_false(check_is_left_out(&how, INFINITY)); /* it is matched */
    assert_true(check_is_left_out(&how, 1e39));
}

static void what_is_left_out_has_no_error(void **state)
{
    struct check_how how = { .infinities = false };
    const double out[] = { 5, NAN };

    (void)state;
    check_set_range(&how, ELEMENT_FP64);
    for (int i = 0; i < 2; i++) {
        const double ref = i == 0 ? NAN : -INFINITY;

        assert_true(check_element_error(TOLERANCE_EXACT, &how, out,
                                        ELEMENT_FP64, i, ref, 1) == 0);
        assert_true(check_square_error(&how, 1, &fp64_lost, out[i], ref) == 0);
        assert_true(check_square(&how, 1, ref) == 0);
        assert_true(check_most(&how, 3, ref) == 3);
    }
    assert_true(isinf(check_element_error(TOLERANCE_EXACT, &how, out,
                                          ELEMENT_FP64, 1, 2, 1)));
    assert_true(
        check_rms(
            &(struct check_norm){ .scale = 1, .square_sum = 8, .left_out = 3 },
            5) == 2);
    assert_true(
        check_rms(&(struct check_norm){ .scale = 1, .left_out = 5 }, 5) == 0);
}

/* The relative error of a quarter of the reference, and how large it is. */
static void assert_size(double ref)
{
    struct check_norm norm = { .most = check_most(&plain, 0, ref) };
    const double error = check_square_error(&plain, check_scale(norm.most),
                                            &fp64_lost, ref * 0.75, ref);

    norm.scale = check_scale(norm.most);
    norm.square_sum = check_square(&plain, norm.scale, ref);
    assert_true(check_relative_l2(error, norm.square_sum) == 0.25);
    assert_true(check_rms(&norm, 1) == fabs(ref));
}

static void squares_neither_overflow_nor_vanish(void **state)
{
    (void)state;
    assert_size(3);
    assert_size(-0x1p1023);
    assert_size(0x1.8p600);
    assert_size(0x1p-600);
    assert_size(-0x1p-1000);
    assert_size(0x1p-1060); /* a subnormal */
    assert_true(check_scale(0) == 1);
    assert_true(error_of(TOLERANCE_MAX_ERROR, ELEMENT_FP64, 0x1p1023,
                         0x1.8p1023) == 0x1p1022 / 0x1.8p1023);
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

/* What is said of an output, by looking closely at each element or only at
 * those that are not minor. */
struct verdict {
    double relative, rank;
    int64_t at;
    int close; /* how many were looked at closely */
};

static struct verdict judge(const struct check_how *how, enum element_type type,
                            const void *out, const double *ref, int64_t n,
                            double rms, bool all)
{
    struct verdict verdict = { 0, -1, -1, 0 };

    for (int64_t i = 0; i < n; i++) {
        const struct check_minor minor =
            check_minor(how, type, rms, verdict.relative);
        struct check_element element;

        if (!all && i > 0 &&
            check_is_minor(&minor, element_load(out, type, i), ref[i]))
            continue;
        verdict.close++;
        element = check_element(how, out, type, i, ref[i], rms);
        if (element.relative > verdict.relative)
            verdict.relative = element.relative;
        if (check_rank(how, &element) > verdict.rank) {
            verdict.rank = check_rank(how, &element);
            verdict.at = i;
        }
    }
    return verdict;
}

enum {
    ELEMENTS = 400
};

/* References of some size, and outputs that are equal, a little off, far off,
 * or special. */
static void draw(uint64_t seed, enum element_type type, double size, void *out,
                 double ref[ELEMENTS])
{
    static const double special[] = {
        0, -0.0, NAN, INFINITY, -INFINITY, 1e300
    };

    for (int64_t i = 0; i < ELEMENTS; i++) {
        const uint64_t random = fill_bits(seed, i);
        const double part = (double)(random >> 40) / 0x1p24 - 0.5;
        double value;

        ref[i] = element_round(type, size * part);
        value = ref[i];
        if (random % 4 != 0)
            value += size * part * (random % 4 == 1 ? 1e-3 : 1e-1);
        if (!element_is_float(type))
            value = fmax(-100, fmin(100, value));
        else if (random % 64 == 5)
            value = special[random >> 8 & 3];
        if (random % 64 == 6)
            ref[i] = special[(random >> 8) % 6];
        element_store(out, type, i, value);
    }
}

static void minor_elements_change_no_verdict(void **state)
{
    static const double sizes[] = { 1, 100, 1e-30, 1e-310, 1e305 };
    uint64_t out[ELEMENTS];
    double ref[ELEMENTS];
    struct check_how how = plain;

    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        const enum element_type type =
            (enum element_type)(seed % ELEMENT_TYPES);
        const double size =
            element_is_float(type) ? sizes[seed / 7 % 5] : sizes[1];
        const double rms = seed % 11 == 0 ? 0 : size / 3;
        struct verdict all, some;

        how.tolerance.rules = (unsigned)(fill_bits(1, (int64_t)seed) % 32);
        for (int rule = 0; rule < TOLERANCE_RULES; rule++)
            how.tolerance.most[rule] = rule == TOLERANCE_EXACT ? 0 : 1e-3;
        how.infinities = seed % 3 == 0;
        check_set_range(&how, type);
        how.ranged = seed % 5 == 0;
        draw(seed, type, size, out, ref);
        all = judge(&how, type, out, ref, ELEMENTS, rms, true);
        some = judge(&how, type, out, ref, ELEMENTS, rms, false);
        assert_true(all.relative == some.relative);
        assert_true(all.rank == some.rank);
        assert_int_equal(all.at, some.at);
    }
}

static void few_elements_are_looked_at_closely(void **state)
{
    const struct check_how how = { .tolerance = {
                                       1u << TOLERANCE_MAX_ERROR,
                                       { [TOLERANCE_MAX_ERROR] = 1 } } };
    float out[ELEMENTS];
    double ref[ELEMENTS];

    (void)state;
    for (int64_t i = 0; i < ELEMENTS; i++) {
        ref[i] = (double)(fill_bits(3, i) >> 12) * 0x1p-52;
        out[i] = (float)ref[i];
    }
    assert_in_range(
        judge(&how, ELEMENT_FP32, out, ref, ELEMENTS, 0.5, false).close, 2, 20);
    for (int64_t i = 0; i < ELEMENTS; i++)
        ref[i] = (double)out[i];
    assert_int_equal(
        judge(&how, ELEMENT_FP32, out, ref, ELEMENTS, 0.5, false).close, 1);
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
        cmocka_unit_test(a_reference_beyond_the_type_is_left_out),
        cmocka_unit_test(what_is_left_out_has_no_error),
        cmocka_unit_test(squares_neither_overflow_nor_vanish),
        cmocka_unit_test(minor_elements_change_no_verdict),
        cmocka_unit_test(few_elements_are_looked_at_closely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
