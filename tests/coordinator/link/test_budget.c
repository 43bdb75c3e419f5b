#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/link/budget.h"

#define START_NS (5 * NS_PER_S)

/* How many of them, one after the other at one time. */
static int messages(struct budget *budget, int64_t now_ns)
{
    int n = 0;

    while (budget_message(budget, now_ns))
        n++;
    return n;
}

static void a_flood_ends(void **state)
{
    struct budget budget = budget_full(START_NS);

    (void)state;
    assert_int_equal(messages(&budget, START_NS), 4096);
    assert_int_equal(messages(&budget, START_NS), 0);
}

static void time_and_leases_explain_more(void **state)
{
    struct budget budget = budget_full(START_NS);

    (void)state;
    messages(&budget, START_NS);
    assert_int_equal(messages(&budget, START_NS + 2 * NS_PER_S), 100);
    budget_lease(&budget);
    assert_int_equal(messages(&budget, START_NS + 2 * NS_PER_S), 16);
}

static void what_is_not_used_does_not_grow(void **state)
{
    struct budget budget = budget_full(START_NS);

    (void)state;
    for (int i = 0; i < 1000; i++)
        budget_lease(&budget);
    assert_int_equal(messages(&budget, START_NS + 3600 * NS_PER_S), 4096);
}

/* 32,000 results of another sweep, again every 10 s, for an hour. */
static void a_journal_may_be_repeated(void **state)
{
    struct budget budget = budget_full(START_NS);

    (void)state;
    for (int s = 0; s < 3600; s += 10)
        for (int i = 0; i < 32000; i++)
            assert_true(budget_repetition(&budget, START_NS + s * NS_PER_S));
}

static void rows_are_limited_by_their_bytes(void **state)
{
    struct budget budget = budget_full(START_NS);

    (void)state;
    for (int i = 0; i < 96; i++)
        assert_true(budget_row(&budget, START_NS, 1 << 20));
    assert_false(budget_row(&budget, START_NS, 1));
    assert_true(budget_row(&budget, START_NS + NS_PER_S, 65536));
    assert_false(budget_row(&budget, START_NS + NS_PER_S, 1));
    assert_true(budget_message(&budget, START_NS)); /* another bucket */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_ends),
        cmocka_unit_test(time_and_leases_explain_more),
        cmocka_unit_test(what_is_not_used_does_not_grow),
        cmocka_unit_test(a_journal_may_be_repeated),
        cmocka_unit_test(rows_are_limited_by_their_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
