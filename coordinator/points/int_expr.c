#include "coordinator/points/int_expr.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/points/int_expr_node.h"

struct int_expr *int_expr_new(const size_t *sizes, size_t n_axes, size_t room)
{
    struct int_expr *expr = mem_new(1, sizeof(*expr));

    assert(n_axes <= INT_EXPR_AXES_MAX);
    memcpy(expr->sizes, sizes, n_axes * sizeof(*sizes));
    expr->n_axes = n_axes;
    expr->room = room;
    return expr;
}

void int_expr_free(struct int_expr *expr)
{
    if (!expr)
        return;
    for (size_t i = 0; i < expr->n_tables; i++)
        free(expr->tables[i].values);
    free(expr->tables);
    free(expr->nodes);
    free(expr->terms);
    free(expr->done);
    free(expr->by_node.slots);
    free(expr->by_done.slots);
    free(expr);
}

size_t int_expr_n_axes(const struct int_expr *expr)
{
    return expr->n_axes;
}

size_t int_expr_levels(const struct int_expr *expr, size_t axis)
{
    return expr->sizes[axis];
}

uint64_t int_expr_axes(const struct int_expr *expr, int node)
{
    return expr->nodes[node].axes;
}

void int_expr_bounds(const struct int_expr *expr, int node, int64_t *low,
                     int64_t *high)
{
    *low = expr->nodes[node].low;
    *high = expr->nodes[node].high;
}

int int_expr_constant(struct int_expr *expr, int64_t value)
{
    const struct int_expr_term no_term = { 0 };

    return int_expr_node_get(
        expr, (struct int_expr_node){ .low = value, .high = value }, &no_term,
        0);
}

int int_expr_table(struct int_expr *expr, uint64_t axes, const int64_t *values)
{
    size_t n = (size_t)int_expr_node_combinations(expr, axes);
    struct int_expr_node_table table = { axes, mem_new(n, sizeof(*values)) };

    for (size_t i = 0; i < n; i++)
        table.values[i] = values[i];
    expr->tables =
        mem_grow(expr->tables, expr->n_tables + 1, sizeof(*expr->tables));
    expr->tables[expr->n_tables++] = table;
    return int_expr_node_part(expr, (int)expr->n_tables - 1, axes, 0);
}

/* ---- sums and products */

static struct int_expr_terms two(int64_t factor_a, int a, int64_t factor_b,
                                 int b)
{
    struct int_expr_terms terms = { 0 };

    int_expr_node_push(&terms, factor_a, a);
    int_expr_node_push(&terms, factor_b, b);
    return terms;
}

int int_expr_sum(struct int_expr *expr, int64_t factor_a, int a,
                 int64_t factor_b, int b)
{
    struct int_expr_terms terms;

    if (a < 0 || b < 0)
        return INT_EXPR_NONE;
    terms = two(factor_a, a, factor_b, b);
    return int_expr_node_sum(expr, 0, &terms);
}

int int_expr_product(struct int_expr *expr, int a, int b)
{
    struct int_expr_terms terms;

    if (a < 0 || b < 0)
        return INT_EXPR_NONE;
    terms = two(1, a, 1, b);
    return int_expr_node_product(expr, &terms);
}

/* ---- division */

/* A number with bounds, to divide by one that is never 0? */
static bool divides(const struct int_expr *expr, int a, int b)
{
    return a >= 0 && b >= 0 && !int_expr_node_exceeds(expr, a) &&
           !int_expr_node_exceeds(expr, b) &&
           (expr->nodes[b].low > 0 || expr->nodes[b].high < 0);
}

int int_expr_quotient(struct int_expr *expr, int a, int b)
{
    const struct int_expr_term terms[] = { { 1, a }, { 1, b } };
    struct int_expr_node node = { .kind = INT_EXPR_QUOTIENT };

    if (!divides(expr, a, b))
        return INT_EXPR_NONE;
    for (int corner = 0; corner < 4; corner++) {
        int64_t x = corner & 1 ? expr->nodes[a].high : expr->nodes[a].low;
        int64_t q = x / (corner & 2 ? expr->nodes[b].high : expr->nodes[b].low);

        node.low = corner && node.low < q ? node.low : q;
        node.high = corner && node.high > q ? node.high : q;
    }
    if (node.high == INT_EXPR_LIMIT)
        return INT_EXPR_NONE;
    return int_expr_node_get(expr, node, terms, 2);
}

/* The sum modulo 'by', if it stays >= 0: factors and constant are reduced. */
static int reduce(struct int_expr *expr, int sum, int64_t by)
{
    struct int_expr_node from = expr->nodes[sum];
    struct int_expr_terms terms = { 0 };

    if (from.kind != INT_EXPR_SUM || from.low < 0)
        return sum;
    for (size_t i = 0; i < from.n; i++) {
        struct int_expr_term term = expr->terms[from.first + i];

        if (expr->nodes[term.node].low >= 0)
            term.factor = (term.factor % by + by) % by;
        int_expr_node_push(&terms, term.factor, term.node);
    }
    sum = int_expr_node_sum(expr, (from.constant % by + by) % by, &terms);
    return sum >= 0 && expr->nodes[sum].low >= 0 ? sum : INT_EXPR_NONE;
}

