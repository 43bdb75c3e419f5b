/* records.h - messages and state as rows of the database, while a sweep runs
 */
#ifndef FA_COORDINATOR_STATE_RECORDS_H
#define FA_COORDINATOR_STATE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "coordinator/schedule/ledger.h"

struct err;
struct msg;
struct sched_lease;
struct sweep;

void records_dirty(struct sweep *sweep); /* a row waits for COMMIT */
void records_put_event(struct sweep *sweep, const char *level, const char *name,
                       const char *text);
int records_put_build(struct sweep *sweep, size_t host, const struct msg *msg,
                      const char *source_key, bool evidence);
int records_put_result(struct sweep *sweep, size_t host, const struct msg *msg,
                       const char *source_key, const char *measure_key,
                       bool evidence);
int records_put_tool(struct sweep *sweep, size_t host, const struct msg *msg,
                     const char *name, bool evidence);
int records_put_outcome(struct sweep *sweep, int unit, int shape,
                        enum outcome outcome, const char *reason,
                        const char *nonce, double median_s);
int records_put_host(struct sweep *sweep, size_t host);
/* What the host and its GPUs are, now that it is ready. */
void records_put_ready(struct sweep *sweep, size_t host);
int records_put_gpu(struct sweep *sweep, size_t host, const char *name,
                    const struct msg *msg);
int records_put_lease(struct sweep *sweep, const struct sched_lease *lease,
                      const struct msg *msg);
/* The row of the lease ends; see leases_end(). */
void records_end_lease(struct sweep *sweep, const struct sched_lease *lease,
                       const char *ending, enum ledger_category category);
/* The host was not held from then on, whatever was put. */
void records_cut(struct sweep *sweep, size_t host, int64_t from_ns);
/* The row of a held interval, after those of the intervals that wait. */
void records_put_held(void *arg, const struct ledger_held *held);
/* Keep it for the next held interval, or until there are many. */
void records_put_interval(void *arg, const struct ledger_interval *interval);

#endif
