/* int_expr_parse.h - reads a SQL expression as an int_expr
 *
 * It knows whole numbers, + - * / %, comparisons, BETWEEN, IN, IS, AND, OR,
 * NOT, CASE, CAST, abs, ceil, coalesce, floor, ifnull, iif, max, min, sign and
 * trunc.  A part of few axes that it does not know, as log2(?1) or a text, is
 * evaluated by the caller for all combinations of its axes.  The result is
 * exactly what SQLite yields, or INT_EXPR_NONE.
 *
 * The text has been checked (sql_rule.h), and an axis a is written "?N", with
 * N = a + 1.
 */
#ifndef FA_COORDINATOR_POINTS_INT_EXPR_PARSE_H
#define FA_COORDINATOR_POINTS_INT_EXPR_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct int_expr;

/* A part with more combinations is not evaluated, and the whole expression if
 * it has more than this. */
#define INT_EXPR_PARSE_PART_MAX 4096
#define INT_EXPR_PARSE_WHOLE_MAX 65536

struct int_expr_parse_use {
    /* [axes] the value of an axis, INT_EXPR_NONE if it is no whole number */
    const int *nodes;
    /* Evaluate 'text' for all combinations of 'axes', the last one fastest;
     * false unless all 'n' values are whole numbers. */
    bool (*evaluate)(void *arg, const char *text, size_t len, uint64_t axes,
                     int64_t *values, size_t n);
    void *arg;
};

/* 'axes' are those that the text names. */
int int_expr_parse(struct int_expr *expr, const char *text, uint64_t axes,
                   const struct int_expr_parse_use *use);

#endif
