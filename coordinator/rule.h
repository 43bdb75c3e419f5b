/* rule.h - one SQL expression of a sweep file: its names, and what it may say
 *
 * An expression is looked at here before SQLite sees it: only names, numbers,
 * 'texts', operators, the words of rule.c and a few functions; no comment, no
 * quoted name, no second statement.  SQLite then parses it behind an
 * authorizer (fence.h), as a second fence.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_RULE_H
#define FA_COORDINATOR_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "coordinator/spec.h"

struct err;

/* Kinds of names; a set of them is what an expression may use. */
enum rule_scope {
    RULE_TUNABLE = 1,
    RULE_DERIVED = 2,
    RULE_VAR = 4, /* of a shape */
    RULE_FACT = 8,
    RULE_TIME = 16, /* time_s */
};

/* What an expression depends on, derived values looked through. */
struct rule_needs {
    uint64_t axes; /* bit i: tunable i */
    uint64_t vars; /* bit i: shape variable i */
    bool time;
    bool names; /* it names any of these, or a derived value */
};

/* Who asks: which names there are and which may be used. */
struct rule_use {
    const struct spec *spec;
    unsigned scopes;
    const struct rule_needs *derived; /* of those that exist so far */
    size_t n_derived;
    const char *what; /* "gate 'threads'", for messages */
    const char *why;  /* why other scopes may not be used */
};

/* ERR_INPUT names what is wrong, where, and what was probably meant. */
int rule_check(const struct rule_use *use, const struct spec_rule *rule,
               struct rule_needs *needs, struct err *err);

/* Write the text with every name replaced by what 'put' writes for it; a
 * derived value by its own text in parentheses.  The rule has been checked.
 * What does not fit 'out' sets out->truncated. */
typedef void rule_put(void *arg, enum rule_scope scope, size_t index,
                      struct buf *out);
void rule_expand(const struct spec *spec, const char *text, rule_put *put,
                 void *arg, struct buf *out);

bool rule_function_allowed(const char *name); /* max, iif, log2, ... */

#endif
