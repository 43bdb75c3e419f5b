/* explain.h - the history of one configuration
 *
 * The lists are the rows that decided its outcome: builds, leases and results,
 * including late and repeated ones.
 */
#ifndef FA_COORDINATOR_INSPECT_EXPLAIN_H
#define FA_COORDINATOR_INSPECT_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"
#include "common/hash.h"

struct report;
struct store;
struct stored_spec;

struct explain {
    char key[HASH_HEX];
    const struct report_config *config; /* NULL: it was never used */
    char *text;                         /* A=1 B=2 */
    int rejected_by;                    /* gate of the spec, -1: none */
    struct err odd; /* config_remark() on what was typed, or "" */
};

/* Find the configuration that 'which' names: the first digits of its key, or
 * A=1,B=2. The second form and the gates need the stored sweep.  ERR_INPUT if
 * none or more than one fits. */
int explain_find(const struct report *report, struct stored_spec *stored,
                 const char *which, struct explain *out, struct err *err);
void explain_fini(struct explain *explain);

/* Print it to 'to'. ERR_STORE if the database cannot be read. */
int explain_print(const struct explain *explain, const struct report *report,
                  const struct stored_spec *stored, struct store *store,
                  bool json, FILE *to, struct err *err);

#endif
