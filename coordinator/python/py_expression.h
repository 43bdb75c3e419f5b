/* py_expression.h - a safe evaluator of a small part of Python
 *
 * Constraints of tuning problems are Python expressions.  This reads them
 * without Python:
 *   literals   numbers, texts, f'{a}', True, False, None, lists, tuples, sets
 *   operators  or and not, chained comparisons, in, not in, is, | ^ & << >> ~,
 *              + - * / // % **, a if b else c, list[i], list[i:j:k]
 *   functions  those of the tables in py_function_*.c, also with "math." and
 *              "np." where these modules have them; methods of texts and
 * numbers lists      [f(i) for i in range(n) if g(i)], also inside of a
 * function A name is one of the scope or of a "for".  max(NAME) and min(NAME)
 * of a name with a list of values are over that list.
 *
 * It differs from Python in this: ints have 128 bits, and what does not fit is
 * a flaw.
 *
 * It has no other names or attributes and no way to call anything else.  The
 * work is bounded: an expression has at most PY_EXPRESSION_BYTES_MAX bytes and
 * PY_EXPRESSION_DEPTH levels, and its evaluation takes at most
 * PY_EXPRESSION_STEPS steps.
 * Thread rule: one thread uses an expression at a time.
 */
#ifndef FA_COORDINATOR_PYTHON_PY_EXPRESSION_H
#define FA_COORDINATOR_PYTHON_PY_EXPRESSION_H

#include "coordinator/python/py_value.h"

struct buf;
struct py_expression;

#define PY_EXPRESSION_BYTES_MAX 8192
#define PY_EXPRESSION_DEPTH 48
#define PY_EXPRESSION_STEPS 200000

/* What is wrong, and at which byte of the text. */
struct py_flaw {
    size_t at;
    char what[200];
};

struct py_name {
    const char *name;
    const char *sql; /* its name in SQL (py_sql.h); NULL: it is a constant */
    struct py_value value;
    const struct py_value *values; /* of a tunable, all of them; or NULL */
    size_t n_values;
};

struct py_scope {
    const struct py_name *names;
    size_t n;
};

/* Returns 0, or ERR_INPUT with the flaw.  The text is not kept. */
int py_expression_parse(const char *text, struct py_expression **out,
                        struct py_flaw *flaw);
void py_expression_free(struct py_expression *expression); /* NULL is fine */

/* The value with these names; its text and items last until the next call, and
 * as long as the scope.  ERR_INPUT where Python raises an error, or the work
 * exceeds a limit. */
int py_expression_eval(struct py_expression *expression,
                       const struct py_scope *scope, struct py_value *out,
                       struct py_flaw *flaw);

/* How many steps that took. */
long py_expression_steps(const struct py_expression *expression);

/* Whether the expression has this free name. */
bool py_expression_uses(const struct py_expression *expression,
                        const char *name);
/* The first free name that the scope does not have, and its place; NULL if it
 * has all. */
const char *py_expression_unknown(const struct py_expression *expression,
                                  const struct py_scope *scope, size_t *at);

#endif
