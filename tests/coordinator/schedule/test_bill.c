/* test_bill.c - the sum of what hosts cost */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "coordinator/schedule/bill.h"

#define HOUR_NS INT64_C(3600000000000)

static void an_empty_bill_costs_nothing_and_has_no_price(void **state)
{
    struct bill bill = { 0 };

    (void)state;
    assert_true(bill_usd(&bill) == 0);
    assert_true(bill_hours(&bill) == 0);
    assert_false(bill_has_price(&bill));
}

static void what_is_unpriced_makes_the_total_unknown(void **state)
{
    struct bill bill = { 0 };

    (void)state;
    bill_add(&bill, HOUR_NS, 0.5);
    assert_true(bill_usd(&bill) == 0.5);
    bill_add(&bill, HOUR_NS, (double)NAN);
    assert_true(isnan(bill_usd(&bill)));
    assert_true(bill.priced_usd == 0.5);
    assert_true(bill_hours(&bill) == 2);
    assert_true(bill_has_price(&bill));
}

static void a_host_that_is_free_has_a_price(void **state)
{
    struct bill bill = { 0 };

    (void)state;
    bill_add(&bill, HOUR_NS, 0);
    assert_true(bill_usd(&bill) == 0);
    assert_true(bill_has_price(&bill));
}

static void bills_are_joined(void **state)
{
    struct bill bill = { 0 }, other = { 0 };

    (void)state;
    bill_add(&bill, HOUR_NS, 0.5);
    bill_add(&other, 2 * HOUR_NS, 1);
    bill_add(&other, HOUR_NS, (double)NAN);
    bill_join(&bill, &other);
    assert_true(bill.priced_usd == 2.5);
    assert_int_equal(bill.held_ns, 4 * HOUR_NS);
    assert_int_equal(bill.unpriced_ns, HOUR_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_bill_costs_nothing_and_has_no_price),
        cmocka_unit_test(what_is_unpriced_makes_the_total_unknown),
        cmocka_unit_test(a_host_that_is_free_has_a_price),
        cmocka_unit_test(bills_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
