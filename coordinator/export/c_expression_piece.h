/* c_expression_piece.h - builds C expressions; private to c_expression.c
 *
 * A piece is the C of one part of a rule, with the properties that decide on
 * parentheses and casts.  Every sum and product is computed in long long, as in
 * SQL, whatever the types of its operands in C.
 */
#ifndef FA_COORDINATOR_EXPORT_C_EXPRESSION_PIECE_H
#define FA_COORDINATOR_EXPORT_C_EXPRESSION_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How tightly a piece binds, the tightest first. */
enum c_expression_piece_rank {
    C_EXPRESSION_PIECE_ATOM, /* a name, a number, or in parentheses */
    C_EXPRESSION_PIECE_UNARY,
    C_EXPRESSION_PIECE_PRODUCT,
    C_EXPRESSION_PIECE_SUM,
    C_EXPRESSION_PIECE_LOOSE, /* comparisons, logic, bits, ?: */
};

struct c_expression_piece {
    const char *c; /* owned by the pool; for a text, the text itself */
    enum c_expression_piece_rank rank;
    bool text;     /* not a number */
    bool wide;     /* its type in C is long long */
    bool truth;    /* 0 or 1 */
    bool literal;  /* a number without sign */
    int64_t value; /* of a literal */
};

/* The strings of one translation; freed together. */
struct c_expression_piece_pool {
    char **items;
    size_t n, bytes;
    bool full; /* above C_EXPRESSION_BYTES_MAX: pieces are "" from then on */
};
void c_expression_piece_pool_fini(struct c_expression_piece_pool *pool);

struct c_expression_piece
c_expression_piece_number(struct c_expression_piece_pool *pool, int64_t value);
struct c_expression_piece
c_expression_piece_name(struct c_expression_piece_pool *pool, const char *name);
struct c_expression_piece
c_expression_piece_variable(struct c_expression_piece_pool *pool,
                            const char *name);
struct c_expression_piece
c_expression_piece_text(struct c_expression_piece_pool *pool, const char *text,
                        size_t len);

struct c_expression_piece
c_expression_piece_widen(struct c_expression_piece_pool *pool,
                         struct c_expression_piece piece);
/* As a condition: 0 or 1. */
struct c_expression_piece
c_expression_piece_truth(struct c_expression_piece_pool *pool,
                         struct c_expression_piece piece);

struct c_expression_piece
c_expression_piece_negate(struct c_expression_piece_pool *pool,
                          struct c_expression_piece piece);
struct c_expression_piece
c_expression_piece_invert(struct c_expression_piece_pool *pool,
                          struct c_expression_piece piece);
struct c_expression_piece
c_expression_piece_not(struct c_expression_piece_pool *pool,
                       struct c_expression_piece piece);
/* + - * / % & | < <= > >= == != */
struct c_expression_piece
c_expression_piece_binary(struct c_expression_piece_pool *pool, const char *op,
                          struct c_expression_piece left,
                          struct c_expression_piece right);
/* && || */
struct c_expression_piece
c_expression_piece_logic(struct c_expression_piece_pool *pool, const char *op,
                         struct c_expression_piece left,
                         struct c_expression_piece right);
/* << >> by a literal below 63 */
struct c_expression_piece
c_expression_piece_shift(struct c_expression_piece_pool *pool, bool left,
                         struct c_expression_piece piece, int bits);
struct c_expression_piece c_expression_piece_choose(
    struct c_expression_piece_pool *pool, struct c_expression_piece condition,
    struct c_expression_piece then, struct c_expression_piece otherwise);

#endif
