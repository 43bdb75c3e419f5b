/* verify.h - checks the integrity of a database
 *
 * Reads every row and checks: SQLite's own integrity_check; the checksum of
 * each row (whole.h); that each table has the rows that were written, no less
 * and no more (tally.h); that the key of each configuration is that of its
 * parameters (config_stored.h); that no identity is counted twice (I2), that an
 * outcome rests on a result or build that says the same (I3), and that the
 * intervals of a host neither overlap nor run backwards (I5).
 */
#ifndef FA_COORDINATOR_INSPECT_VERIFY_H
#define FA_COORDINATOR_INSPECT_VERIFY_H

#include <stddef.h>
#include <stdint.h>

struct store;

#define VERIFY_FINDINGS_MAX 1000 /* kept for printing; all are counted */

struct verify_finding {
    const char *check; /* layout integrity checksum count key I2 I3 I5 */
    char *text;
};

struct verify {
    int64_t rows; /* read */
    int64_t keys; /* of configurations, computed again */
    int64_t found;
    struct verify_finding *findings;
    size_t n_findings;
};

/* Anything that cannot be read is a finding too. */
void verify_run(struct store *store, struct verify *out);
void verify_fini(struct verify *verify);

#endif
