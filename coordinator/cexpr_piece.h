/* cexpr_piece.h - expressions of C put together; private to cexpr.c
 *
 * A piece is the C of one part of a rule, with what decides on parentheses
 * and casts: every sum and product is computed in long long, as in SQL,
 * whatever its operands are in C.
 */
#ifndef FA_COORDINATOR_CEXPR_PIECE_H
#define FA_COORDINATOR_CEXPR_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How tight a piece holds together, the tightest first. */
enum piece_rank {
    PIECE_ATOM, /* a name, a number, something in parentheses */
    PIECE_UNARY,
    PIECE_PRODUCT,
    PIECE_SUM,
    PIECE_LOOSE, /* comparisons, logic, bits, ?: */
};

struct piece {
    const char *c; /* of the pool; for a text the text itself */
    enum piece_rank rank;
    bool text;     /* not a number */
    bool wide;     /* its type in C is long long */
    bool truth;    /* 0 or 1 */
    bool literal;  /* a number without sign */
    int64_t value; /* of a literal */
};

/* The strings of one translation; they go together. */
struct piece_pool {
    char **items;
    size_t n, bytes;
    bool full; /* more than CEXPR_BYTES_MAX: pieces are "" from then on */
};
void piece_pool_fini(struct piece_pool *pool);

struct piece piece_number(struct piece_pool *pool, int64_t value);
struct piece piece_name(struct piece_pool *pool, const char *name);
struct piece piece_variable(struct piece_pool *pool, const char *name);
struct piece piece_text(struct piece_pool *pool, const char *text, size_t len);

struct piece piece_widen(struct piece_pool *pool, struct piece piece);
/* As a condition: 0 or 1. */
struct piece piece_truth(struct piece_pool *pool, struct piece piece);

struct piece piece_negate(struct piece_pool *pool, struct piece piece);
struct piece piece_invert(struct piece_pool *pool, struct piece piece);
struct piece piece_not(struct piece_pool *pool, struct piece piece);
/* + - * / % & | < <= > >= == != */
struct piece piece_binary(struct piece_pool *pool, const char *op,
                          struct piece left, struct piece right);
/* && || */
struct piece piece_logic(struct piece_pool *pool, const char *op,
                         struct piece left, struct piece right);
/* << >> by a literal below 63 */
struct piece piece_shift(struct piece_pool *pool, bool left, struct piece piece,
                         int bits);
struct piece piece_choose(struct piece_pool *pool, struct piece condition,
                          struct piece then, struct piece otherwise);

#endif
