#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/confirm/blocks.h"
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

static void success_takes_target_verdict_and_separate_times(void **state)
{
    const struct block_time baseline = { 1.0, 0.99, 1.01 };
    const struct block_time apart = { 0.9, 0.89, 0.98 };
    const struct block_time touching = { 0.9, 0.8, 0.99 };
    const struct speedup reached = { .value = 1.10, .lo = 1.05, .hi = 1.15 };
    const struct speedup short_of_it = { .value = 1.0999, .lo = 1.09 };

    (void)state;
    assert_true(
        verdict_is_success(VERDICT_FAST, &reached, &apart, &baseline, &rules));
    assert_false(verdict_is_success(VERDICT_FAST, &reached, &touching,
                                    &baseline, &rules));
    assert_false(verdict_is_success(VERDICT_FAST, &short_of_it, &apart,
                                    &baseline, &rules));
    assert_false(
        verdict_is_success(VERDICT_AMBG, &reached, &apart, &baseline, &rules));
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
        cmocka_unit_test(success_takes_target_verdict_and_separate_times),
        cmocka_unit_test(more_finalists_need_more_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
