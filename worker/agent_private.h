/* agent_private.h - the struct that the parts of the agent share */
#ifndef FA_WORKER_AGENT_PRIVATE_H
#define FA_WORKER_AGENT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/msg.h"
#include "worker/absence.h"
#include "worker/agent.h"
#include "worker/bench.h"
#include "worker/cache.h"
#include "worker/control.h"
#include "worker/files.h"
#include "worker/journal.h"
#include "worker/link.h"
#include "worker/queue.h"

/* Leases a GPU holds: one runs, the others cover a round trip of 150 ms at
 * 50 ms a measurement. */
#define AGENT_MEASURE_CREDIT 4
#define AGENT_RESEND_NS (2 * NS_PER_S)

enum agent_stop {
    AGENT_RUNS,
    AGENT_DRAINS, /* no new work; ends when what runs has ended */
    AGENT_STOPS,  /* ends now */
};

struct agent {
    const char *dir; /* borrowed */
    FILE *log;
    int lock, signals;
    void *zctx;
    struct control *control;
    struct cache *cache;
    struct journal *journal;
    struct files *files;
    struct link *link;   /* NULL until invited */
    struct bench *bench; /* NULL until the first WELCOME */
    struct queue *queue; /* of this bench, once it is ready */

    struct absence absence;     /* of the coordinator */
    int64_t renewed_ns;         /* last connection made */
    bool welcomed;              /* on this connection */
    enum bench_state announced; /* what was sent on it: READY, TROUBLE */
    int64_t hello_ns, beat_ns, resend_ns, trim_ns; /* due */

    enum agent_stop stop;
    const char *why; /* it stops */
    int64_t stop_by_ns;
    bool by_signal;
};

/* ---- agent.c */
void agent_send(struct agent *agent, struct msg *msg);
void agent_stop(struct agent *agent, enum agent_stop how, const char *why);

/* ---- agent_inbox.c */
void agent_say_hello(struct agent *agent, int64_t now_ns);
void agent_receive(struct agent *agent, int64_t now_ns);
/* Tell what there is to tell of a bench that has become ready, or not. */
void agent_announce(struct agent *agent);

/* ---- agent_work.c */
void agent_add_lease(struct agent *agent, struct msg *msg);
void agent_cancel(struct agent *agent, int64_t epoch, int64_t lease,
                  int64_t now_ns);
void agent_arrived(struct agent *agent, const char *hash);
void agent_missing(struct agent *agent, const char *hash);
/* Ask for files, start what can start, take what has ended. */
void agent_work(struct agent *agent, int64_t now_ns);
/* Builds and tools; a measurement ends soon enough. */
void agent_drop_long_work(struct agent *agent, int64_t now_ns);
void agent_say_started(struct agent *agent, struct lease *lease);
/* To a coordinator that has gone since, its number would mean another: it is
 * not told. */
void agent_refuse(struct agent *agent, const struct msg *lease,
                  const char *text);

/* ---- agent_results.c */
void agent_collect_results(struct agent *agent, int64_t now_ns);
/* Onto the disk, then away.  Ends the lease. */
void agent_deliver(struct agent *agent, struct lease *lease, struct msg *result,
                   int64_t now_ns);
/* Send what the coordinator has not acknowledged: all, or what is due. */
void agent_offer_results(struct agent *agent, int64_t now_ns, bool all);

/* ---- agent_tool.c */
int agent_start_tool(struct agent *agent, struct lease *lease, int64_t now_ns,
                     struct err *err);
void agent_collect_tools(struct agent *agent, int64_t now_ns);

#endif
