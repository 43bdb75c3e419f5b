#include "tests/simulation/sim_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "tests/simulation/sim_dial.h"
#include "tests/simulation/sim_host_thread.h"
#include "tests/simulation/sim_rent.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/sim_world.h"

/* Until the stream of a frozen worker ends. */
#define STARVES_NS (15 * NS_PER_S)
/* Until somebody starts a worker that dials back again. */
#define RESTART_MS_MAX 30000

static struct sim_host *at(struct sim_world *world, size_t host)
{
    return &world->hosts[host];
}

void sim_host_init(struct sim_world *world, size_t host)
{
    static const int64_t syncs_ms[] = { 0, 2, 20, 400 };

    at(world, host)->boots = 1;
    at(world, host)->sync_ns = syncs_ms[sim_between(world, 0, 3)] * NS_PER_MS;
}

static void forget_entry(struct sim_host *host, size_t i)
{
    free(host->journal[i].bytes);
    memmove(&host->journal[i], &host->journal[i + 1],
            (--host->n_journal - i) * sizeof(*host->journal));
}

static void forget_blob(struct sim_host *host, size_t i)
{
    free(host->cache[i].bytes);
    host->cache[i] = host->cache[--host->n_cache];
}

void sim_host_fini(struct sim_world *world, size_t host)
{
    struct sim_host *is = at(world, host);

    sim_worker_free(is->worker);
    while (is->n_journal > 0)
        forget_entry(is, is->n_journal - 1);
    while (is->n_cache > 0)
        forget_blob(is, is->n_cache - 1);
    free(is->journal);
    free(is->cache);
}

/* ---- for sim_line.c ---- */

bool sim_host_is_on(const struct sim_world *world, size_t host)
{
    return !world->hosts[host].off;
}

bool sim_host_is_ending(const struct sim_world *world, size_t host)
{
    const struct sim_worker *worker = world->hosts[host].worker;

    return worker && !worker->frozen && worker->stop == SIM_STOPS;
}

const char *sim_host_attach(struct sim_world *world, size_t host)
{
    struct sim_host *is = at(world, host);
    const char *why;

    if (is->off)
        return "connection timed out";
    if (!is->worker) {
        is->worker = sim_worker_new(world, host, ++is->pids);
        sim_world_note(world, SIM_WORKER, (int)host, "starts");
    }
    if (is->worker->frozen)
        return "";
    why = sim_worker_refuses(world, is->worker);
    if (why)
        return why;
    sim_line_open(world, host);
    sim_worker_invite(world, host);
    return NULL;
}

void sim_host_hear(struct sim_world *world, size_t host,
                   struct sim_parcel *parcel)
{
    struct sim_worker *worker = at(world, host)->worker;

    if (!worker) {
        sim_world_note_bytes(world, SIM_GONE, host, parcel);
        free(parcel);
        return;
    }
    sim_parcels_add(&worker->inbox, parcel);
    sim_worker_turn(world, host);
}

/* ---- what can happen to a host ---- */

void sim_host_kill_worker(struct sim_world *world, size_t host,
                          const char *text)
{
    struct sim_host *is = at(world, host);

    if (!is->worker)
        return;
    sim_world_note(world, SIM_WORKER, (int)host, text);
    sim_worker_free(is->worker);
    is->worker = NULL;
    for (size_t i = is->n_journal; i > 0; i--)
        if (is->journal[i - 1].saved_ns > world->boot_ns)
            forget_entry(is, i - 1);
    sim_host_thread_breaks(world, host, true);
    sim_line_hang_up(world, host);
    if (sim_dial_has(world, host))
        sim_dial_start_later(world, host, RESTART_MS_MAX);
}

static void is_up(struct sim_world *world, const struct sim_event *event)
{
    if (!sim_rent_is_on(world, event->host))
        return;
    at(world, event->host)->off = false;
    sim_world_note(world, SIM_HEAL, (int)event->host, "is up");
    if (sim_dial_has(world, event->host))
        sim_dial_start_later(world, event->host, RESTART_MS_MAX);
}

void sim_host_reboot(struct sim_world *world, size_t host, int64_t off_ns)
{
    struct sim_host *is = at(world, host);

    sim_host_kill_worker(world, host, "its machine went down");
    for (size_t i = is->n_cache; i > 0; i--)
        if (is->cache[i - 1].synced_ns > world->boot_ns)
            forget_blob(is, i - 1);
    is->off = true;
    is->boots++;
    sim_queue_add(&world->queue,
                  (struct sim_event){ .at_ns = world->boot_ns + off_ns,
                                      .fn = is_up,
                                      .host = host });
}

