/* sim_host.h - a machine: its worker process, and what outlives that
 *
 * Journal and cache lie on its disk.  A worker that dies loses what it had not
 * written; a machine that goes down, what was not synced.
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
    int64_t saved_ns; /* synced then; SIM_FOR_EVER: there was no room */
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
    struct sim_worker *worker; /* NULL: no process */
    struct sim_entry *journal;
    size_t n_journal;
    struct sim_blob *cache;
    size_t n_cache;
    bool disk_full;
    int64_t sync_ns; /* what an fsync takes */
};

void sim_host_init(struct sim_world *world, size_t host);
void sim_host_fini(struct sim_world *world, size_t host);

/* ---- for the line */
bool sim_host_is_on(const struct sim_world *world, size_t host);
/* Its worker is about to hang up; one that drains refuses at once. */
bool sim_host_is_ending(const struct sim_world *world, size_t host);
/* A relay starts or finds the worker and hands the invitation over.  NULL:
 * the tunnel is open; "": the worker does not answer; else why not. */
const char *sim_host_attach(struct sim_world *world, size_t host);
/* Takes the parcel. */
void sim_host_hear(struct sim_world *world, size_t host,
                   struct sim_parcel *parcel);

/* ---- what can happen to it */
/* 'text' for the trace; the process is gone at once. */
void sim_host_kill_worker(struct sim_world *world, size_t host,
                          const char *text);
void sim_host_reboot(struct sim_world *world, size_t host, int64_t off_ns);
void sim_host_freeze(struct sim_world *world, size_t host, int64_t until_ns);
/* Each artifact goes with this chance. */
void sim_host_evict(struct sim_world *world, size_t host, int percent);

/* ---- its disk */
const struct sim_blob *sim_cache_find(const struct sim_host *host,
                                      const char *hash);
/* Bytes of another hash are refused. */
bool sim_cache_put(struct sim_world *world, size_t host, const char *hash,
                   const void *bytes, size_t len);
void sim_journal_add(struct sim_world *world, size_t host, const char *nonce,
                     const void *bytes, size_t len);
bool sim_journal_is_stuck(const struct sim_world *world, size_t host);
/* What found no room is written now that there is some. */
void sim_journal_retry(struct sim_world *world, size_t host);
void sim_journal_ack(struct sim_host *host, const char *nonce);

#endif
