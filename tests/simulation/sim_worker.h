/* sim_worker.h - a worker process as worker/agent*.c behaves
 *
 *   alone --invitation--> HELLO every second --WELCOME--> set-up
 *     --> GPU* READY --> leases in, results out, BEAT --STOP, linger--> gone
 *
 * Its queue of leases is the real one.  Its parts:
 *
 *   sim_worker.c         its turn, its clock
 *   sim_worker_inbox.c   messages from the coordinator
 *   sim_worker_work.c    leases, until they have results
 *   sim_worker_result.c  results, until they are acknowledged
 *   sim_vice.c           what an honest worker does not do
 */
#ifndef FA_TESTS_SIMULATION_SIM_WORKER_H
#define FA_TESTS_SIMULATION_SIM_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/owner.h"
#include "tests/simulation/sim_line.h"
#include "worker/agent/liveness.h"
#include "worker/resources/queue.h"

struct msg;
struct sim_world;

#define SIM_MEASURE_CREDIT 32
#define SIM_RESEND_NS (2 * NS_PER_S)

enum sim_bench {
    SIM_BENCH_NONE,
    SIM_BENCH_OPENING,
    SIM_BENCH_READY,
};

enum sim_stop {
    SIM_RUNS,
    SIM_DRAINS,
    SIM_STOPS,
};

struct sim_want {
    char hash[HASH_HEX];
    int64_t asked_ns;
    struct buf bytes;
};

struct sim_fetch {
    char hash[HASH_HEX];
    size_t offset;
};

/* A lease whose work is running. */
struct sim_job {
    int64_t number; /* lease.number */
    int64_t end_ns;
};

struct sim_worker {
    int64_t pid;
    char boot_id[40];
    bool frozen;
    int64_t frozen_ns;
    struct sim_parcels inbox;

    int64_t epoch;      /* 0: nobody invited it */
    struct owner owner; /* who invited it */
    struct err refusal; /* why it refused the newest invitation, if it did */
    bool welcomed, announced;
    struct liveness liveness;
    int64_t invited_ns; /* when this epoch invited it */
    int64_t drained_by; /* the epoch that told it to drain, or 0 */
    int64_t renewed_ns, hello_ns, beat_ns, resend_ns;

    enum sim_bench bench;
    int64_t bench_ns; /* when compiler and runner are ready */
    int slots, gpus;
    struct queue *queue; /* once it is ready */
    struct sim_job *jobs;
    size_t n_jobs;
    struct sim_want *wants;
    size_t n_wants;
    struct sim_fetch *fetches;
    size_t n_fetches;
    char (*bundles)[HASH_HEX];
    size_t n_bundles;

    enum sim_stop stop;
    const char *why;
    int64_t stop_by_ns;
    int64_t wake_ns; /* its next planned turn */
    int64_t vice_ns; /* its next misdeed */
};

struct sim_worker *sim_worker_new(struct sim_world *world, size_t host,
                                  int64_t pid);
void sim_worker_free(struct sim_worker *worker); /* NULL is fine */
/* Why it refuses the invitation of this life, or NULL. */
const char *sim_worker_refuses(const struct sim_world *world,
                               struct sim_worker *worker);
void sim_worker_invite(struct sim_world *world, size_t host);
/* It was started with the invitation of its host. */
void sim_worker_dial(struct sim_world *world, size_t host);
/* INVITE of this epoch has come over its connection. */
void sim_worker_follow(struct sim_world *world, size_t host, int64_t epoch);
/* It says HELLO again. */
void sim_worker_resync(struct sim_world *world, size_t host);
void sim_worker_thaw(struct sim_world *world, size_t host);
/* Does all that is due now; the worker may end in it. */
void sim_worker_turn(struct sim_world *world, size_t host);

/* ---- for its parts */
void sim_worker_say(struct sim_world *world, size_t host, struct msg *msg);
void sim_worker_stop(struct sim_world *world, size_t host, enum sim_stop how,
                     const char *why);
void sim_worker_hello(struct sim_world *world, size_t host);
void sim_worker_announce(struct sim_world *world, size_t host);
void sim_worker_receive(struct sim_world *world, size_t host);

void sim_worker_lease(struct sim_world *world, size_t host, struct msg *msg);
void sim_worker_refuse(struct sim_world *world, size_t host,
                       const struct msg *lease, const char *why);
void sim_worker_drop(struct sim_worker *worker, struct lease *lease);
void sim_worker_work(struct sim_world *world, size_t host);
void sim_worker_missing(struct sim_world *world, size_t host, const char *hash);
struct sim_want *sim_worker_want(struct sim_worker *worker, const char *hash);
void sim_worker_got(struct sim_worker *worker, struct sim_want *want);
void sim_worker_forget_wants(struct sim_worker *worker);
int64_t sim_worker_next_end(const struct sim_worker *worker);

/* Writes the result of a lease to the disk, which ends the lease. */
void sim_worker_finish(struct sim_world *world, size_t host,
                       struct lease *lease);
void sim_worker_offer(struct sim_world *world, size_t host, bool all);
/* The earliest time at which an unsent result is on the disk. */
int64_t sim_worker_next_saved(const struct sim_world *world, size_t host);

#endif
