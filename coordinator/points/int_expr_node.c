/* Nodes that exist once each, found by a hash of their contents. */
#include "coordinator/points/int_expr_node.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

#define SLOTS_FIRST 1024

uint64_t int_expr_node_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

void int_expr_node_push(struct int_expr_terms *terms, int64_t factor, int node)
{
    if (terms->n == terms->cap) {
        terms->cap = terms->cap ? 2 * terms->cap : 8;
        terms->list = mem_grow(terms->list, terms->cap, sizeof(*terms->list));
    }
    terms->list[terms->n++] = (struct int_expr_term){ factor, node };
}

static int by_number(const void *a, const void *b)
{
    int x = ((const struct int_expr_term *)a)->node;
    int y = ((const struct int_expr_term *)b)->node;

    return (x > y) - (x < y);
}

void int_expr_node_sort(struct int_expr_terms *terms)
{
    if (terms->n > 1)
        qsort(terms->list, terms->n, sizeof(*terms->list), by_number);
}

/* ---- finding */

struct wanted {
    const struct int_expr_node *node;
    const struct int_expr_term *terms;
};

static int same_values(const struct int_expr *expr,
                       const struct int_expr_node *a,
                       const struct int_expr_node *b)
{
    const int64_t *values = expr->tables[a->table].values;
    int64_t n = int_expr_node_combinations(expr, a->axes);

    return memcmp(values + a->constant, values + b->constant,
                  (size_t)n * sizeof(*values)) == 0;
}

static int is_node(const struct int_expr *expr, int number, const void *what)
{
    const struct wanted *wanted = what;
    const struct int_expr_node *a = &expr->nodes[number], *b = wanted->node;

    if (a->kind != b->kind || a->n != b->n || a->axes != b->axes)
        return 0;
    if (a->kind == INT_EXPR_TABLE)
        return a->table == b->table && same_values(expr, a, b);
    if (a->constant != b->constant)
        return 0;
    for (size_t i = 0; i < a->n; i++)
        if (expr->terms[a->first + i].node != wanted->terms[i].node ||
            expr->terms[a->first + i].factor != wanted->terms[i].factor)
            return 0;
    return 1;
}

static uint64_t hash_of(const struct int_expr *expr,
                        const struct int_expr_node *node,
                        const struct int_expr_term *terms)
{
    uint64_t hash = int_expr_node_mix(
        int_expr_node_mix((uint64_t)node->kind, node->axes), node->n);

    if (node->kind == INT_EXPR_TABLE) {
        int64_t n = int_expr_node_combinations(expr, node->axes);

        hash = int_expr_node_mix(hash, (uint64_t)node->table);
        for (int64_t i = 0; i < n; i++)
            hash = int_expr_node_mix(
                hash,
                (uint64_t)expr->tables[node->table].values[node->constant + i]);
        return hash;
    }
    hash = int_expr_node_mix(hash, (uint64_t)node->constant);
    for (size_t i = 0; i < node->n; i++)
        hash =
            int_expr_node_mix(int_expr_node_mix(hash, (uint64_t)terms[i].node),
                              (uint64_t)terms[i].factor);
    return hash;
}

static uint64_t hash_of_number(const struct int_expr *expr,
                               const struct int_expr_map *map, int number)
{
    if (map == &expr->by_node)
        return hash_of(expr, &expr->nodes[number],
                       expr->terms + expr->nodes[number].first);
    return int_expr_node_mix(
        int_expr_node_mix((uint64_t)expr->done[number].node,
                          expr->done[number].axis),
        expr->done[number].level);
}

static void widen(struct int_expr *expr, struct int_expr_map *map)
{
    int *old = map->slots;
    size_t n = map->size;

    map->size = n ? 2 * n : SLOTS_FIRST;
    map->slots = mem_new(map->size, sizeof(*map->slots));
    for (size_t i = 0; i < n; i++) {
        size_t at;

        if (!old[i])
            continue;
        at = hash_of_number(expr, map, old[i] - 1) & (map->size - 1);
        while (map->slots[at])
            at = (at + 1) & (map->size - 1);
        map->slots[at] = old[i];
    }
    free(old);
}

int *int_expr_node_slot(struct int_expr *expr, struct int_expr_map *map,
                        uint64_t hash,
                        int (*is)(const struct int_expr *expr, int number,
                                  const void *what),
                        const void *what)
{
    size_t at;

    if (2 * map->n >= map->size)
        widen(expr, map);
    at = hash & (map->size - 1);
    while (map->slots[at] && !is(expr, map->slots[at] - 1, what))
        at = (at + 1) & (map->size - 1);
    return &map->slots[at];
}

/* ---- making */

int64_t int_expr_node_combinations(const struct int_expr *expr, uint64_t axes)
{
    int64_t n = 1;

    for (size_t a = 0; a < expr->n_axes; a++)
        if (axes >> a & 1)
            n *= (int64_t)expr->sizes[a];
    return n;
}

static int add_node(struct int_expr *expr, const struct int_expr_node *like,
                    const struct int_expr_term *terms)
{
    struct int_expr_node *node;

    if (expr->n == expr->cap) {
        expr->cap = expr->cap ? 2 * expr->cap : 256;
        expr->nodes = mem_grow(expr->nodes, expr->cap, sizeof(*expr->nodes));
    }
    while (expr->n_terms + like->n > expr->cap_terms) {
        expr->cap_terms = expr->cap_terms ? 2 * expr->cap_terms : 1024;
        expr->terms =
            mem_grow(expr->terms, expr->cap_terms, sizeof(*expr->terms));
    }
    node = &expr->nodes[expr->n];
    *node = *like;
    node->first = expr->n_terms;
    for (size_t i = 0; i < like->n; i++)
        expr->terms[expr->n_terms++] = terms[i];
    return (int)expr->n++;
}

int int_expr_node_get(struct int_expr *expr, struct int_expr_node like,
                      const struct int_expr_term *terms, size_t n)
{
    struct wanted wanted = { &like, terms };
    int *slot;

    if (like.low < -INT_EXPR_LIMIT || like.high > INT_EXPR_LIMIT)
        return INT_EXPR_NONE;
    like.n = n;
    if (like.low == like.high)
        like = (struct int_expr_node){ .constant = like.low,
                                       .low = like.low,
                                       .high = like.low };
    for (size_t i = 0; i < like.n; i++)
        like.axes |= expr->nodes[terms[i].node].axes;
    slot = int_expr_node_slot(expr, &expr->by_node, hash_of(expr, &like, terms),
                              is_node, &wanted);
    if (*slot)
        return *slot - 1;
    if (expr->n == expr->room)
        return INT_EXPR_NONE;
    expr->by_node.n++;
    *slot = (int)expr->n + 1;
    return add_node(expr, &like, terms);
}

int int_expr_node_part(struct int_expr *expr, int table, uint64_t axes,
                       int64_t first)
{
    const struct int_expr_term no_term = { 0 };
    const int64_t *values = expr->tables[table].values + first;
    int64_t n = int_expr_node_combinations(expr, axes);
    struct int_expr_node part = { .kind = INT_EXPR_TABLE,
                                  .table = table,
                                  .constant = first,
                                  .low = values[0],
                                  .high = values[0],
                                  .axes = axes };

    for (int64_t i = 1; i < n; i++) {
        part.low = values[i] < part.low ? values[i] : part.low;
        part.high = values[i] > part.high ? values[i] : part.high;
    }
    return int_expr_node_get(expr, part, &no_term, 0);
}
