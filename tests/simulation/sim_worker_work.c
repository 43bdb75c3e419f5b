/* Leases: they are taken or refused, wait for their files, start and end. */
#include <string.h>

#include "common/mem.h"
#include "common/msg.h"
#include "tests/simulation/sim_device.h"
#include "tests/simulation/sim_vice.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/sim_world.h"

#define WANT_AGAIN_NS (10 * NS_PER_S)
#define WANT_BYTES_MAX (4 << 20)

static struct sim_worker *of(struct sim_world *world, size_t host)
{
    return world->hosts[host].worker;
}

/* ---- files ---- */

struct sim_want *sim_worker_want(struct sim_worker *worker, const char *hash)
{
    for (size_t i = 0; i < worker->n_wants; i++)
        if (strcmp(worker->wants[i].hash, hash) == 0)
            return &worker->wants[i];
    return NULL;
}

static void drop_want(struct sim_worker *worker, struct sim_want *want)
{
    buf_fini(&want->bytes);
    *want = worker->wants[--worker->n_wants];
}

void sim_worker_forget_wants(struct sim_worker *worker)
{
    while (worker->n_wants > 0)
        drop_want(worker, &worker->wants[worker->n_wants - 1]);
}

void sim_worker_got(struct sim_worker *worker, struct sim_want *want)
{
    if (worker->queue)
        queue_arrived(worker->queue, want->hash);
    drop_want(worker, want);
}

static bool has_bundle(const struct sim_worker *worker, const char *hash)
{
    for (size_t i = 0; i < worker->n_bundles; i++)
        if (strcmp(worker->bundles[i], hash) == 0)
            return true;
    return false;
}

static void ask(struct sim_world *world, size_t host, int file,
                const char *hash)
{
    struct sim_worker *worker = of(world, host);
    struct sim_want *want = sim_worker_want(worker, hash);
    struct msg msg = { .type = MSG_WANT,
                       .want = { .what = file == LEASE_BUNDLE
                                             ? MSG_WANT_BUNDLE
                                             : MSG_WANT_ARTIFACT,
                                 .hash = hash,
                                 .offset = -1 } };

    if (want && world->boot_ns - want->asked_ns < WANT_AGAIN_NS)
        return;
    if (!want) {
        worker->wants = mem_grow(worker->wants, worker->n_wants + 1,
                                 sizeof(*worker->wants));
        want = &worker->wants[worker->n_wants++];
        memcpy(want->hash, hash, HASH_HEX);
        buf_init(&want->bytes, WANT_BYTES_MAX);
    }
    want->asked_ns = world->boot_ns;
    sim_worker_say(world, host, &msg);
}

static void ask_for_files(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    struct lease *lease = queue_first(worker->queue);

    for (; worker->welcomed && lease; lease = lease->next)
        for (int i = 0; i < LEASE_FILES; i++)
            if (lease->missing[i])
                ask(world, host, i, lease->missing[i]);
}

static void send_chunks(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);

    while (worker->welcomed && worker->n_fetches > 0) {
        struct sim_fetch *fetch = &worker->fetches[0];
        const struct sim_blob *blob =
            sim_cache_find(&world->hosts[host], fetch->hash);
        struct msg msg = { .type = MSG_MISSING, .missing.hash = fetch->hash };
        size_t n = 0;

        if (blob) {
            n = blob->len - fetch->offset;
            n = n < MSG_CHUNK_MAX ? n : MSG_CHUNK_MAX;
            msg = (struct msg){ .type = MSG_ARTIFACT,
                                .artifact = {
                                    .hash = fetch->hash,
                                    .offset = (int64_t)fetch->offset,
                                    .total = (int64_t)blob->len,
                                    .chunk = { sim_vice_bytes(world, host,
                                                              blob->bytes) +
                                                   fetch->offset,
                                               n } } };
        }
        sim_worker_say(world, host, &msg);
        fetch->offset += n;
        if (!blob || fetch->offset >= blob->len) {
            worker->n_fetches--;
            memmove(&worker->fetches[0], &worker->fetches[1],
                    worker->n_fetches * sizeof(worker->fetches[0]));
        }
    }
}

void sim_worker_missing(struct sim_world *world, size_t host, const char *hash)
{
    struct sim_worker *worker = of(world, host);
    struct lease *lease = worker->queue ? queue_first(worker->queue) : NULL;
    struct lease *next;

    for (; lease; lease = next) {
        next = lease->next;
        if (!queue_lease_lacks(lease, hash))
            continue;
        sim_worker_refuse(world, host, &lease->msg,
                          "a file is missing: no host has it");
        sim_worker_drop(worker, lease);
    }
}

/* ---- leases are taken or refused ---- */

void sim_worker_refuse(struct sim_world *world, size_t host,
                       const struct msg *lease, const char *why)
{
    struct msg msg = { .type = MSG_REFUSE,
                       .refuse = { msg_work(lease)->lease, why } };

    if (lease->epoch == of(world, host)->epoch)
        sim_worker_say(world, host, &msg);
}

