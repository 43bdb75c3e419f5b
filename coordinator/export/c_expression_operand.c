/* The operands: numbers, names, CASE, functions. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "coordinator/export/c_expression_internal.h"

/* Print numbers in decimal again: C reads 010 as 8, and 0xffffffff as
 * unsigned. */
static int parse_number(struct parser *p, struct c_expression_piece *out)
{
    const char *text = p->sql + p->token.at;
    int base = strncasecmp(text, "0x", 2) == 0 ? 16 : 10;
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(text, &end, base);
    if (errno || value > INT64_MAX || end != text + p->token.len)
        return parser_refuse(p, p->token.at, PARSER_WHOLE_NUMBERS,
                             "'%.*s' is not a whole number below 2^63",
                             (int)(p->token.len < 64 ? p->token.len : 64),
                             text);
    *out = c_expression_piece_number(&p->pool, (int64_t)value);
    parser_advance(p);
    return 0;
}

static int parse_name(struct parser *p, struct c_expression_piece *out)
{
    struct c_expression_name name = { .c = "" };

    if (parser_is(p, "TRUE") || parser_is(p, "FALSE")) {
        *out = c_expression_piece_number(&p->pool, parser_is(p, "TRUE"));
        out->truth = true;
        parser_advance(p);
        return 0;
    }
    if (!p->lookup(p->arg, p->sql + p->token.at, p->token.len, &name))
        return parser_refuse_token(p, PARSER_WHOLE_NUMBERS);
    switch (name.kind) {
    case C_EXPRESSION_VARIABLE:
        *out = c_expression_piece_variable(&p->pool, name.c);
        break;
    case C_EXPRESSION_NUMBER:
        *out = c_expression_piece_name(&p->pool, name.c);
        break;
    case C_EXPRESSION_TEXT:
        *out = c_expression_piece_text(&p->pool, name.c, strlen(name.c));
        break;
    case C_EXPRESSION_REAL:
        return parser_refuse(p, p->token.at, PARSER_WHOLE_NUMBERS,
                             "'%.*s' is not a whole number", (int)p->token.len,
                             p->sql + p->token.at);
    }
    parser_advance(p);
    return 0;
}

/* WHEN a THEN b ... ELSE c END, after "CASE" or "CASE x" */
static int parse_when(struct parser *p,
                      const struct c_expression_piece *operand,
                      struct c_expression_piece *out)
{
    struct c_expression_piece condition, then, otherwise;
    size_t at = p->token.at;
    int rc;

    if (parser_enter(p) < 0)
        return ERR_INPUT;
    if (parser_expect(p, "WHEN") < 0 || parse_or(p, &condition) < 0 ||
        parser_expect(p, "THEN") < 0 || parse_or(p, &then) < 0)
        return ERR_INPUT;
    if (operand &&
        parse_compared(p, at, "==", *operand, condition, &condition) < 0)
        return ERR_INPUT;
    if (parser_is(p, "WHEN")) {
        rc = parse_when(p, operand, &otherwise);
    } else if (!parser_accept(p, "ELSE")) {
        return parser_refuse_token(p, "without an ELSE a CASE can be NULL");
    } else {
        rc = parse_or(p, &otherwise);
        if (rc == 0)
            rc = parser_expect(p, "END");
    }
    if (rc < 0 || parser_number_only(p, at, &condition) < 0 ||
        parser_number_only(p, at, &then) < 0 ||
        parser_number_only(p, at, &otherwise) < 0)
        return ERR_INPUT;
    parser_leave(p);
    *out = c_expression_piece_choose(&p->pool, condition, then, otherwise);
    return 0;
}

static int parse_case(struct parser *p, struct c_expression_piece *out)
{
    struct c_expression_piece operand;

    if (parser_is(p, "WHEN"))
        return parse_when(p, NULL, out);
    return parse_or(p, &operand) < 0 ? ERR_INPUT : parse_when(p, &operand, out);
}

static int parse_cast(struct parser *p, struct c_expression_piece *out)
{
    size_t at = p->token.at;

    if (parser_expect(p, "(") < 0 || parse_or(p, out) < 0 ||
        parser_expect(p, "AS") < 0)
        return ERR_INPUT;
    if (!parser_accept(p, "INTEGER"))
        return parser_refuse_token(p, PARSER_WHOLE_NUMBERS);
    return parser_number_only(p, at, out) < 0 ? ERR_INPUT
                                              : parser_expect(p, ")");
}

/* ---- functions */

enum function {
    FUNCTION_ABS,
    FUNCTION_IIF,
    FUNCTION_MAX,
    FUNCTION_MIN,
    FUNCTION_SAME, /* a whole number stays as it is */
};

static const struct {
    const char *name;
    enum function function;
    size_t arguments; /* at most ARGUMENTS_MAX */
} functions[] = {
    { "abs", FUNCTION_ABS, 1 },      { "ceil", FUNCTION_SAME, 1 },
    { "ceiling", FUNCTION_SAME, 1 }, { "floor", FUNCTION_SAME, 1 },
    { "iif", FUNCTION_IIF, 3 },      { "max", FUNCTION_MAX, 2 },
    { "min", FUNCTION_MIN, 2 },      { "trunc", FUNCTION_SAME, 1 },
};

