/* Canonical forms and bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/points/int_expr.h"

static struct int_expr *expr;
static int a, b; /* 1, 2, 4 and 1, 2 */

static int setup(void **state)
{
    const size_t sizes[] = { 3, 2 };

    (void)state;
    expr = int_expr_new(sizes, 2, 1000);
    a = int_expr_table(expr, 1, (const int64_t[]){ 1, 2, 4 });
    b = int_expr_table(expr, 2, (const int64_t[]){ 1, 2 });
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    int_expr_free(expr);
    return 0;
}

static int whole(int64_t value)
{
    return int_expr_constant(expr, value);
}

static void equal_expressions_are_one_node(void **state)
{
    (void)state;
    assert_int_equal(int_expr_sum(expr, 1, a, 1, b),
                     int_expr_sum(expr, 1, b, 1, a));
    assert_int_equal(int_expr_sum(expr, 1, a, -1, a), whole(0));
    assert_int_equal(int_expr_product(expr, a, b),
                     int_expr_product(expr, b, a));
    assert_int_equal(
        int_expr_at_most(expr, int_expr_sum(expr, 2, a, 2, b), whole(7)),
        int_expr_at_most(expr, int_expr_sum(expr, 1, a, 1, b), whole(3)));
    assert_int_equal(
        int_expr_at_most(expr, whole(3), int_expr_sum(expr, 2, a, 0, a)),
        int_expr_at_most(expr, whole(2), a));
    assert_int_equal(
        int_expr_equal(expr, int_expr_sum(expr, 2, a, 2, b), whole(7)),
        whole(0));
}

static void bounds_decide_comparisons(void **state)
{
    (void)state;
    assert_int_equal(
        int_expr_at_most(expr, int_expr_product(expr, a, b), whole(8)),
        whole(1));
    assert_int_equal(int_expr_at_most(expr, whole(5), a), whole(0));
    assert_int_equal(int_expr_least(expr, b, whole(9)), b);
}

static void levels_that_add_up_to_the_same_lead_to_one_node(void **state)
{
    int product =
        int_expr_at_most(expr, int_expr_product(expr, a, b), whole(5));

    (void)state;
    assert_int_equal(int_expr_assign(expr, product, 0, 0), whole(1));
    assert_int_equal(int_expr_assign(expr, product, 0, 1), whole(1));
    assert_int_not_equal(int_expr_assign(expr, product, 0, 2), whole(1));
}

static void what_has_no_value_is_refused(void **state)
{
    int difference = int_expr_sum(expr, 1, a, -1, b), big = a;

    (void)state;
    assert_int_equal(int_expr_quotient(expr, b, difference), INT_EXPR_NONE);
    assert_int_equal(int_expr_remainder(expr, b, whole(0)), INT_EXPR_NONE);
    assert_int_equal(int_expr_sum(expr, 1, INT_EXPR_NONE, 1, a), INT_EXPR_NONE);
    for (int i = 0; i < 40; i++)
        big = int_expr_product(expr, big, a);
    assert_true(big >= 0); /* beyond 63 bits; only compared */
    assert_true(int_expr_at_most(expr, big, whole(1024)) >= 0);
    assert_int_equal(int_expr_remainder(expr, big, whole(7)), INT_EXPR_NONE);
    assert_int_equal(int_expr_product(expr, big, difference), INT_EXPR_NONE);
    assert_int_equal(int_expr_sum(expr, -1, big, 1, a), INT_EXPR_NONE);
    assert_int_equal(int_expr_equal(expr, big, big), INT_EXPR_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_expressions_are_one_node, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(bounds_decide_comparisons, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            levels_that_add_up_to_the_same_lead_to_one_node, setup, teardown),
        cmocka_unit_test_setup_teardown(what_has_no_value_is_refused, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