static const char *cannot(struct sim_world *world, size_t host,
                          const struct msg *msg, int *place)
{
    const struct msg_launch *launch = msg_launch(msg);
    struct sim_worker *worker = of(world, host);
    int box, gpu;

    if (!worker->queue || worker->stop != SIM_RUNS)
        return "the worker is not ready";
    if (sim_journal_is_stuck(world, host))
        return "no result can be stored: is the disk of the worker full?";
    if (sim_vice_refuses(world, host))
        return "it does not please me";
    *place = QUEUE_BUILDS;
    if (!launch)
        return NULL;
    if (sscanf(launch->gpu, "GPU-%d-%d", &box, &gpu) != 2 ||
        box != (int)world->scene.box[host] || gpu >= worker->gpus)
        return "no such GPU here";
    *place = gpu;
    return NULL;
}

void sim_worker_lease(struct sim_world *world, size_t host, struct msg *msg)
{
    struct sim_worker *worker = of(world, host);
    struct lease *lease = NULL;
    int place = QUEUE_BUILDS;
    const char *why = cannot(world, host, msg, &place);
    struct err err;

    if (!why && queue_add(worker->queue, msg, place, &lease, &err) < 0)
        why = err.text;
    if (why) {
        sim_worker_refuse(world, host, msg, why);
        return;
    }
    for (int i = 0; i < LEASE_FILES; i++) {
        const char *hash = lease->missing[i];

        if (hash && (i == LEASE_BUNDLE
                         ? has_bundle(worker, hash)
                         : sim_cache_find(&world->hosts[host], hash) != NULL))
            queue_lease_found(lease, hash);
    }
}

void sim_worker_drop(struct sim_worker *worker, struct lease *lease)
{
    for (size_t i = 0; i < worker->n_jobs; i++)
        if (worker->jobs[i].number == lease->number)
            worker->jobs[i--] = worker->jobs[--worker->n_jobs];
    queue_remove(worker->queue, lease);
}

/* ---- leases start and end ---- */

/* Was a file evicted after it was found?  Then the worker asks for it again. */
static bool has_lost_a_file(struct sim_world *world, size_t host,
                            struct lease *lease)
{
    const struct msg_launch *launch = msg_launch(&lease->msg);
    const char *hashes[] = { launch ? launch->artifact : NULL,
                             launch ? launch->reference : NULL };
    const int files[] = { LEASE_ARTIFACT, LEASE_REFERENCE };

    for (int i = 0; i < 2; i++)
        if (hashes[i] && *hashes[i] &&
            !sim_cache_find(&world->hosts[host], hashes[i])) {
            lease->missing[files[i]] = hashes[i];
            return true;
        }
    return false;
}

static void start(struct sim_world *world, size_t host, struct lease *lease)
{
    struct sim_worker *worker = of(world, host);
    struct msg msg = { .type = MSG_STARTED,
                       .started.lease = msg_work(&lease->msg)->lease };

    if (has_lost_a_file(world, host, lease))
        return;
    lease->running = true;
    worker->jobs =
        mem_grow(worker->jobs, worker->n_jobs + 1, sizeof(*worker->jobs));
    worker->jobs[worker->n_jobs++] =
        (struct sim_job){ lease->number,
                          world->boot_ns +
                              sim_device_takes_ns(world, host, &lease->msg) };
    if (lease->msg.epoch == worker->epoch)
        sim_worker_say(world, host, &msg);
}

static void start_all(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    struct lease *lease;

    if (worker->stop != SIM_RUNS || sim_vice_sits(world, host))
        return;
    for (int place = QUEUE_BUILDS; place < worker->gpus; place++)
        while ((lease = queue_next(worker->queue, place)))
            start(world, host, lease);
}

static void collect(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);

    for (size_t i = 0; i < worker->n_jobs; i++) {
        struct sim_job job = worker->jobs[i];

        if (job.end_ns > world->boot_ns)
            continue;
        worker->jobs[i--] = worker->jobs[--worker->n_jobs];
        sim_worker_finish(world, host,
                          queue_numbered(worker->queue, job.number));
    }
}

int64_t sim_worker_next_end(const struct sim_worker *worker)
{
    int64_t at_ns = SIM_FOR_EVER;

    for (size_t i = 0; i < worker->n_jobs; i++)
        if (worker->jobs[i].end_ns < at_ns)
            at_ns = worker->jobs[i].end_ns;
    for (size_t i = 0; worker->welcomed && i < worker->n_wants; i++)
        if (worker->wants[i].asked_ns + WANT_AGAIN_NS < at_ns)
            at_ns = worker->wants[i].asked_ns + WANT_AGAIN_NS;
    return at_ns;
}

void sim_worker_work(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);

    send_chunks(world, host);
    if (!worker->queue)
        return;
    collect(world, host);
    if (worker->bench == SIM_BENCH_READY)
        start_all(world, host);
    ask_for_files(world, host);
}