int int_expr_remainder(struct int_expr *expr, int a, int b)
{
    struct int_expr_node node = { .kind = INT_EXPR_REMAINDER };
    struct int_expr_term terms[2];
    bool fixed;
    int64_t most;

    if (!divides(expr, a, b))
        return INT_EXPR_NONE;
    fixed = expr->nodes[b].low == expr->nodes[b].high;
    if (fixed) {
        int reduced = reduce(expr, a, llabs(expr->nodes[b].low));

        a = reduced >= 0 ? reduced : a;
    }
    most = expr->nodes[b].low > 0 ? expr->nodes[b].high : -expr->nodes[b].low;
    node.high = most - 1;
    node.low = 1 - most;
    if (expr->nodes[a].low >= 0)
        node.low = 0;
    if (expr->nodes[a].high <= 0)
        node.high = 0;
    if (fixed && expr->nodes[a].low > -most && expr->nodes[a].high < most)
        return a;
    if (fixed && expr->nodes[a].low == expr->nodes[a].high)
        return int_expr_constant(expr, expr->nodes[a].low % expr->nodes[b].low);
    terms[0] = (struct int_expr_term){ 1, a };
    terms[1] = (struct int_expr_term){ 1, b };
    return int_expr_node_get(expr, node, terms, 2);
}

int int_expr_least(struct int_expr *expr, int a, int b)
{
    struct int_expr_terms terms;

    if (a < 0 || b < 0 || int_expr_node_exceeds(expr, a) ||
        int_expr_node_exceeds(expr, b))
        return INT_EXPR_NONE;
    terms = two(1, a, 1, b);
    return int_expr_node_least(expr, &terms);
}

/* ---- truth */

static bool is_truth(const struct int_expr *expr, int node)
{
    return expr->nodes[node].low >= 0 && expr->nodes[node].high <= 1;
}

static int truth(struct int_expr *expr, int node)
{
    if (node < 0 || is_truth(expr, node))
        return node;
    return int_expr_not(expr, int_expr_node_is_0(expr, node));
}

int int_expr_not(struct int_expr *expr, int a)
{
    struct int_expr_term term = { 1, a };

    if (a < 0)
        return INT_EXPR_NONE;
    if (!is_truth(expr, a))
        return int_expr_node_is_0(expr, a);
    if (expr->nodes[a].low == expr->nodes[a].high)
        return int_expr_constant(expr, !expr->nodes[a].low);
    if (expr->nodes[a].kind == INT_EXPR_NOT)
        return expr->terms[expr->nodes[a].first].node;
    return int_expr_node_get(
        expr, (struct int_expr_node){ .kind = INT_EXPR_NOT, .high = 1 }, &term,
        1);
}

int int_expr_and(struct int_expr *expr, int a, int b)
{
    struct int_expr_terms terms;

    a = truth(expr, a);
    b = truth(expr, b);
    if (a < 0 || b < 0)
        return INT_EXPR_NONE;
    terms = two(1, a, 1, b);
    return int_expr_node_all(expr, &terms);
}

int int_expr_or(struct int_expr *expr, int a, int b)
{
    return int_expr_not(
        expr, int_expr_and(expr, int_expr_not(expr, a), int_expr_not(expr, b)));
}

int int_expr_if(struct int_expr *expr, int condition, int yes, int no)
{
    struct int_expr_term terms[3];
    struct int_expr_node node = { .kind = INT_EXPR_IF };
    const struct int_expr_node *a, *b;

    condition = truth(expr, condition);
    if (condition < 0 || yes < 0 || no < 0 ||
        int_expr_node_exceeds(expr, yes) || int_expr_node_exceeds(expr, no))
        return INT_EXPR_NONE;
    if (expr->nodes[condition].low == expr->nodes[condition].high)
        return expr->nodes[condition].low ? yes : no;
    if (yes == no)
        return yes;
    a = &expr->nodes[yes];
    b = &expr->nodes[no];
    node.low = a->low < b->low ? a->low : b->low;
    node.high = a->high > b->high ? a->high : b->high;
    terms[0] = (struct int_expr_term){ 1, condition };
    terms[1] = (struct int_expr_term){ 1, yes };
    terms[2] = (struct int_expr_term){ 1, no };
    return int_expr_node_get(expr, node, terms, 3);
}

/* a - b where only a may exceed the bounds. */
static int difference(struct int_expr *expr, int a, int b, int64_t more)
{
    struct int_expr_terms terms = two(1, a, -1, b);

    return int_expr_node_sum(expr, more, &terms);
}

int int_expr_equal(struct int_expr *expr, int a, int b)
{
    int first, second;

    if (a < 0 || b < 0 ||
        (int_expr_node_exceeds(expr, a) && int_expr_node_exceeds(expr, b)))
        return INT_EXPR_NONE;
    first = int_expr_node_exceeds(expr, b) ? b : a;
    second = first == a ? b : a;
    return int_expr_node_is_0(expr, difference(expr, first, second, 0));
}

int int_expr_at_most(struct int_expr *expr, int a, int b)
{
    if (a < 0 || b < 0 ||
        (int_expr_node_exceeds(expr, a) && int_expr_node_exceeds(expr, b)))
        return INT_EXPR_NONE;
    if (!int_expr_node_exceeds(expr, b))
        return int_expr_node_at_most_0(expr, difference(expr, a, b, 0));
    return int_expr_not(
        expr, int_expr_node_at_most_0(expr, difference(expr, b, a, 1)));
}
