/* c_expression.h - translates a rule of a sweep file to C
 *
 * A program can then compute a rule without SQLite, such as the launch of the
 * winner.  The C uses 64-bit integers, for which SQL and C agree on + - * / %.
 * Rules that need anything else are refused: reals, NULL, a CASE without ELSE.
 * Where SQL yields NULL (x / 0) or switches to reals (beyond 2^63), the C is
 * undefined.  The rule has been checked (sql_rule.h). Pure; any thread.
 */
#ifndef FA_COORDINATOR_EXPORT_C_EXPRESSION_H
#define FA_COORDINATOR_EXPORT_C_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

#define C_EXPRESSION_BYTES_MAX \
    (1 << 16) /* of C: min, max and CASE duplicate text */
#define C_EXPRESSION_NAME_BYTES 160

enum c_expression_kind {
    C_EXPRESSION_VARIABLE, /* a parameter of the C macro: cast to long long */
    C_EXPRESSION_NUMBER,   /* a C constant, a whole number */
    C_EXPRESSION_TEXT,     /* a known text: 'c' is the text, without quotes */
    C_EXPRESSION_REAL,
};

/* The meaning of a name in the rule, and its spelling in C. */
struct c_expression_name {
    enum c_expression_kind kind;
    char c[C_EXPRESSION_NAME_BYTES];
};
/* 'name' has 'len' bytes; SQL ignores case.  False if there is no such name. */
typedef bool c_expression_lookup(void *arg, const char *name, size_t len,
                                 struct c_expression_name *out);

/* Why a rule cannot be C: 'at' is the offset in its text. */
struct c_expression_flaw {
    size_t at;
    char what[160];
    const char *why;
};

/* Append the C to 'out': an expression of type long long that needs no
 * parentheses around it.  0, or ERR_INPUT with the flaw filled in. */
int c_expression_translate(const char *sql, c_expression_lookup *lookup,
                           void *arg, struct buf *out,
                           struct c_expression_flaw *flaw);

#endif