enum {
    N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]),
    ARGUMENTS_MAX = 3
};

static void larger(struct parser *p, const char *op,
                   struct c_expression_piece *a, struct c_expression_piece b)
{
    *a = c_expression_piece_choose(
        &p->pool, c_expression_piece_binary(&p->pool, op, *a, b), *a, b);
}

static void call(struct parser *p, enum function function,
                 struct c_expression_piece *arguments,
                 struct c_expression_piece *out)
{
    struct c_expression_piece negated;

    *out = arguments[0];
    switch (function) {
    case FUNCTION_ABS:
        negated = c_expression_piece_negate(&p->pool, *out);
        larger(p, ">", out, negated);
        break;
    case FUNCTION_IIF:
        *out = c_expression_piece_choose(&p->pool, arguments[0], arguments[1],
                                         arguments[2]);
        break;
    case FUNCTION_MAX:
    case FUNCTION_MIN:
        larger(p, function == FUNCTION_MAX ? ">" : "<", out, arguments[1]);
        break;
    case FUNCTION_SAME:
        break;
    }
}

/* max and min may have more than two arguments. */
static int parse_more(struct parser *p, enum function function,
                      struct c_expression_piece *out)
{
    struct c_expression_piece arguments[ARGUMENTS_MAX];

    while ((function == FUNCTION_MAX || function == FUNCTION_MIN) &&
           parser_is(p, ",")) {
        size_t at = p->token.at;

        parser_advance(p);
        arguments[0] = *out;
        if (parse_or(p, &arguments[1]) < 0 ||
            parser_number_only(p, at, &arguments[1]) < 0)
            return ERR_INPUT;
        call(p, function, arguments, out);
    }
    return parser_expect(p, ")");
}

static int parse_call(struct parser *p, struct c_expression_piece *out)
{
    struct c_expression_piece arguments[ARGUMENTS_MAX] = { { .c = "" } };
    size_t f = 0, at = p->token.at;

    while (f < N_FUNCTIONS && !parser_is(p, functions[f].name))
        f++;
    if (f == N_FUNCTIONS)
        return parser_refuse_token(
            p, "only abs, ceil, floor, iif, max, min and trunc of whole "
               "numbers can be exported to C");
    parser_advance(p);
    if (parser_expect(p, "(") < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < functions[f].arguments; i++)
        if ((i && parser_expect(p, ",") < 0) ||
            parse_or(p, &arguments[i]) < 0 ||
            parser_number_only(p, at, &arguments[i]) < 0)
            return ERR_INPUT;
    call(p, functions[f].function, arguments, out);
    return parse_more(p, functions[f].function, out);
}

static bool is_call(const struct parser *p)
{
    const char *after = p->sql + p->token.at + p->token.len;

    return after[strspn(after, " \t\r\n")] == '(';
}

static int parse_word(struct parser *p, struct c_expression_piece *out)
{
    if (parser_accept(p, "CASE"))
        return parse_case(p, out);
    if (parser_accept(p, "CAST"))
        return parse_cast(p, out);
    if (parser_is(p, "NULL"))
        return parser_refuse_token(p, PARSER_NO_NULL);
    return is_call(p) ? parse_call(p, out) : parse_name(p, out);
}

static int parse_primary(struct parser *p, struct c_expression_piece *out)
{
    switch (p->token.kind) {
    case TOKEN_NUMBER:
        return parse_number(p, out);
    case TOKEN_TEXT:
        *out = c_expression_piece_text(&p->pool, p->sql + p->token.at + 1,
                                       p->token.len - 2);
        parser_advance(p);
        return 0;
    case TOKEN_WORD:
        return parse_word(p, out);
    case TOKEN_SYMBOL:
        if (!parser_accept(p, "("))
            break;
        return parse_or(p, out) < 0 ? ERR_INPUT : parser_expect(p, ")");
    case TOKEN_END:
        break;
    }
    return parser_refuse_token(p, "an operand belongs here");
}

static int parse_signed(struct parser *p, struct c_expression_piece *out)
{
    size_t at = p->token.at;
    char sign = p->sql[at];
    int rc;

    parser_advance(p);
    rc = parse_unary(p, out);
    if (rc == 0)
        rc = parser_number_only(p, at, out);
    if (rc == 0 && sign == '-')
        *out = c_expression_piece_negate(&p->pool, *out);
    else if (rc == 0 && sign == '~')
        *out = c_expression_piece_invert(&p->pool, *out);
    return rc;
}

/* NOT may follow an operator: 1 + NOT x = y means 1 + (NOT (x = y)). */
int parse_unary(struct parser *p, struct c_expression_piece *out)
{
    int rc;

    if (parser_enter(p) < 0)
        return ERR_INPUT;
    if (parser_is(p, "-") || parser_is(p, "+") || parser_is(p, "~"))
        rc = parse_signed(p, out);
    else
        rc = parser_is(p, "NOT") ? parse_not(p, out) : parse_primary(p, out);
    parser_leave(p);
    return rc;
}
