/* agent.h - the worker: one thread, one poll loop, from invitation to exit
 *
 *   alone --invitation--> HELLO every second --WELCOME--> set-up
 *     --> GPU* READY --> leases in, results out, BEAT --STOP, linger--> exit
 *
 * Parts of the agent, which share its struct (agent_internal.h): agent.c the
 * loop, agent_inbox.c messages from the coordinator, agent_work.c leases of
 * builds and measurements, agent_tool.c leases of tools, agent_results.c
 * results and their delivery, agent_stop.c the end, agent_say.c messages to the
 * coordinator.
 */
#ifndef FA_WORKER_AGENT_AGENT_H
#define FA_WORKER_AGENT_AGENT_H

#include <stdio.h>

#include "common/err.h"
#include "common/invite.h"

struct agent;
struct instance;

/* Take the lock and the GPUs of 'instance', which is borrowed, and listen on
 * its control socket.  'log' is rotated if it is the log of the instance;
 * otherwise pass NULL.  ERR_DEVICE: another process is this worker.
 * CLAIM_BUSY: other sweeps have all its GPUs; the text says whose. */
int agent_open(const struct instance *instance, FILE *log, struct agent **out,
               struct err *err);

/* Use this invitation.  0, CLAIM_BUSY (claim.h), or an ERR_*. */
int agent_invite(struct agent *agent, const struct invite *invite,
                 struct err *err);

/* Run until the coordinator, a signal or the linger time ends it.  Returns the
 * program's exit code: 0, or 1 after a signal. */
int agent_run(struct agent *agent);
/* After agent_run(): the command that powers the host off, if the worker ended
 * because its coordinator stayed away; otherwise "". */
const char *agent_poweroff(const struct agent *agent);
void agent_close(struct agent *agent); /* kills all its children */

#endif
