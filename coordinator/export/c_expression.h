/* c_expression.h - a rule of a sweep file as an expression of C
 *
 * What a program computes after the sweep, such as the launch of its winner,
 * without SQLite: whole numbers of 64 bits, for which SQL and C agree on
 * + - * / %.  What has no counterpart in such numbers is refused: reals, NULL,
 * a CASE without ELSE.  Where SQL says NULL (x / 0) or goes over to reals
 * (beyond 2^63) the C is undefined.
 * The rule has been checked (sql_rule.h).  Pure; any thread.
 */
#ifndef FA_COORDINATOR_EXPORT_C_EXPRESSION_H
#define FA_COORDINATOR_EXPORT_C_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

#define C_EXPRESSION_BYTES_MAX \
    (1 << 16) /* of C: min, max and CASE write twice */
#define C_EXPRESSION_NAME_BYTES 160

enum c_expression_kind {
    C_EXPRESSION_VARIABLE, /* a parameter of the C macro: cast to long long */
    C_EXPRESSION_NUMBER,   /* a C constant that is a whole number */
    C_EXPRESSION_TEXT,     /* a text that is known: 'c' is it, without quotes */
    C_EXPRESSION_REAL,
};

/* What a name of the rule is, and how C writes it. */
struct c_expression_name {
    enum c_expression_kind kind;
    char c[C_EXPRESSION_NAME_BYTES];
};
/* 'name' has 'len' bytes; SQL does not tell upper from lower case.  False when
 * there is no such name. */
typedef bool c_expression_lookup(void *arg, const char *name, size_t len,
                                 struct c_expression_name *out);

/* Why a rule is not C: 'at' is the byte of its text. */
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
