/* py_sql.h - writes a condition in Python as a condition in SQL
 *
 * The SQL is that of sweep files (docs/sweep-file.md): it is 1 where the Python
 * is true, 0 where it is false, and NULL where Python raises an error for a
 * division by zero.  What does not depend on tunables is computed here, and a
 * "for" over it is written out.
 * Thread rule: one thread uses an expression at a time.
 */
#ifndef FA_COORDINATOR_PYTHON_PY_SQL_H
#define FA_COORDINATOR_PYTHON_PY_SQL_H

#include <stdbool.h>

struct buf;
struct py_expression;
struct py_flaw;
struct py_scope;
struct py_value;

/* Names of the scope with 'sql' are tunables and have all their values, the
 * others are constants.  A list with 'sql' is written item by item: item 2 of
 * one called P is P2.  ERR_INPUT if it has no counterpart in SQL, or does not
 * fit into 'out'. */
int py_sql_condition(struct py_expression *expression,
                     const struct py_scope *scope, struct buf *out,
                     struct py_flaw *flaw);
/* The same for the value, which is a number or a text. */
int py_sql_expression(struct py_expression *expression,
                      const struct py_scope *scope, struct buf *out,
                      struct py_flaw *flaw);
/* Whether Python may raise an error for some values of the tunables, as far as
 * can be told without trying all of them. */
bool py_sql_may_fail(struct py_expression *expression,
                     const struct py_scope *scope);
/* Append a number or a text as a literal of SQL. */
void py_sql_write(const struct py_value *value, struct buf *out);

#endif
