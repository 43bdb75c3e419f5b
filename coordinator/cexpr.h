/* cexpr.h - a rule of a sweep file as an expression of C
 *
 * What a program computes after the sweep, such as the launch of its winner,
 * without SQLite: whole numbers of 64 bits, for which SQL and C agree on
 * + - * / %.  What has no counterpart in such numbers is refused: reals, NULL,
 * a CASE without ELSE.  Where SQL says NULL (x / 0) or goes over to reals
 * (beyond 2^63) the C is undefined.
 * The rule has been checked (rule.h).  Pure; any thread.
 */
#ifndef FA_COORDINATOR_CEXPR_H
#define FA_COORDINATOR_CEXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

#define CEXPR_BYTES_MAX (1 << 16) /* of C: min, max and CASE write twice */
#define CEXPR_NAME_BYTES 160

enum cexpr_kind {
    CEXPR_VARIABLE, /* a parameter of the C macro: cast to long long */
    CEXPR_NUMBER,   /* a C constant that is a whole number */
    CEXPR_TEXT,     /* a text that is known: 'c' is it, without quotes */
    CEXPR_REAL,
};

/* What a name of the rule is, and how C writes it. */
struct cexpr_name {
    enum cexpr_kind kind;
    char c[CEXPR_NAME_BYTES];
};
/* 'name' has 'len' bytes; SQL does not tell upper from lower case.  False when
 * there is no such name. */
typedef bool cexpr_lookup(void *arg, const char *name, size_t len,
                          struct cexpr_name *out);

/* Why a rule is not C: 'at' is the byte of its text. */
struct cexpr_flaw {
    size_t at;
    char what[160];
    const char *why;
};

/* Append the C to 'out': an expression of type long long that needs no
 * parentheses around it.  0, or ERR_INPUT with the flaw filled in. */
int cexpr_translate(const char *sql, cexpr_lookup *lookup, void *arg,
                    struct buf *out, struct cexpr_flaw *flaw);

#endif
