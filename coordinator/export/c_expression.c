#include "coordinator/export/c_expression.h"

#include <string.h>

#include "common/err.h"
#include "coordinator/export/c_expression_internal.h"

#define SHIFT_MAX 62

/* Both texts are known, so the result is too. */
int parse_compared(struct parser *p, size_t at, const char *op,
                   struct c_expression_piece left,
                   struct c_expression_piece right,
                   struct c_expression_piece *out)
{
    if (left.text && right.text) {
        bool same = strcmp(left.c, right.c) == 0;

        *out = c_expression_piece_number(&p->pool, same == (*op == '='));
        out->truth = true;
        return 0;
    }
    if (parser_number_only(p, at, &left) < 0 ||
        parser_number_only(p, at, &right) < 0)
        return ERR_INPUT;
    *out = c_expression_piece_binary(&p->pool, op, left, right);
    return 0;
}

static int shift(struct parser *p, size_t at, bool left,
                 struct c_expression_piece *out,
                 const struct c_expression_piece *bits)
{
    if (!bits->literal || bits->value > SHIFT_MAX)
        return parser_refuse(
            p, at, "multiply or divide by a power of two instead",
            "a shift by anything but a number up to %d", SHIFT_MAX);
    *out = c_expression_piece_shift(&p->pool, left, *out, (int)bits->value);
    return 0;
}

enum level {
    LEVEL_COMPARISON,
    LEVEL_BITS,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVELS,
};

static const char *operator_of(const struct parser *p, enum level level)
{
    static const char *const operators[LEVELS][5] = {
        [LEVEL_COMPARISON] = { "<", "<=", ">", ">=", NULL },
        [LEVEL_BITS] = { "&", "|", "<<", ">>", NULL },
        [LEVEL_SUM] = { "+", "-", NULL },
        [LEVEL_PRODUCT] = { "*", "/", "%", NULL },
    };

    for (const char *const *op = operators[level]; *op; op++)
        if (p->token.kind == TOKEN_SYMBOL && parser_is(p, *op))
            return *op;
    return NULL;
}

/* Parse operators of one level, left to right. */
static int parse_level(struct parser *p, enum level level,
                       struct c_expression_piece *out)
{
    enum level next = level + 1;
    int rc = next < LEVELS ? parse_level(p, next, out) : parse_unary(p, out);
    const char *op;

    while (rc == 0 && (op = operator_of(p, level))) {
        size_t at = p->token.at;
        struct c_expression_piece right;

        parser_advance(p);
        rc = next < LEVELS ? parse_level(p, next, &right)
                           : parse_unary(p, &right);
        if (rc < 0 || parser_number_only(p, at, out) < 0 ||
            parser_number_only(p, at, &right) < 0)
            return ERR_INPUT;
        if (strcmp(op, "<<") == 0 || strcmp(op, ">>") == 0)
            rc = shift(p, at, *op == '<', out, &right);
        else
            *out = c_expression_piece_binary(&p->pool, op, *out, right);
    }
    return rc;
}

static int parse_between(struct parser *p, size_t at,
                         struct c_expression_piece *out)
{
    struct c_expression_piece low, high;

    if (parser_number_only(p, at, out) < 0 ||
        parse_level(p, LEVEL_COMPARISON, &low) < 0 ||
        parser_expect(p, "AND") < 0 ||
        parse_level(p, LEVEL_COMPARISON, &high) < 0 ||
        parser_number_only(p, at, &low) < 0 ||
        parser_number_only(p, at, &high) < 0)
        return ERR_INPUT;
    low = c_expression_piece_binary(&p->pool, ">=", *out, low);
    high = c_expression_piece_binary(&p->pool, "<=", *out, high);
    *out = c_expression_piece_logic(&p->pool, "&&", low, high);
    return 0;
}

static int parse_in(struct parser *p, size_t at, struct c_expression_piece *out)
{
    struct c_expression_piece left = *out, right, same;
    bool first = true;

    if (parser_expect(p, "(") < 0)
        return ERR_INPUT;
    do {
        if (parse_or(p, &right) < 0 ||
            parse_compared(p, at, "==", left, right, &same) < 0)
            return ERR_INPUT;
        *out =
            first ? same : c_expression_piece_logic(&p->pool, "||", *out, same);
        first = false;
    } while (parser_accept(p, ","));
    if (parser_expect(p, ")") < 0)
        return ERR_INPUT;
    for (enum level level = LEVEL_COMPARISON; level < LEVELS; level++)
        if (operator_of(p, level))
            return parser_refuse_token(p, "put the IN before it into "
                                          "parentheses");
    return 0;
}

