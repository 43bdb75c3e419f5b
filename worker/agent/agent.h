/* agent.h - the worker: one thread, one poll loop, from invitation to exit
 *
 *   alone --invitation--> HELLO every second --WELCOME--> set-up
 *     --> GPU* READY --> leases in, results out, BEAT --STOP, linger--> exit
 *
 * Parts of the agent, which share its struct (agent_internal.h): agent.c the
 * loop, agent_inbox.c what the coordinator says, agent_work.c leases on their
 * way to results, agent_tool.c those of tools, agent_results.c results on their
 * way out, agent_stop.c the end, agent_say.c what the worker says.
 */
#ifndef FA_WORKER_AGENT_AGENT_H
#define FA_WORKER_AGENT_AGENT_H

#include <stdio.h>

#include "common/err.h"
#include "common/invite.h"

struct agent;

/* Take the folder's lock and listen on its control socket.  'log' is trimmed
 * when it is the folder's own; NULL otherwise.  ERR_DEVICE: another worker has
 * the folder. */
int agent_open(const char *dir, FILE *log, struct agent **out, struct err *err);

/* Use this invitation, for a worker started by hand. */
int agent_invite(struct agent *agent, const struct invite *invite,
                 struct err *err);

/* Until the coordinator, a signal or the linger time ends it.  Returns the
 * program's exit code: 0, or 1 after a signal. */
int agent_run(struct agent *agent);
void agent_close(struct agent *agent); /* ends all its children */

#endif
