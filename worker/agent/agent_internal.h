/* agent_internal.h - the struct shared by the parts of the agent */
#ifndef FA_WORKER_AGENT_AGENT_INTERNAL_H
#define FA_WORKER_AGENT_AGENT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/msg.h"
#include "worker/agent/agent.h"
#include "worker/agent/agent_end.h"
#include "worker/agent/agent_share.h"
#include "worker/agent/control.h"
#include "worker/agent/link.h"
#include "worker/agent/liveness.h"
#include "worker/resources/queue.h"
#include "worker/resources/resources.h"
#include "worker/store/cache.h"
#include "worker/store/instance.h"
#include "worker/store/journal.h"
#include "worker/store/transfers.h"

#define AGENT_MEASURE_CREDIT 32 /* leases of a GPU, at most */
#define AGENT_RESEND_NS (2 * NS_PER_S)

/* The state of the current connection. */
struct agent_connection {
    int64_t invited_ns; /* when this epoch's first invitation came */
    bool tcp;           /* the worker began with tcp:// */
    int64_t made_ns;
    bool welcomed;
    enum resources_state announced; /* READY or TROUBLE, if told on it */
};

struct agent_due {
    int64_t hello_ns, beat_ns, resend_ns, trim_ns, refusal_ns, share_ns;
    int64_t folder_ns;
};

struct agent {
    const struct instance *instance; /* borrowed */
    FILE *log;
    int signals;
    struct instance_lock lock;
    struct agent_share share;
    void *zctx;
    struct control *control;
    struct cache *cache;
    struct journal *journal;
    int64_t lost; /* results, in a damaged journal; -1: none */
    struct transfers *transfers;
    struct link *link;        /* NULL until invited */
    struct resources *bench;  /* NULL until the first WELCOME */
    struct queue *queue;      /* NULL until 'bench' is ready */
    struct liveness liveness; /* of the coordinator */
    struct agent_connection connection;
    struct agent_due due;
    struct agent_end end;
    char folder_gone[WORKDIR_BYTES + 40]; /* then it is why this ends */
};

/* The files from bottom to top: each calls only files above it in this list.
 * ---- agent_say.c */
void agent_send(struct agent *agent, struct msg *msg);
/* Send HELLO, with the work that is running, and the later messages again. */
void agent_greet_again(struct agent *agent, int64_t now_ns);
/* The same if HELLO is not repeated already; files are requested again, too. */
void agent_resync(struct agent *agent, int64_t now_ns);
void agent_say_hello(struct agent *agent, int64_t now_ns);
void agent_announce(struct agent *agent); /* READY or TROUBLE */
void agent_say_started(struct agent *agent, struct lease *lease);
/* Of an earlier run it has another number now: a new HELLO says it ended. */
void agent_refuse(struct agent *agent, const struct msg *lease,
                  const char *text);

/* ---- agent_stop.c */
void agent_stop(struct agent *agent, enum agent_stop how, const char *why);
/* Let go of all work and resources, and stay for the next step of the command
 * of its coordinator. */
void agent_keep(struct agent *agent, int64_t now_ns);
/* A draining worker runs again, unless 'epoch' let it drain: then false. */
bool agent_resume(struct agent *agent, int64_t epoch);
/* It was told to stop, and there is nothing left to wait for. */
bool agent_is_over(struct agent *agent, int64_t now_ns);

/* ---- agent_results.c */
/* Those of the database it serves that other workers of the folder left. */
void agent_gather_results(struct agent *agent);
void agent_collect_results(struct agent *agent, int64_t now_ns);
/* Write the result to the journal, then send it.  Ends the lease. */
void agent_deliver(struct agent *agent, struct lease *lease, struct msg *result,
                   int64_t now_ns);
/* Those that are not acknowledged: all, or those due. */
void agent_offer_results(struct agent *agent, int64_t now_ns, bool all);

/* ---- agent_tool.c */
int agent_start_tool(struct agent *agent, struct lease *lease, int64_t now_ns,
                     struct err *err);
void agent_collect_tools(struct agent *agent, int64_t now_ns);

/* ---- agent_work.c */
void agent_add_lease(struct agent *agent, struct msg *msg);
void agent_cancel(struct agent *agent, int64_t epoch,
                  const struct msg_cancel *cancel, int64_t now_ns);
void agent_arrived(struct agent *agent, const char *hash);
void agent_missing(struct agent *agent, const char *hash);
/* Request files, start and collect what can be. */
void agent_work(struct agent *agent, int64_t now_ns);
/* Cancels builds and tools; measurements are short, and end. */
void agent_drop_long_work(struct agent *agent, int64_t now_ns);
void agent_drop_work(struct agent *agent, int64_t now_ns); /* all of it */

/* ---- agent_inbox.c */
/* True: another invitation came.  The caller wipes what may be of its run. */
bool agent_receive(struct agent *agent, int64_t now_ns, struct invite *again);

#endif
