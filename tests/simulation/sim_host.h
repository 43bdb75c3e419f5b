/* sim_host.h - a machine: its worker process, and what outlives the process
 *
 * The journal and the cache are on the machine's disk.  A worker that dies
 * loses what it had not written.  A machine that goes down loses what was not
 * synced.
 */
#ifndef FA_TESTS_SIMULATION_SIM_HOST_H
#define FA_TESTS_SIMULATION_SIM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"

struct sim_event;
struct sim_parcel;
struct sim_worker;
struct sim_world;

/* A result on its way to the coordinator's database. */
struct sim_entry {
    char nonce[HASH_HEX];
    char *bytes;
    size_t len;
    int64_t saved_ns; /* when it is synced; SIM_FOR_EVER: the disk was full */
    int64_t sent_ns;
};

struct sim_blob {
    char hash[HASH_HEX];
    char *bytes;
    size_t len;
    int64_t synced_ns;
};

struct sim_host {
    bool off;
    int boots;
    int64_t pids;
    struct sim_worker *worker; /* NULL: no process runs */
    struct sim_entry *journal;
    size_t n_journal;
    struct sim_blob *cache;
    size_t n_cache;
    bool disk_full;
    int64_t sync_ns; /* how long an fsync takes */
};

void sim_host_init(struct sim_world *world, size_t host);
void sim_host_fini(struct sim_world *world, size_t host);

/* ---- for sim_line.c */
bool sim_host_is_on(const struct sim_world *world, size_t host);
/* The host's worker will soon end its connection.  A worker that drains refuses
 * at once. */
bool sim_host_is_ending(const struct sim_world *world, size_t host);
/* A relay finds the worker or starts one, and gives it the invitation.  Returns
 * NULL if the tunnel is open, "" if the worker does not answer, and otherwise
 * the reason for the refusal. */
const char *sim_host_attach(struct sim_world *world, size_t host);
/* Takes ownership of the parcel. */
void sim_host_hear(struct sim_world *world, size_t host,
                   struct sim_parcel *parcel);

/* ---- what can happen to a host */
/* The process ends at once; 'text' goes into the trace. */
void sim_host_kill_worker(struct sim_world *world, size_t host,
                          const char *text);
void sim_host_reboot(struct sim_world *world, size_t host, int64_t off_ns);
void sim_host_freeze(struct sim_world *world, size_t host, int64_t until_ns);
/* A machine is on, with an empty disk; or it is off for good. */
void sim_host_begin(struct sim_world *world, size_t host);
void sim_host_wipe(struct sim_world *world, size_t host);
/* Its worker ends, and the disk is lost. */
void sim_host_lose_disk(struct sim_world *world, size_t host);
/* Evicts each artifact with this probability. */
void sim_host_evict(struct sim_world *world, size_t host, int percent);

/* ---- its disk */
const struct sim_blob *sim_cache_find(const struct sim_host *host,
                                      const char *hash);
/* Refuses bytes that have another hash. */
bool sim_cache_put(struct sim_world *world, size_t host, const char *hash,
                   const void *bytes, size_t len);
void sim_journal_add(struct sim_world *world, size_t host, const char *nonce,
                     const void *bytes, size_t len);
bool sim_journal_is_stuck(const struct sim_world *world, size_t host);
/* Writes what a full disk had refused. */
void sim_journal_retry(struct sim_world *world, size_t host);
void sim_journal_ack(struct sim_host *host, const char *nonce);

#endif
