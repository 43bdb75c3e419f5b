#include "coordinator/export/c_expression_piece.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/export/c_expression.h"

#define POOL_BYTES_MAX ((size_t)16 * C_EXPRESSION_BYTES_MAX)

void c_expression_piece_pool_fini(struct c_expression_piece_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++)
        free(pool->items[i]);
    free(pool->items);
}

__attribute__((format(printf, 2, 3))) static const char *
keep(struct c_expression_piece_pool *pool, const char *fmt, ...)
{
    va_list ap;
    char *text;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(len >= 0);
    pool->bytes += (size_t)len + 1;
    if (len > C_EXPRESSION_BYTES_MAX || pool->bytes > POOL_BYTES_MAX)
        pool->full = true;
    if (pool->full)
        return "";
    text = mem_new((size_t)len + 1, 1);
    va_start(ap, fmt);
    vsnprintf(text, (size_t)len + 1, fmt, ap);
    va_end(ap);
    pool->items = mem_grow(pool->items, pool->n + 1, sizeof(*pool->items));
    pool->items[pool->n++] = text;
    return text;
}

/* The piece in parentheses, unless it binds as tightly as 'rank'. */
static const char *within(struct c_expression_piece_pool *pool,
                          struct c_expression_piece piece,
                          enum c_expression_piece_rank rank)
{
    return piece.rank <= rank ? piece.c : keep(pool, "(%s)", piece.c);
}

struct c_expression_piece
c_expression_piece_number(struct c_expression_piece_pool *pool, int64_t value)
{
    bool wide = value > INT32_MAX;

    return (struct c_expression_piece){ .c = keep(pool, "%" PRId64 "%s", value,
                                                  wide ? "LL" : ""),
                                        .wide = wide,
                                        .literal = true,
                                        .value = value };
}

struct c_expression_piece
c_expression_piece_name(struct c_expression_piece_pool *pool, const char *name)
{
    return (struct c_expression_piece){ .c = keep(pool, "%s", name) };
}

struct c_expression_piece
c_expression_piece_variable(struct c_expression_piece_pool *pool,
                            const char *name)
{
    return (struct c_expression_piece){ .c =
                                            keep(pool, "(long long)(%s)", name),
                                        .rank = C_EXPRESSION_PIECE_UNARY,
                                        .wide = true };
}

struct c_expression_piece
c_expression_piece_text(struct c_expression_piece_pool *pool, const char *text,
                        size_t len)
{
    return (struct c_expression_piece){ .c = keep(pool, "%.*s", (int)len, text),
                                        .text = true };
}

struct c_expression_piece
c_expression_piece_widen(struct c_expression_piece_pool *pool,
                         struct c_expression_piece piece)
{
    if (piece.wide)
        return piece;
    piece.wide = true;
    if (piece.literal) {
        piece.c = keep(pool, "%sLL", piece.c);
        return piece;
    }
    piece.c = keep(pool, "(long long)%s",
                   within(pool, piece, C_EXPRESSION_PIECE_ATOM));
    piece.rank = C_EXPRESSION_PIECE_UNARY;
    return piece;
}

struct c_expression_piece
c_expression_piece_truth(struct c_expression_piece_pool *pool,
                         struct c_expression_piece piece)
{
    if (piece.truth)
        return piece;
    return c_expression_piece_binary(pool, "!=", piece,
                                     c_expression_piece_number(pool, 0));
}

static struct c_expression_piece unary(struct c_expression_piece_pool *pool,
                                       char op, struct c_expression_piece piece)
{
    piece = c_expression_piece_widen(pool, piece);
    return (struct c_expression_piece){
        .c = keep(pool, "%c%s", op,
                  within(pool, piece, C_EXPRESSION_PIECE_ATOM)),
        .rank = C_EXPRESSION_PIECE_UNARY,
        .wide = true
    };
}

struct c_expression_piece
c_expression_piece_negate(struct c_expression_piece_pool *pool,
                          struct c_expression_piece piece)
{
    return unary(pool, '-', piece);
}

