#include "coordinator/cexpr_piece.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/cexpr.h"

#define POOL_BYTES_MAX ((size_t)16 * CEXPR_BYTES_MAX)

void piece_pool_fini(struct piece_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++)
        free(pool->items[i]);
    free(pool->items);
}

__attribute__((format(printf, 2, 3))) static const char *
keep(struct piece_pool *pool, const char *fmt, ...)
{
    va_list ap;
    char *text;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(len >= 0);
    pool->bytes += (size_t)len + 1;
    if (len > CEXPR_BYTES_MAX || pool->bytes > POOL_BYTES_MAX)
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

/* The piece in parentheses, unless it is as tight as 'rank'. */
static const char *within(struct piece_pool *pool, struct piece piece,
                          enum piece_rank rank)
{
    return piece.rank <= rank ? piece.c : keep(pool, "(%s)", piece.c);
}

struct piece piece_number(struct piece_pool *pool, int64_t value)
{
    bool wide = value > INT32_MAX;

    return (struct piece){ .c = keep(pool, "%" PRId64 "%s", value,
                                     wide ? "LL" : ""),
                           .wide = wide,
                           .literal = true,
                           .value = value };
}

struct piece piece_name(struct piece_pool *pool, const char *name)
{
    return (struct piece){ .c = keep(pool, "%s", name) };
}

struct piece piece_variable(struct piece_pool *pool, const char *name)
{
    return (struct piece){ .c = keep(pool, "(long long)(%s)", name),
                           .rank = PIECE_UNARY,
                           .wide = true };
}

struct piece piece_text(struct piece_pool *pool, const char *text, size_t len)
{
    return (struct piece){ .c = keep(pool, "%.*s", (int)len, text),
                           .text = true };
}

struct piece piece_widen(struct piece_pool *pool, struct piece piece)
{
    if (piece.wide)
        return piece;
    piece.wide = true;
    if (piece.literal) {
        piece.c = keep(pool, "%sLL", piece.c);
        return piece;
    }
    piece.c = keep(pool, "(long long)%s", within(pool, piece, PIECE_ATOM));
    piece.rank = PIECE_UNARY;
    return piece;
}

struct piece piece_truth(struct piece_pool *pool, struct piece piece)
{
    if (piece.truth)
        return piece;
    return piece_binary(pool, "!=", piece, piece_number(pool, 0));
}

static struct piece unary(struct piece_pool *pool, char op, struct piece piece)
{
    piece = piece_widen(pool, piece);
    return (struct piece){ .c = keep(pool, "%c%s", op,
                                     within(pool, piece, PIECE_ATOM)),
                           .rank = PIECE_UNARY,
                           .wide = true };
}

struct piece piece_negate(struct piece_pool *pool, struct piece piece)
{
    return unary(pool, '-', piece);
}

struct piece piece_invert(struct piece_pool *pool, struct piece piece)
{
    return unary(pool, '~', piece);
}

struct piece piece_not(struct piece_pool *pool, struct piece piece)
{
    if (!piece.truth)
        return piece_binary(pool, "==", piece, piece_number(pool, 0));
    return (
        struct piece){ .c = keep(pool, "!%s", within(pool, piece, PIECE_ATOM)),
                       .rank = PIECE_LOOSE,
                       .truth = true };
}

struct piece piece_binary(struct piece_pool *pool, const char *op,
                          struct piece left, struct piece right)
{
    struct piece out = { .rank = PIECE_LOOSE };
    /* Compilers ask for parentheses around what & and | take. */
    enum piece_rank most_left = PIECE_UNARY, most_right = PIECE_UNARY;

    if (strchr("*/%", *op)) {
        out.rank = most_left = PIECE_PRODUCT;
    } else if (strchr("+-", *op)) {
        out.rank = most_left = PIECE_SUM;
        most_right = PIECE_PRODUCT;
    } else if (strchr("<>=!", *op)) {
        out.truth = true;
        most_left = most_right = PIECE_SUM;
    }
    if (!out.truth && !left.wide && !right.wide)
        left = piece_widen(pool, left);
    out.wide = !out.truth;
    out.c = keep(pool, "%s %s %s", within(pool, left, most_left), op,
                 within(pool, right, most_right));
    return out;
}

struct piece piece_logic(struct piece_pool *pool, const char *op,
                         struct piece left, struct piece right)
{
    left = piece_truth(pool, left);
    right = piece_truth(pool, right);
    return (struct piece){ .c = keep(pool, "%s %s %s",
                                     within(pool, left, PIECE_UNARY), op,
                                     within(pool, right, PIECE_UNARY)),
                           .rank = PIECE_LOOSE,
                           .truth = true };
}

/* C leaves a left shift of negative numbers undefined, SQL does not. */
struct piece piece_shift(struct piece_pool *pool, bool left, struct piece piece,
                         int bits)
{
    piece = piece_widen(pool, piece);
    if (left)
        return (struct piece){
            .c = keep(pool, "(long long)((unsigned long long)%s << %d)",
                      within(pool, piece, PIECE_ATOM), bits),
            .rank = PIECE_UNARY,
            .wide = true
        };
    return (struct piece){ .c = keep(pool, "%s >> %d",
                                     within(pool, piece, PIECE_UNARY), bits),
                           .rank = PIECE_LOOSE,
                           .wide = true };
}

struct piece piece_choose(struct piece_pool *pool, struct piece condition,
                          struct piece then, struct piece otherwise)
{
    condition = piece_truth(pool, condition);
    return (struct piece){ .c = keep(pool, "%s ? %s : %s",
                                     within(pool, condition, PIECE_UNARY),
                                     within(pool, then, PIECE_SUM),
                                     within(pool, otherwise, PIECE_SUM)),
                           .rank = PIECE_LOOSE,
                           .wide = then.wide || otherwise.wide,
                           .truth = then.truth && otherwise.truth };
}
