/* commit_pace.h - when rows are committed, and when leases are given
 *
 * A COMMIT costs as much as storing ten results, and leases are committed
 * before they are sent.  So both are done for everything that came within some
 * milliseconds.  After a pause, nothing waits.
 *
 * Times are CLOCK_BOOTTIME.  Pure; any thread.
 */
#ifndef FA_COORDINATOR_LINK_COMMIT_PACE_H
#define FA_COORDINATOR_LINK_COMMIT_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From one COMMIT to the next.  GPUs have work ahead, which lasts longer. */
#define COMMIT_PACE_NS INT64_C(20000000)
/* The same while a GPU or a build slot may be without work. */
#define COMMIT_PACE_IDLE_NS INT64_C(4000000)
/* As long as rows wait that nobody waits for: the ledger's. */
#define COMMIT_PACE_PATIENT_NS INT64_C(1000000000)
#define COMMIT_PACE_ROWS 256 /* so many are committed at once */

struct commit_pace {
    size_t rows;      /* since the last COMMIT */
    size_t urgent;    /* of these, all but the patient ones */
    int64_t since_ns; /* when the first of the rows came */
    int64_t last_ns;  /* the last COMMIT; long ago before the first */
    int64_t n_commits;
};

struct commit_pace commit_pace_new(void);
void commit_pace_row(struct commit_pace *pace, bool patient, int64_t now_ns);
void commit_pace_committed(struct commit_pace *pace, int64_t now_ns);

/* Is it time for a COMMIT? */
bool commit_pace_is_due(const struct commit_pace *pace, int64_t now_ns);
/* May leases be given?  'idle': something may be without work. */
bool commit_pace_may_lease(const struct commit_pace *pace, bool idle,
                           int64_t now_ns);
/* From now until one of these is true; at most 'most_ns'.  'leases': some may
 * wait to be given. */
int64_t commit_pace_wait_ns(const struct commit_pace *pace, bool leases,
                            bool idle, int64_t most_ns, int64_t now_ns);

#endif