void sim_host_lose_disk(struct sim_world *world, size_t host)
{
    struct sim_host *is = at(world, host);

    sim_host_kill_worker(world, host, "its disk is lost");
    while (is->n_journal > 0)
        forget_entry(is, is->n_journal - 1);
    while (is->n_cache > 0)
        forget_blob(is, is->n_cache - 1);
    is->disk_full = false;
}

void sim_host_begin(struct sim_world *world, size_t host)
{
    at(world, host)->off = false;
    at(world, host)->boots++;
    sim_world_note(world, SIM_RENT, (int)host, "its machine is on");
}

void sim_host_wipe(struct sim_world *world, size_t host)
{
    sim_host_lose_disk(world, host);
    at(world, host)->off = true;
    sim_world_note(world, SIM_RENT, (int)host, "its machine is off");
}

static void starve(struct sim_world *world, const struct sim_event *event)
{
    struct sim_worker *worker = at(world, event->host)->worker;

    if (worker && worker->pid == event->number && worker->frozen)
        sim_line_starve(world, event->host);
}

static void thaw(struct sim_world *world, const struct sim_event *event)
{
    struct sim_worker *worker = at(world, event->host)->worker;

    if (!worker || worker->pid != event->number || !worker->frozen)
        return;
    sim_world_note(world, SIM_HEAL, (int)event->host, "thaws");
    sim_worker_thaw(world, event->host);
}

void sim_host_freeze(struct sim_world *world, size_t host, int64_t until_ns)
{
    struct sim_worker *worker = at(world, host)->worker;
    struct sim_event event = { .host = host };

    if (!worker || worker->frozen)
        return;
    worker->frozen = true;
    worker->frozen_ns = world->boot_ns;
    event.number = worker->pid;
    event.at_ns = world->boot_ns + STARVES_NS + sim_between(world, 0, NS_PER_S);
    event.fn = starve;
    sim_queue_add(&world->queue, event);
    if (until_ns == SIM_FOR_EVER)
        return;
    event.at_ns = until_ns;
    event.fn = thaw;
    sim_queue_add(&world->queue, event);
}

void sim_host_evict(struct sim_world *world, size_t host, int percent)
{
    struct sim_host *is = at(world, host);

    for (size_t i = is->n_cache; i > 0; i--)
        if (sim_chance(world, percent))
            forget_blob(is, i - 1);
}

/* ---- its disk ---- */

const struct sim_blob *sim_cache_find(const struct sim_host *host,
                                      const char *hash)
{
    for (size_t i = 0; i < host->n_cache; i++)
        if (strcmp(host->cache[i].hash, hash) == 0)
            return &host->cache[i];
    return NULL;
}

bool sim_cache_put(struct sim_world *world, size_t host, const char *hash,
                   const void *bytes, size_t len)
{
    struct sim_host *is = at(world, host);
    char real[HASH_HEX];
    struct sim_blob *blob;

    hash_of(bytes, len, real);
    if (strcmp(real, hash) != 0)
        return false;
    if (sim_cache_find(is, hash))
        return true;
    is->cache = mem_grow(is->cache, is->n_cache + 1, sizeof(*is->cache));
    blob = &is->cache[is->n_cache++];
    *blob = (struct sim_blob){ .bytes = mem_dup(bytes, len), .len = len };
    memcpy(blob->hash, hash, HASH_HEX);
    blob->synced_ns = world->boot_ns + is->sync_ns;
    return true;
}

void sim_journal_add(struct sim_world *world, size_t host, const char *nonce,
                     const void *bytes, size_t len)
{
    struct sim_host *is = at(world, host);
    struct sim_entry *entry;

    is->journal =
        mem_grow(is->journal, is->n_journal + 1, sizeof(*is->journal));
    entry = &is->journal[is->n_journal++];
    *entry = (struct sim_entry){ .bytes = mem_dup(bytes, len), .len = len };
    memcpy(entry->nonce, nonce, HASH_HEX);
    entry->saved_ns =
        is->disk_full ? SIM_FOR_EVER : world->boot_ns + is->sync_ns;
}

bool sim_journal_is_stuck(const struct sim_world *world, size_t host)
{
    const struct sim_host *is = &world->hosts[host];

    for (size_t i = 0; i < is->n_journal; i++)
        if (is->journal[i].saved_ns == SIM_FOR_EVER)
            return true;
    return false;
}

void sim_journal_retry(struct sim_world *world, size_t host)
{
    struct sim_host *is = at(world, host);

    for (size_t i = 0; !is->disk_full && i < is->n_journal; i++)
        if (is->journal[i].saved_ns == SIM_FOR_EVER)
            is->journal[i].saved_ns = world->boot_ns + is->sync_ns;
}

void sim_journal_ack(struct sim_host *host, const char *nonce)
{
    for (size_t i = 0; i < host->n_journal; i++)
        if (strcmp(host->journal[i].nonce, nonce) == 0) {
            forget_entry(host, i);
            return;
        }
}
