/* int_expr_node.h - the nodes of an expression
 *
 * Private to int_expr*.c.
 */
#ifndef FA_COORDINATOR_POINTS_INT_EXPR_NODE_H
#define FA_COORDINATOR_POINTS_INT_EXPR_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/points/int_expr.h"

/* No bound is beyond this: half of it fits any sum of two. */
#define INT_EXPR_LIMIT (INT64_C(1) << 61)

enum int_expr_kind {
    INT_EXPR_CONSTANT,
    INT_EXPR_TABLE,   /* 'constant' is the first of its values, 'table' whose */
    INT_EXPR_SUM,     /* 'constant' and terms */
    INT_EXPR_PRODUCT, /* of its terms, whose factors are 1 */
    INT_EXPR_LEAST,   /* of its terms, whose factors are 1 */
    INT_EXPR_AT_MOST_0, /* is its term <= 0? */
    INT_EXPR_IS_0,      /* is its term 0? */
    INT_EXPR_ALL,       /* are all its terms true?  They are 0 or 1 */
    INT_EXPR_NOT,       /* its term is 0 or 1 */
    INT_EXPR_QUOTIENT,
    INT_EXPR_REMAINDER,
    INT_EXPR_IF, /* term 1 if term 0 is 1, otherwise term 2 */
};

struct int_expr_term {
    int64_t factor;
    int node;
};

struct int_expr_node {
    enum int_expr_kind kind;
    int table;
    int64_t constant;
    int64_t low, high; /* high is INT_EXPR_LIMIT: that or more */
    uint64_t axes;
    size_t first, n; /* its terms */
};

struct int_expr_node_table {
    uint64_t axes;
    int64_t *values;
};

/* A map from a hash to numbers; a slot is a number + 1, or 0. */
struct int_expr_map {
    int *slots;
    size_t size; /* a power of two */
    size_t n;
};

/* An assignment that was done before. */
struct int_expr_done {
    int node, result;
    uint16_t axis, level;
};

struct int_expr {
    size_t sizes[INT_EXPR_AXES_MAX];
    size_t n_axes, room;
    struct int_expr_node *nodes;
    size_t n, cap;
    struct int_expr_term *terms;
    size_t n_terms, cap_terms;
    struct int_expr_node_table *tables;
    size_t n_tables;
    struct int_expr_map by_node;
    struct int_expr_done *done;
    size_t n_done, cap_done;
    struct int_expr_map by_done;
};

/* A list of terms in the making; free() the list. */
struct int_expr_terms {
    struct int_expr_term *list;
    size_t n, cap;
};

void int_expr_node_push(struct int_expr_terms *terms, int64_t factor, int node);
/* Sort by node. */
void int_expr_node_sort(struct int_expr_terms *terms);
uint64_t int_expr_node_mix(uint64_t hash, uint64_t value);
/* The slot of a hash where 'is' holds, or an empty one. */
int *int_expr_node_slot(struct int_expr *expr, struct int_expr_map *map,
                        uint64_t hash,
                        int (*is)(const struct int_expr *expr, int number,
                                  const void *what),
                        const void *what);
/* The node like 'like' with these terms; its axes are set here.  Without room,
 * or with bounds beyond the limit, INT_EXPR_NONE. */
int int_expr_node_get(struct int_expr *expr, struct int_expr_node like,
                      const struct int_expr_term *terms, size_t n);
/* Part of a table, with 'axes' left. */
int int_expr_node_part(struct int_expr *expr, int table, uint64_t axes,
                       int64_t first);
/* Combinations of these axes. */
int64_t int_expr_node_combinations(const struct int_expr *expr, uint64_t axes);
/* constant + the terms, their product, the least of them, whether all are
 * true.  They take the list; no node in it is INT_EXPR_NONE. */
int int_expr_node_sum(struct int_expr *expr, int64_t constant,
                      struct int_expr_terms *terms);
int int_expr_node_product(struct int_expr *expr, struct int_expr_terms *terms);
int int_expr_node_least(struct int_expr *expr, struct int_expr_terms *terms);
int int_expr_node_all(struct int_expr *expr, struct int_expr_terms *terms);
/* Does it stand for numbers without a bound? */
int int_expr_node_exceeds(const struct int_expr *expr, int node);
int int_expr_node_at_most_0(struct int_expr *expr, int node);
int int_expr_node_is_0(struct int_expr *expr, int node);

#endif
