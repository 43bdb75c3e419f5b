/* c_expression_internal.h - parses a rule from left to right; private to
 * c_expression*.c
 *
 * Every parse_*() stops at the first token that it does not consume.  It
 * returns 0, or ERR_INPUT with the flaw filled in.
 */
#ifndef FA_COORDINATOR_EXPORT_C_EXPRESSION_INTERNAL_H
#define FA_COORDINATOR_EXPORT_C_EXPRESSION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/export/c_expression.h"
#include "coordinator/export/c_expression_piece.h"

#define PARSER_DEPTH_MAX 200 /* a parenthesis takes two */

#define PARSER_WHOLE_NUMBERS                                         \
    "in C the launch is computed in whole numbers; (a + b - 1) / b " \
    "rounds a / b up"
#define PARSER_NO_NULL "a whole number in C cannot be NULL"

enum token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_TEXT,
    TOKEN_WORD,
    TOKEN_SYMBOL,
};

struct token {
    enum token_kind kind;
    size_t at, len;
};

struct parser {
    const char *sql;
    struct token token; /* the current token */
    c_expression_lookup *lookup;
    void *arg;
    struct c_expression_piece_pool pool;
    struct c_expression_flaw *flaw;
    int depth;
};

/* ---- c_expression_token.c */

void parser_advance(struct parser *p);
bool parser_is(const struct parser *p, const char *text);
bool parser_accept(struct parser *p, const char *text);
int parser_expect(struct parser *p, const char *text);

int parser_refuse(struct parser *p, size_t at, const char *why, const char *fmt,
                  ...) __attribute__((format(printf, 4, 5)));
/* The token is not what the rule needs here. */
int parser_refuse_token(struct parser *p, const char *why);
int parser_number_only(struct parser *p, size_t at,
                       const struct c_expression_piece *piece);
/* Call these around parts that may nest. */
int parser_enter(struct parser *p);
void parser_leave(struct parser *p);

/* ---- c_expression.c */

int parse_or(struct parser *p,
             struct c_expression_piece *out); /* a whole expression */
int parse_not(struct parser *p, struct c_expression_piece *out);
/* == or != of two numbers or two texts */
int parse_compared(struct parser *p, size_t at, const char *op,
                   struct c_expression_piece left,
                   struct c_expression_piece right,
                   struct c_expression_piece *out);

/* ---- c_expression_operand.c */

int parse_unary(struct parser *p, struct c_expression_piece *out);

#endif
