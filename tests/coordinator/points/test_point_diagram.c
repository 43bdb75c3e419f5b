/* Counts and ranks of spaces that cannot be listed, by closed formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/points/int_expr.h"
#include "coordinator/points/point_diagram.h"

#define ROOM 200000

static struct int_expr *expr;
static size_t sizes[INT_EXPR_AXES_MAX];

static void open_axes(size_t n, size_t levels)
{
    for (size_t a = 0; a < n; a++)
        sizes[a] = levels;
    expr = int_expr_new(sizes, n, ROOM);
}

static int teardown(void **state)
{
    (void)state;
    int_expr_free(expr);
    expr = NULL;
    return 0;
}

/* Levels count from 'from'. */
static int axis(size_t a, int64_t from)
{
    int64_t values[16];

    for (size_t i = 0; i < sizes[a]; i++)
        values[i] = from + (int64_t)i;
    return int_expr_table(expr, UINT64_C(1) << a, values);
}

static int all_of(size_t n, int64_t from, bool product)
{
    int all = int_expr_constant(expr, product);

    for (size_t a = 0; a < n; a++)
        all = product ? int_expr_product(expr, all, axis(a, from))
                      : int_expr_sum(expr, 1, all, 1, axis(a, from));
    return all;
}

static int at_most(int node, int64_t most)
{
    return int_expr_at_most(expr, node, int_expr_constant(expr, most));
}

static void a_sum_of_sixty_axes_is_counted(void **state)
{
    struct point_diagram *diagram;

    (void)state;
    open_axes(60, 2);
    diagram = point_diagram_new(expr, at_most(all_of(60, 0, false), 3));
    assert_non_null(diagram);
    assert_int_equal(point_diagram_count(diagram), 1 + 60 + 1770 + 34220);
    assert_int_equal(point_diagram_at(diagram, 0), 0);
    assert_int_equal(point_diagram_at(diagram, 8), 8); /* 7 is the last of
                                                        * the first 8 */
    assert_int_equal(point_diagram_at(diagram, 15), 16);
    assert_int_equal(point_diagram_at(diagram, 36050), INT64_C(7) << 57);
    point_diagram_free(diagram);
    diagram = point_diagram_new(
        expr, int_expr_not(expr, at_most(all_of(60, 0, false), 3)));
    assert_int_equal(point_diagram_count(diagram), (INT64_C(1) << 60) - 36051);
    assert_int_equal(point_diagram_at(diagram, 0), 15);
    point_diagram_free(diagram);
}

/* The product of the values 1 to 8 has no bound of 63 bits. */
static void a_product_beyond_64_bits_is_counted(void **state)
{
    struct point_diagram *diagram;

    (void)state;
    open_axes(20, 8);
    diagram = point_diagram_new(expr, at_most(all_of(20, 1, true), 4));
    assert_non_null(diagram);
    /* all 1; one is 2, 3 or 4; two are 2 */
    assert_int_equal(point_diagram_count(diagram), 1 + 3 * 20 + 190);
    assert_int_equal(point_diagram_at(diagram, 1), 1);
    point_diagram_free(diagram);
}

static void axes_that_no_rule_names_multiply(void **state)
{
    struct point_diagram *diagram;
    int rule;

    (void)state;
    open_axes(5, 3);
    rule = int_expr_equal(expr, axis(1, 0), axis(3, 0));
    diagram = point_diagram_new(expr, rule);
    assert_int_equal(point_diagram_count(diagram), 81);
    for (int64_t rank = 0, number = 0; rank < 81; number++) {
        if (number / 27 % 3 != number / 3 % 3)
            continue;
        assert_int_equal(point_diagram_at(diagram, rank), number);
        rank++;
    }
    point_diagram_free(diagram);
}

static void a_rule_without_regularity_has_too_many_states(void **state)
{
    int all;

    (void)state;
    open_axes(40, 2);
    all = int_expr_constant(expr, 0);
    for (size_t a = 0; a < 40; a++)
        all = int_expr_sum(expr, 1, all, INT64_C(1) << a, axis(a, 0));
    all = int_expr_remainder(expr, int_expr_product(expr, all, all),
                             int_expr_constant(expr, 1000003));
    assert_true(all < 0 || point_diagram_new(expr, at_most(all, 500)) == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_sum_of_sixty_axes_is_counted, teardown),
        cmocka_unit_test_teardown(a_product_beyond_64_bits_is_counted,
                                  teardown),
        cmocka_unit_test_teardown(axes_that_no_rule_names_multiply, teardown),
        cmocka_unit_test_teardown(a_rule_without_regularity_has_too_many_states,
                                  teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
