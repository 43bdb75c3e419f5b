/* int_expr.h - expressions over the levels of axes, in whole numbers
 *
 * An expression yields a whole number for each combination of levels.  Equal
 * expressions are one node, in a canonical form: sums with factors, products,
 * comparisons with 0, AND and NOT.  Each node has bounds, by interval
 * arithmetic.  If they leave one value, the node is that constant.  So an
 * expression with some axes assigned is often the same as with other levels: a
 * sum depends on what the levels add up to, not on which they are.
 *
 * An operation yields INT_EXPR_NONE if the result is not a whole number within
 * bounds for all combinations, as x / 0 or 2^61, if an argument is
 * INT_EXPR_NONE, or if there is no room.  Products of numbers >= 0 may exceed
 * the bounds (SQLite makes them reals); they can only be multiplied, added and
 * compared.
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_POINTS_INT_EXPR_H
#define FA_COORDINATOR_POINTS_INT_EXPR_H

#include <stddef.h>
#include <stdint.h>

struct int_expr; /* a set of nodes, which are numbers >= 0 */

#define INT_EXPR_NONE (-1)
#define INT_EXPR_AXES_MAX 64
#define INT_EXPR_LEVELS_MAX 4096

/* sizes  [n_axes] levels of each axis, 1 to INT_EXPR_LEVELS_MAX; at most
 *        INT_EXPR_AXES_MAX axes
 * room   for nodes */
struct int_expr *int_expr_new(const size_t *sizes, size_t n_axes, size_t room);
void int_expr_free(struct int_expr *expr); /* NULL is fine */
size_t int_expr_n_axes(const struct int_expr *expr);
size_t int_expr_levels(const struct int_expr *expr, size_t axis);

int int_expr_constant(struct int_expr *expr, int64_t value);
/* A value for each combination of 'axes', a set of one or more, the last one
 * fastest. */
int int_expr_table(struct int_expr *expr, uint64_t axes, const int64_t *values);
/* factor_a * a + factor_b * b */
int int_expr_sum(struct int_expr *expr, int64_t factor_a, int a,
                 int64_t factor_b, int b);
int int_expr_product(struct int_expr *expr, int a, int b);
int int_expr_quotient(struct int_expr *expr, int a, int b);  /* towards 0 */
int int_expr_remainder(struct int_expr *expr, int a, int b); /* sign of a */
int int_expr_least(struct int_expr *expr, int a, int b);

/* These yield 0 or 1, and take any number but 0 as true. */
int int_expr_equal(struct int_expr *expr, int a, int b);
int int_expr_at_most(struct int_expr *expr, int a, int b);
int int_expr_and(struct int_expr *expr, int a, int b);
int int_expr_or(struct int_expr *expr, int a, int b);
int int_expr_not(struct int_expr *expr, int a);
int int_expr_if(struct int_expr *expr, int condition, int yes, int no);

/* The expression with this level of an axis.  Assign the axes of a table in
 * ascending order. */
int int_expr_assign(struct int_expr *expr, int node, size_t axis, size_t level);

uint64_t int_expr_axes(const struct int_expr *expr, int node);
/* Equal bounds: the node is a constant. */
void int_expr_bounds(const struct int_expr *expr, int node, int64_t *low,
                     int64_t *high);

#endif
