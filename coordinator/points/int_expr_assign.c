/* An expression with a level of one axis put in. */
#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/points/int_expr_node.h"

#define DONE_MAX (1 << 21)

static int is_done(const struct int_expr *expr, int number, const void *what)
{
    const struct int_expr_done *a = &expr->done[number], *b = what;

    return a->node == b->node && a->axis == b->axis && a->level == b->level;
}

static int assign_table(struct int_expr *expr, const struct int_expr_node *node,
                        size_t axis, size_t level)
{
    uint64_t left = node->axes & ~(UINT64_C(1) << axis);

    assert((node->axes & ((UINT64_C(1) << axis) - 1)) == 0);
    return int_expr_node_part(expr, node->table, left,
                              node->constant +
                                  (int64_t)level *
                                      int_expr_node_combinations(expr, left));
}

/* A sum, product or the like of terms. */
static int assign_terms(struct int_expr *expr, const struct int_expr_node *node,
                        size_t axis, size_t level)
{
    struct int_expr_terms terms = { 0 };

    for (size_t i = 0; i < node->n; i++) {
        struct int_expr_term term = expr->terms[node->first + i];
        int to = int_expr_assign(expr, term.node, axis, level);

        if (to < 0) {
            free(terms.list);
            return INT_EXPR_NONE;
        }
        int_expr_node_push(&terms, term.factor, to);
    }
    return node->kind == INT_EXPR_SUM
               ? int_expr_node_sum(expr, node->constant, &terms)
           : node->kind == INT_EXPR_PRODUCT
               ? int_expr_node_product(expr, &terms)
           : node->kind == INT_EXPR_LEAST ? int_expr_node_least(expr, &terms)
                                          : int_expr_node_all(expr, &terms);
}

/* An operation of up to three terms. */
static int assign_few(struct int_expr *expr, const struct int_expr_node *node,
                      size_t axis, size_t level)
{
    int to[3] = { INT_EXPR_NONE, INT_EXPR_NONE, INT_EXPR_NONE };

    for (size_t i = 0; i < node->n; i++) {
        to[i] = int_expr_assign(expr, expr->terms[node->first + i].node, axis,
                                level);
        if (to[i] < 0)
            return INT_EXPR_NONE;
    }
    switch (node->kind) {
    case INT_EXPR_AT_MOST_0:
        return int_expr_node_at_most_0(expr, to[0]);
    case INT_EXPR_IS_0:
        return int_expr_node_is_0(expr, to[0]);
    case INT_EXPR_NOT:
        return int_expr_not(expr, to[0]);
    case INT_EXPR_QUOTIENT:
        return int_expr_quotient(expr, to[0], to[1]);
    case INT_EXPR_REMAINDER:
        return int_expr_remainder(expr, to[0], to[1]);
    default:
        return int_expr_if(expr, to[0], to[1], to[2]);
    }
}

static int assign_any(struct int_expr *expr, const struct int_expr_node *node,
                      size_t axis, size_t level)
{
    switch (node->kind) {
    case INT_EXPR_TABLE:
        return assign_table(expr, node, axis, level);
    case INT_EXPR_SUM:
    case INT_EXPR_PRODUCT:
    case INT_EXPR_LEAST:
    case INT_EXPR_ALL:
        return assign_terms(expr, node, axis, level);
    default:
        return assign_few(expr, node, axis, level);
    }
}

int int_expr_assign(struct int_expr *expr, int node, size_t axis, size_t level)
{
    struct int_expr_node from;
    struct int_expr_done done;
    uint64_t hash;
    int *slot;

    if (node < 0 || !(expr->nodes[node].axes >> axis & 1))
        return node;
    done = (struct int_expr_done){ node, INT_EXPR_NONE, (uint16_t)axis,
                                   (uint16_t)level };
    hash = int_expr_node_mix(int_expr_node_mix((uint64_t)node, axis), level);
    slot = int_expr_node_slot(expr, &expr->by_done, hash, is_done, &done);
    if (*slot)
        return expr->done[*slot - 1].result;
    if (expr->n_done == DONE_MAX)
        return INT_EXPR_NONE;
    from = expr->nodes[node]; /* a copy: the nodes may move */
    done.result = assign_any(expr, &from, axis, level);
    if (expr->n_done == expr->cap_done) {
        expr->cap_done = expr->cap_done ? 2 * expr->cap_done : 1024;
        expr->done = mem_grow(expr->done, expr->cap_done, sizeof(*expr->done));
    }
    expr->done[expr->n_done] = done;
    slot = int_expr_node_slot(expr, &expr->by_done, hash, is_done, &done);
    *slot = (int)++expr->n_done;
    expr->by_done.n++;
    return done.result;
}
