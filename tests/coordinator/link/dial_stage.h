/* dial_stage.h - hosts that dial back, a real ROUTER, and a clock that obeys
 *
 *   0 box    is reached from here
 *   1 desk   dials back
 *   2, 3     are a line of Slurm, of which one node is wanted at least
 *   4 late   dials back
 *
 * Behind the end of the list is a host that must not be touched.  Workers are
 * sockets that have read their invitation.  The thread of the line is one of
 * the test, which keeps what it is told.
 */
#ifndef FA_TESTS_COORDINATOR_LINK_DIAL_STAGE_H
#define FA_TESTS_COORDINATOR_LINK_DIAL_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/invite.h"
#include "common/msg.h"
#include "common/owner.h"
#include "coordinator/dial/dial_keys.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/dial_hosts.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/listen.h"
#include "coordinator/link/router.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/slurm/slurm_files.h"
#include "coordinator/slurm/slurm_thread.h"

#define DIAL_STAGE_EPOCH 7
#define DIAL_STAGE_NEWS 4
#define DIAL_STAGE_WORKERS 2

/* The thread of a line. */
struct slurm_thread {
    int started, stopped;
    size_t first;
    struct slurm_news news[DIAL_STAGE_NEWS]; /* to be told */
    size_t n_news, n_taken;
    int came[8], dismissed[8]; /* how often, of a host */
    int n_grows;               /* how often it was told */
    bool grows;
};

struct dial_stage {
    char folder[32], db[64], router_path[64];
    struct host list[6];
    struct hosts hosts;
    struct owner owner;
    struct listen listen;
    struct worker_binary program;
    void *zctx;
    struct router *router;
    struct dial_keys *keys;
    struct dial_hosts *dial;
    void *workers[DIAL_STAGE_WORKERS]; /* closed at the end */
    size_t n_workers;
};

extern struct slurm_thread dial_stage_line;
extern int64_t dial_stage_now_ns; /* of CLOCK_BOOTTIME */
/* How often a place with the secret key of host 1 was wiped: of any size, of
 * that of an invitation, and of its text. */
extern int dial_stage_wiped, dial_stage_wiped_invites, dial_stage_wiped_texts;

/* For cmocka: '*state' is a stage. */
int dial_stage_set_up(void **state);
int dial_stage_tear_down(void **state);

int dial_stage_try(struct dial_stage *stage, struct err *err);
void dial_stage_open(struct dial_stage *stage);
/* What was logged since the set-up. */
const char *dial_stage_log(void);

/* The invitation of a host, from its file. */
struct invite dial_stage_invitation(const struct dial_stage *stage,
                                    size_t host);
/* A worker that has it and says HELLO as of this run; who is its process. */
void *dial_stage_worker(struct dial_stage *stage, size_t host, int64_t epoch,
                        int64_t pid);
void dial_stage_hello(void *worker, int64_t epoch, int64_t pid);
void dial_stage_say(void *worker, const struct msg *msg);
/* The next message is of this host; is it for the reactor? */
bool dial_stage_takes(struct dial_stage *stage, size_t host);
/* The next message to a worker, for msg_fini(). */
struct msg dial_stage_read(void *worker);
/* It has been sent nothing else.  (It has now.) */
void dial_stage_has_read_all(struct dial_stage *stage, size_t host,
                             void *worker);

/* The next news of a host, which must be this. */
struct host_thread_news dial_stage_await(struct dial_stage *stage, size_t host,
                                         enum host_threads_event event);
void dial_stage_no_news(struct dial_stage *stage, size_t host);

#endif
