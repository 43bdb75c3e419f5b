/* py_parse.h - reads expressions; private to py_parse*.c
 *
 * A recursive descent over the grammar of Python's expressions, with its
 * precedences (docs.python.org/3/reference/expressions.html).
 */
#ifndef FA_COORDINATOR_PYTHON_PY_PARSE_H
#define FA_COORDINATOR_PYTHON_PY_PARSE_H

#include "coordinator/python/py_internal.h"
#include "coordinator/python/py_lexer.h"

struct py_parser {
    struct py_lexer lexer;
    struct py_expression *to;
    int depth;
};

/* The current token, and the flaw if it does not belong where it stands. */
int py_parse_next(struct py_parser *parser);
bool py_parse_is(const struct py_parser *parser, const char *word);
int py_parse_unexpected(struct py_parser *parser);
/* Pass over this token. */
int py_parse_expect(struct py_parser *parser, const char *word);

struct py_node *py_parse_make(struct py_parser *parser, enum py_op op);
void py_parse_add(struct py_node *node, struct py_node *item);

/* "A if CONDITION else B" and what binds tighter; "A or B" and likewise. */
int py_parse_condition(struct py_parser *parser, struct py_node **out);
int py_parse_or(struct py_parser *parser, struct py_node **out);
/* A name, a literal, a list or a call, and what stands behind it: items,
 * slices, methods (py_parse_atom.c). */
int py_parse_postfix(struct py_parser *parser, struct py_node **out);

#endif
