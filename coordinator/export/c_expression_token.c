#include "coordinator/export/c_expression_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"

void parser_advance(struct parser *p)
{
    size_t at = p->token.at + p->token.len, end;
    char c;

    while (p->sql[at] && strchr(" \t\r\n", p->sql[at]))
        at++;
    c = p->sql[at];
    end = at + 1;
    p->token.at = at;
    if (!c) {
        p->token.kind = TOKEN_END;
        end = at;
    } else if (isalnum((unsigned char)c) || c == '_' || c == '.') {
        p->token.kind =
            isalpha((unsigned char)c) || c == '_' ? TOKEN_WORD : TOKEN_NUMBER;
        while (isalnum((unsigned char)p->sql[end]) ||
               (p->sql[end] && strchr("_.", p->sql[end])))
            end++;
    } else if (c == '\'') {
        p->token.kind = TOKEN_TEXT;
        end += strcspn(p->sql + end, "'");
        end += p->sql[end] == '\'';
    } else {
        p->token.kind = TOKEN_SYMBOL;
        if (p->sql[end] && strchr("<>=!", c) && strchr("<>=", p->sql[end]))
            end++;
    }
    p->token.len = end - at;
}

bool parser_is(const struct parser *p, const char *text)
{
    return strlen(text) == p->token.len && p->token.kind != TOKEN_TEXT &&
           strncasecmp(p->sql + p->token.at, text, p->token.len) == 0;
}

bool parser_accept(struct parser *p, const char *text)
{
    bool found = parser_is(p, text);

    if (found)
        parser_advance(p);
    return found;
}

int parser_refuse(struct parser *p, size_t at, const char *why, const char *fmt,
                  ...)
{
    va_list ap;

    p->flaw->at = at;
    p->flaw->why = why;
    va_start(ap, fmt);
    vsnprintf(p->flaw->what, sizeof(p->flaw->what), fmt, ap);
    va_end(ap);
    return ERR_INPUT;
}

int parser_refuse_token(struct parser *p, const char *why)
{
    size_t len = p->token.len < 64 ? p->token.len : 64;

    if (p->token.kind == TOKEN_END)
        return parser_refuse(p, p->token.at, why, "it ends too early");
    return parser_refuse(p, p->token.at, why, "'%.*s' cannot be exported to C",
                         (int)len, p->sql + p->token.at);
}

int parser_expect(struct parser *p, const char *text)
{
    return parser_accept(p, text) ? 0
                                  : parser_refuse_token(p, "add parentheses");
}

int parser_number_only(struct parser *p, size_t at,
                       const struct c_expression_piece *piece)
{
    if (!piece->text)
        return 0;
    return parser_refuse(p, at, "texts can only be compared, with =, <> or IN",
                         "'%.64s' is a text", piece->c);
}

int parser_enter(struct parser *p)
{
    if (++p->depth > PARSER_DEPTH_MAX)
        return parser_refuse(p, p->token.at, "simplify it",
                             "it is nested too deep");
    return 0;
}

void parser_leave(struct parser *p)
{
    p->depth--;
}
