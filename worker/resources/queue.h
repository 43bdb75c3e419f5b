/* queue.h - the leases a worker holds
 *
 *   add --> FETCHING --all files here--> WAITING --start--> RUNNING --> removed
 *
 * A place is where work runs: QUEUE_BUILDS, or a GPU's index.  The
 * coordinator's credit limits the leases of each place, including running ones.
 * Within a place, work starts in order of arrival, except that leases that wait
 * for files are skipped.
 *
 * Pure: no clock, no socket, no disk.
 */
#ifndef FA_WORKER_RESOURCES_QUEUE_H
#define FA_WORKER_RESOURCES_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/msg.h"

#define QUEUE_BUILDS (-1)

/* The files that a lease may need before it starts. */
enum lease_file {
    LEASE_BUNDLE,
    LEASE_ARTIFACT,
    LEASE_REFERENCE,
    LEASE_INPUTS, /* the first of them */
    LEASE_FILES = LEASE_INPUTS + MSG_ARGUMENTS_MAX
};

struct queue;

struct lease {
    struct msg msg; /* the BUILD, MEASURE or TOOL, owned */
    int place;
    int64_t number; /* the worker's own, for its slots and GPUs */
    bool running;
    const char *missing[LEASE_FILES]; /* hashes inside msg; NULL: none, or
                                       * present */
    struct lease *next;
};

/* 'slots' builds at once and one more waiting; 'credit' leases for each GPU. */
struct queue *queue_new(size_t slots, size_t gpus, size_t credit);
void queue_free(struct queue *queue); /* NULL is fine */
/* There are more GPUs now, behind the others. */
void queue_add_gpus(struct queue *queue, size_t gpus);
/* Start no build while 'most' or more run, 1 or more, however many slots there
 * are. */
void queue_limit_builds(struct queue *queue, size_t most);

/* Takes ownership of 'msg', which is empty then.  All its files count as
 * missing until queue_lease_found() or queue_arrived() reports them.  ERR_INPUT
 * (and 'msg' stays with the caller): no credit, or a lease that is already
 * here. */
int queue_add(struct queue *queue, struct msg *msg, int place,
              struct lease **out, struct err *err);
void queue_remove(struct queue *queue, struct lease *lease);

/* This file is present now: for one lease, for all. */
void queue_lease_found(struct lease *lease, const char *hash);
void queue_arrived(struct queue *queue, const char *hash);

bool queue_lease_is_waiting(const struct lease *lease); /* could start */
bool queue_lease_lacks(const struct lease *lease, const char *hash);

/* The lease that may start next at a place, or NULL if none waits or the place
 * is full (a GPU runs one, the builds 'slots'). */
struct lease *queue_next(struct queue *queue, int place);

/* By a CANCEL of a run of this epoch: by its number there, or by its identity
 * if an earlier run gave it. */
bool queue_lease_is_cancelled(const struct lease *lease, int64_t epoch,
                              const struct msg_cancel *cancel);
struct lease *queue_find(struct queue *queue, int64_t epoch, int64_t lease);
struct lease *queue_numbered(struct queue *queue, int64_t number);
struct lease *queue_first(struct queue *queue); /* then ->next */
size_t queue_running(const struct queue *queue);

/* Drop all leases that have not started; returns how many. */
size_t queue_drop_idle(struct queue *queue);

#endif
