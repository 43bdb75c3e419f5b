/* sql_rule.h - checks one SQL expression of a sweep file, and rewrites its
 * names
 *
 * An expression is checked here before SQLite sees it.  It may have names,
 * numbers, 'texts', operators, the words of sql_rule.c and a few functions, but
 * no comment, no quoted name and no second statement.  SQLite then parses it
 * behind an authorizer (sql_sandbox.h), as a second barrier.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SANDBOX_SQL_RULE_H
#define FA_COORDINATOR_SANDBOX_SQL_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "coordinator/spec/spec.h"

struct err;

/* Kinds of names; a set of them is what an expression may use. */
enum sql_rule_scope {
    SQL_RULE_TUNABLE = 1,
    SQL_RULE_DERIVED = 2,
    SQL_RULE_VAR = 4, /* of a shape */
    SQL_RULE_FACT = 8,
    SQL_RULE_TIME = 16, /* time_s */
};

/* What an expression depends on, directly or through derived values. */
struct sql_rule_needs {
    uint64_t axes; /* bit i: tunable i */
    uint64_t vars; /* bit i: shape variable i */
    bool time;
    bool names; /* it has any of these names, or that of a derived value */
};

/* The names that exist, and those that an expression may use. */
struct sql_rule_use {
    const struct spec *spec;
    unsigned scopes;
    const struct sql_rule_needs *derived; /* of the derived values so far */
    size_t n_derived;
    const char *what; /* "gate 'threads'", for messages */
    const char *why;  /* why it may not use other scopes */
};

/* ERR_INPUT says what is wrong, where, and what was probably meant. */
int sql_rule_check(const struct sql_rule_use *use, const struct spec_rule *rule,
                   struct sql_rule_needs *needs, struct err *err);

/* Write the text with every name replaced by what 'put' writes for it, and a
 * derived value by its own text in parentheses.  The rule has been checked.  If
 * the result does not fit 'out', out->truncated is set. */
typedef void sql_rule_put(void *arg, enum sql_rule_scope scope, size_t index,
                          struct buf *out);
void sql_rule_expand(const struct spec *spec, const char *text,
                     sql_rule_put *put, void *arg, struct buf *out);

bool sql_rule_function_allowed(const char *name); /* max, iif, log2, ... */

#endif
