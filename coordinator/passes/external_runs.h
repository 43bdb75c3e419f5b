/* external_runs.h - runs of the external baselines in the blocks of a
 * confirmation
 *
 * They are numbered as in the sweep file.  The reactor's thread.
 */
#ifndef FA_COORDINATOR_PASSES_EXTERNAL_RUNS_H
#define FA_COORDINATOR_PASSES_EXTERNAL_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/hash.h"
#include "coordinator/confirm/external_schedule.h"
#include "coordinator/state/pass_wait.h"

struct card;
struct confirmation_pass;
struct err;
struct external_runs;
struct msg;
struct msg_bundle;
struct msg_ran;
struct msg_tool;
struct sched_lease;
struct sweep;

/* Prepare, if the sweep has external baselines; blocks of an earlier run count.
 * Free 'tools' also after an error. */
int external_runs_begin(struct sweep *sweep, struct confirmation_pass *c,
                        struct err *err);
void external_runs_free(struct external_runs *tools); /* NULL is fine */
size_t external_runs_count(const struct confirmation_pass *c);
/* Does the external baseline 'which' take part in the block that begins on this
 * host, at this shape? */
enum external_schedule_answer external_runs_joins(struct confirmation_pass *c,
                                                  size_t which, int host,
                                                  int round, int shape);
/* May it run at the shape now, in a block that it joined?  If so, order it, and
 * order no later step of the block while it runs. */
enum external_schedule_answer
external_runs_ask(const struct confirmation_pass *c, size_t which, int host,
                  int shape);
void external_runs_order(struct sweep *sweep, struct confirmation_pass *c,
                         size_t which, const struct card *card, int shape);
bool external_runs_runs(const struct confirmation_pass *c, int round);
/* The block of this round is over, and counts or does not. */
void external_runs_complete(struct confirmation_pass *c, int round);
void external_runs_broken(struct sweep *sweep, struct confirmation_pass *c,
                          int round);
/* The lease was lost.  After too many of one, that host gets no more of it. */
void external_runs_lost(struct sweep *sweep, struct confirmation_pass *c,
                        const struct sched_lease *lease, const char *reason);
bool external_runs_waits(const struct confirmation_pass *c); /* some run */
/* Tell each running one; returns how many there are. */
int external_runs_waits_for(const struct confirmation_pass *c,
                            pass_wait_fn *tell, void *arg);
/* An order ended, with a result or without; order 0 is from an earlier run.
 * False if its block cannot continue. */
bool external_runs_ended(struct sweep *sweep, struct confirmation_pass *c,
                         const struct sched_lease *lease,
                         const struct msg *result);
bool external_runs_bundle(struct confirmation_pass *c, const char *hash,
                          struct msg_bundle *out);
int external_runs_fill(struct sweep *sweep, struct confirmation_pass *c,
                       const struct sched_lease *lease, struct msg_tool *out,
                       char key[HASH_HEX], struct err *err);
const char *external_runs_judge(const struct sweep *sweep,
                                const struct confirmation_pass *c,
                                struct msg_ran *ran, struct err *why);

#endif
