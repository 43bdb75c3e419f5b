/* py_lexer.h - the tokens of the Python subset; private to py_*.c */
#ifndef FA_COORDINATOR_PYTHON_PY_LEXER_H
#define FA_COORDINATOR_PYTHON_PY_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/python/py_expression.h"

enum py_token {
    PY_TOKEN_END,
    PY_TOKEN_NUMBER,
    PY_TOKEN_TEXT,
    PY_TOKEN_FORMAT, /* f'...' */
    PY_TOKEN_NAME,
    PY_TOKEN_SIGN,
};

struct py_lexer {
    const char *text, *at; /* all of it; behind the current token */
    enum py_token token;
    size_t begin, len; /* of the current token */
    struct py_flaw *flaw;
};

/* Go to the next token. */
int py_lexer_next(struct py_lexer *lexer);
bool py_lexer_is(const struct py_lexer *lexer, const char *word);
/* The value of a number. */
int py_lexer_number(const struct py_lexer *lexer, struct py_value *out);
/* What 'len' bytes between two quotes stand for; the caller frees it. */
char *py_lexer_string(const char *from, size_t len);

#endif