struct c_expression_piece
c_expression_piece_invert(struct c_expression_piece_pool *pool,
                          struct c_expression_piece piece)
{
    return unary(pool, '~', piece);
}

struct c_expression_piece
c_expression_piece_not(struct c_expression_piece_pool *pool,
                       struct c_expression_piece piece)
{
    if (!piece.truth)
        return c_expression_piece_binary(pool, "==", piece,
                                         c_expression_piece_number(pool, 0));
    return (struct c_expression_piece){
        .c = keep(pool, "!%s", within(pool, piece, C_EXPRESSION_PIECE_ATOM)),
        .rank = C_EXPRESSION_PIECE_LOOSE,
        .truth = true
    };
}

struct c_expression_piece
c_expression_piece_binary(struct c_expression_piece_pool *pool, const char *op,
                          struct c_expression_piece left,
                          struct c_expression_piece right)
{
    struct c_expression_piece out = { .rank = C_EXPRESSION_PIECE_LOOSE };
    /* Compilers warn if the operands of & and | lack parentheses. */
    enum c_expression_piece_rank most_left = C_EXPRESSION_PIECE_UNARY,
                                 most_right = C_EXPRESSION_PIECE_UNARY;

    if (strchr("*/%", *op)) {
        out.rank = most_left = C_EXPRESSION_PIECE_PRODUCT;
    } else if (strchr("+-", *op)) {
        out.rank = most_left = C_EXPRESSION_PIECE_SUM;
        most_right = C_EXPRESSION_PIECE_PRODUCT;
    } else if (strchr("<>=!", *op)) {
        out.truth = true;
        most_left = most_right = C_EXPRESSION_PIECE_SUM;
    }
    if (!out.truth && !left.wide && !right.wide)
        left = c_expression_piece_widen(pool, left);
    out.wide = !out.truth;
    out.c = keep(pool, "%s %s %s", within(pool, left, most_left), op,
                 within(pool, right, most_right));
    return out;
}

struct c_expression_piece
c_expression_piece_logic(struct c_expression_piece_pool *pool, const char *op,
                         struct c_expression_piece left,
                         struct c_expression_piece right)
{
    left = c_expression_piece_truth(pool, left);
    right = c_expression_piece_truth(pool, right);
    return (struct c_expression_piece){
        .c =
            keep(pool, "%s %s %s", within(pool, left, C_EXPRESSION_PIECE_UNARY),
                 op, within(pool, right, C_EXPRESSION_PIECE_UNARY)),
        .rank = C_EXPRESSION_PIECE_LOOSE,
        .truth = true
    };
}

/* A left shift of a negative number is undefined in C, but not in SQL. */
struct c_expression_piece
c_expression_piece_shift(struct c_expression_piece_pool *pool, bool left,
                         struct c_expression_piece piece, int bits)
{
    piece = c_expression_piece_widen(pool, piece);
    if (left)
        return (struct c_expression_piece){
            .c = keep(pool, "(long long)((unsigned long long)%s << %d)",
                      within(pool, piece, C_EXPRESSION_PIECE_ATOM), bits),
            .rank = C_EXPRESSION_PIECE_UNARY,
            .wide = true
        };
    return (struct c_expression_piece){
        .c = keep(pool, "%s >> %d",
                  within(pool, piece, C_EXPRESSION_PIECE_UNARY), bits),
        .rank = C_EXPRESSION_PIECE_LOOSE,
        .wide = true
    };
}

struct c_expression_piece c_expression_piece_choose(
    struct c_expression_piece_pool *pool, struct c_expression_piece condition,
    struct c_expression_piece then, struct c_expression_piece otherwise)
{
    condition = c_expression_piece_truth(pool, condition);
    return (struct c_expression_piece){
        .c = keep(pool, "%s ? %s : %s",
                  within(pool, condition, C_EXPRESSION_PIECE_UNARY),
                  within(pool, then, C_EXPRESSION_PIECE_SUM),
                  within(pool, otherwise, C_EXPRESSION_PIECE_SUM)),
        .rank = C_EXPRESSION_PIECE_LOOSE,
        .wide = then.wide || otherwise.wide,
        .truth = then.truth && otherwise.truth
    };
}
