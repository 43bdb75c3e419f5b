/* explain.h - what became of one configuration, and why
 *
 * The lists are the rows that a decision was made from: builds, leases and
 * results, late and repeated ones included.
 */
#ifndef FA_COORDINATOR_INSPECT_EXPLAIN_H
#define FA_COORDINATOR_INSPECT_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "common/hash.h"

struct err;
struct report;
struct store;
struct stored_spec;

struct explain {
    char key[HASH_HEX];
    const struct report_config *config; /* NULL: it was never asked for */
    char *text;                         /* A=1 B=2 */
    int rejected_by;                    /* gate of the spec, -1: none */
};

/* Which configuration 'which' means: the first digits of its key, or
 * A=1,B=2.  Needs the stored sweep for the second, and for the gates.
 * ERR_INPUT when no configuration or more than one fits. */
int explain_find(const struct report *report, struct stored_spec *stored,
                 const char *which, struct explain *out, struct err *err);
void explain_fini(struct explain *explain);

/* Print it to 'to'.  ERR_STORE when the database cannot be read. */
int explain_print(const struct explain *explain, const struct report *report,
                  const struct stored_spec *stored, struct store *store,
                  bool json, FILE *to, struct err *err);

#endif