/* After an operand: a NOT here belongs to the BETWEEN or IN that follows. */
static int parse_listed(struct parser *p, size_t at,
                        struct c_expression_piece *out)
{
    bool negated = parser_accept(p, "NOT");
    int rc;

    if (parser_accept(p, "BETWEEN"))
        rc = parse_between(p, at, out);
    else if (parser_accept(p, "IN"))
        rc = parse_in(p, at, out);
    else
        rc = parser_refuse_token(p, PARSER_NO_NULL);
    if (rc == 0 && negated)
        *out = c_expression_piece_not(&p->pool, *out);
    return rc;
}

static int parse_equality(struct parser *p, struct c_expression_piece *out)
{
    int rc = parse_level(p, LEVEL_COMPARISON, out);

    while (rc == 0) {
        size_t at = p->token.at;
        const char *op = "==";
        struct c_expression_piece right;
        bool exactly = false;

        if (parser_is(p, "NOT") || parser_is(p, "BETWEEN") ||
            parser_is(p, "IN")) {
            rc = parse_listed(p, at, out);
            continue;
        }
        if (parser_accept(p, "<>") || parser_accept(p, "!=")) {
            op = "!=";
        } else if (parser_accept(p, "IS")) {
            exactly = true;
            op = parser_accept(p, "NOT") ? "!=" : "==";
        } else if (!parser_accept(p, "=") && !parser_accept(p, "==")) {
            break;
        }
        rc = parse_level(p, LEVEL_COMPARISON, &right);
        /* x IS TRUE means x <> 0; x = TRUE means x = 1. */
        if (rc == 0 && exactly && right.literal && right.truth)
            return parser_refuse(
                p, at, "write x <> 0 or x = 0",
                "IS TRUE and IS FALSE cannot be exported to C");
        if (rc == 0)
            rc = parse_compared(p, at, op, *out, right, out);
    }
    return rc;
}

int parse_not(struct parser *p, struct c_expression_piece *out)
{
    size_t at = p->token.at;
    int rc;

    if (!parser_accept(p, "NOT"))
        return parse_equality(p, out);
    if (parser_enter(p) < 0)
        return ERR_INPUT;
    rc = parse_not(p, out);
    parser_leave(p);
    if (rc == 0)
        rc = parser_number_only(p, at, out);
    if (rc == 0)
        *out = c_expression_piece_not(&p->pool, *out);
    return rc;
}

static int parse_logic(struct parser *p, bool any,
                       struct c_expression_piece *out)
{
    const char *word = any ? "OR" : "AND", *op = any ? "||" : "&&";
    int rc = any ? parse_logic(p, false, out) : parse_not(p, out);

    while (rc == 0 && parser_is(p, word)) {
        size_t at = p->token.at;
        struct c_expression_piece right;

        parser_advance(p);
        rc = any ? parse_logic(p, false, &right) : parse_not(p, &right);
        if (rc < 0 || parser_number_only(p, at, out) < 0 ||
            parser_number_only(p, at, &right) < 0)
            return ERR_INPUT;
        *out = c_expression_piece_logic(&p->pool, op, *out, right);
    }
    return rc;
}

int parse_or(struct parser *p, struct c_expression_piece *out)
{
    int rc;

    if (parser_enter(p) < 0)
        return ERR_INPUT;
    rc = parse_logic(p, true, out);
    parser_leave(p);
    return rc;
}

int c_expression_translate(const char *sql, c_expression_lookup *lookup,
                           void *arg, struct buf *out,
                           struct c_expression_flaw *flaw)
{
    struct parser p = {
        .sql = sql, .lookup = lookup, .arg = arg, .flaw = flaw
    };
    struct c_expression_piece piece;
    int rc;

    parser_advance(&p);
    rc = parse_or(&p, &piece);
    if (rc == 0 && p.token.kind != TOKEN_END)
        rc = parser_refuse_token(&p, "the expression ends before it");
    if (rc == 0)
        rc = parser_number_only(&p, 0, &piece);
    if (rc == 0) {
        piece = c_expression_piece_widen(&p.pool, piece);
        if (p.pool.full)
            rc = parser_refuse(
                &p, 0, "each level of max, min and CASE doubles the text",
                "the expression is longer than %d bytes in C",
                C_EXPRESSION_BYTES_MAX);
        else
            buf_printf(out,
                       piece.rank == C_EXPRESSION_PIECE_ATOM ? "%s" : "(%s)",
                       piece.c);
    }
    c_expression_piece_pool_fini(&p.pool);
    return rc;
}
