#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/confirm/speedup.h"
#include "coordinator/confirm/verdict.h"

static const struct verdict_rules rules = VERDICT_RULES;

static void the_interval_and_the_floor_decide(void **state)
{
    static const struct {
        double lo, hi, p_holm;
        const char *verdict;
    } rows[] = {
        { 0, INFINITY, 1, "AMBG" },      /* nothing known */
        { 0.996, 1.004, 0.5, "SAME" },   /* within the floor */
        { 1.001, 1.004, 0.001, "SAME" }, /* certain, and does not matter */
        { 1.004, 1.02, 0.001, "AMBG" },  /* it may not matter */
        { 1.006, 1.02, 0.001, "FAST" },
        { 1.006, 1.02, 0.06, "AMBG" }, /* one of many finalists */
        { 0.98, 0.994, 0.001, "SLOW" },
        { 0.98, 0.996, 0.001, "AMBG" },
        { 0.98, 0.994, 0.06, "AMBG" },
        { 0.99, 1.01, 0.9, "AMBG" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct speedup s = { .lo = rows[i].lo, .hi = rows[i].hi };

        s.value = (s.lo + s.hi) / 2;
        assert_string_equal(
            verdict_name(verdict_of(&s, rows[i].p_holm, &rules)),
            rows[i].verdict);
    }
}

static void success_takes_an_interval_that_reaches_the_target(void **state)
{
    const struct speedup reached = { .value = 1.12, .lo = 1.10, .hi = 1.14 };
    const struct speedup not_sure = { .value = 1.12, .lo = 1.0999, .hi = 1.14 };
    const struct speedup unknown = { .value = 1.12, .hi = INFINITY };

    (void)state;
    assert_true(verdict_is_success(VERDICT_FAST, &reached, &rules));
    assert_false(verdict_is_success(VERDICT_FAST, &not_sure, &rules));
    assert_false(verdict_is_success(VERDICT_FAST, &unknown, &rules));
    assert_false(verdict_is_success(VERDICT_AMBG, &reached, &rules));
}

static void a_certain_side_is_named_within_the_floor_too(void **state)
{
    static const struct {
        double lo, hi;
        enum verdict verdict;
        const char *side, *words;
    } rows[] = {
        { 0, INFINITY, VERDICT_AMBG, "either", "AMBG" },
        { 0.999, 1.001, VERDICT_SAME, "either", "SAME" },
        { 1, 1.002, VERDICT_SAME, "either", "SAME" },
        { 1.001, 1.003, VERDICT_SAME, "faster", "SAME, faster" },
        { 1.001, 1.03, VERDICT_AMBG, "faster", "AMBG, faster" },
        { 0.996, 0.999, VERDICT_SAME, "slower", "SAME, slower" },
        { 0.98, 0.999, VERDICT_AMBG, "slower", "AMBG, slower" },
        { 1.1, 1.2, VERDICT_FAST, "faster", "FAST" },
        { 0.8, 0.9, VERDICT_SLOW, "slower", "SLOW" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct speedup s = { .lo = rows[i].lo, .hi = rows[i].hi };

        assert_string_equal(verdict_side(&s), rows[i].side);
        assert_string_equal(verdict_words(rows[i].verdict, &s), rows[i].words);
    }
}

/* 2^(1-6) is 0.031; for 20 finalists 2^(1-10) times 20 is 0.039. */
static void more_finalists_need_more_blocks(void **state)
{
    (void)state;
    assert_int_equal(verdict_blocks_needed(1, &rules), 6);
    assert_int_equal(verdict_blocks_needed(2, &rules), 7);
    assert_int_equal(verdict_blocks_needed(20, &rules), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_and_the_floor_decide),
        cmocka_unit_test(success_takes_an_interval_that_reaches_the_target),
        cmocka_unit_test(a_certain_side_is_named_within_the_floor_too),
        cmocka_unit_test(more_finalists_need_more_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
