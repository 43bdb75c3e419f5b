/* results.h - results and losses, and how they settle a configuration
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
/* The deadline passed without an answer. */
void results_expired(struct sweep *sweep, struct sched_lease lease);
void results_refuse(struct sweep *sweep, struct sched_lease lease);
void results_crashed(struct sweep *sweep, const struct sched_lease *lease,
                     const struct msg *msg);
/* All leases of the host go back to the queue. */
void results_take_back(struct sweep *sweep, size_t host);
/* Its leases end and its artifacts are gone, as after a loss; but it was
 * released. */
void results_host_released(struct sweep *sweep, size_t host);
/* All work of the host is lost; 'why' is for the log. */
void results_host_lost(struct sweep *sweep, size_t host, const char *why);
/* A result of this host has a row, or had it before: a host may not repeat
 * itself, or send results of earlier runs, without end. */
void results_stored(struct sweep *sweep, size_t host, const struct msg *msg,
                    bool is_new);
/* A result that cannot be true, and why: it is not stored, and its lease
 * goes back to the queue.  It is not acknowledged either, so it comes again;
 * that is ignored. The third one is too many: ERR_PROTO. */
int results_lied(struct sweep *sweep, size_t host, const struct msg *msg,
                 struct err *err);
/* Find the unit and shape of a result, and check that this host was asked for
 * it, because a worker may write only its own rows.  1 if this sweep never
 * asked for it. */
int results_resolve(struct sweep *sweep, size_t host, const struct msg *msg,
                    struct sched_lease *out, struct err *err);

#endif
