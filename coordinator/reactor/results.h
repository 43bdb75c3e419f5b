/* results.h - results, losses and what they make of a configuration
 */
#ifndef FA_COORDINATOR_REACTOR_RESULTS_H
#define FA_COORDINATOR_REACTOR_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "coordinator/schedule/sched.h"

struct err;
struct msg;
struct sweep;

int results_built(struct sweep *sweep, size_t host, const struct msg *msg,
                  struct err *err);
int results_measured(struct sweep *sweep, size_t host, const struct msg *msg,
                     struct err *err);
void results_lose(struct sweep *sweep, struct sched_lease lease,
                  enum outcome outcome, const char *reason);
/* It had no answer past its deadline. */
void results_expired(struct sweep *sweep, struct sched_lease lease);
void results_refuse(struct sweep *sweep, struct sched_lease lease);
void results_crashed(struct sweep *sweep, const struct sched_lease *lease,
                     const struct msg *msg);
/* All work of the host is lost; 'why' is for the log. */
void results_host_lost(struct sweep *sweep, size_t host, const char *why);
/* Which unit and shape a result is about, and whether this host was asked for
 * it: a worker writes nothing but its own rows.  1 when this sweep never asked
 * for it. */
int results_resolve(struct sweep *sweep, size_t host, const struct msg *msg,
                    struct sched_lease *out, struct err *err);

#endif
