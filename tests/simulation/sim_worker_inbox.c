/* Messages from the coordinator, and the answers to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/spec/gpu_arch.h"
#include "tests/simulation/sim_vice.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/sim_world.h"
#include "worker/agent/claim.h"

#define HELLO_NS NS_PER_S
#define BENCH_MS_MAX 4000 /* to find the tools and to build the runner */

static struct sim_worker *of(struct sim_world *world, size_t host)
{
    return world->hosts[host].worker;
}

void sim_worker_hello(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    struct lease *lease = worker->queue ? queue_first(worker->queue) : NULL;
    struct msg hello = { .type = MSG_HELLO,
                         .hello = { .protocol = MSG_PROTOCOL,
                                    .version = FA_VERSION,
                                    .host = world->scene.hosts[host].name,
                                    .boot_id = worker->boot_id,
                                    .pid = worker->pid,
                                    .cpus = 4 } };
    char **items = NULL;
    size_t n = 0;

    for (; lease; lease = lease->next) {
        char text[MSG_IDENTITY_BYTES];

        msg_identity_text(&msg_work(&lease->msg)->id, text);
        items = mem_grow(items, n + 1, sizeof(*items));
        items[n++] = mem_strdup(text);
    }
    sim_vice_claim(world, host, &items, &n);
    hello.hello.running = (struct texts){ (const char *const *)items, n };
    hello.hello.journal = (int64_t)world->hosts[host].n_journal;
    sim_worker_say(world, host, &hello);
    worker->hello_ns = world->boot_ns + HELLO_NS;
    while (n > 0)
        free(items[--n]);
    free(items);
}

static void say_gpu(struct sim_world *world, size_t host, int gpu)
{
    bool other = world->scene.is_other[host];
    const struct gpu_arch_facts *facts =
        gpu_arch_find(other ? "sm_90" : "sm_89");
    char uuid[64], *lines[GPU_ARCH_FACTS];
    struct msg msg = { .type = MSG_GPU,
                       .gpu = { .index = gpu,
                                .uuid = uuid,
                                .name = other ? "NVIDIA H200" : "NVIDIA L4",
                                .driver = "580.1" } };

    snprintf(uuid, sizeof(uuid), "GPU-%zu-%d", world->scene.box[host], gpu);
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++)
        lines[i] = mem_printf("%s %lld", gpu_arch_fact_name(i),
                              (long long)gpu_arch_fact(facts, i));
    msg.gpu.facts =
        (struct texts){ (const char *const *)lines, GPU_ARCH_FACTS };
    sim_worker_say(world, host, &msg);
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++)
        free(lines[i]);
}

void sim_worker_announce(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    struct msg ready = { .type = MSG_READY,
                         .ready = { .toolkit = "nvcc 13.0.88",
                                    .slots = worker->slots,
                                    .n_gpus = worker->gpus,
                                    .measure_credit = SIM_MEASURE_CREDIT } };

    if (!worker->queue)
        worker->queue = queue_new((size_t)worker->slots, (size_t)worker->gpus,
                                  SIM_MEASURE_CREDIT);
    for (int i = 0; i < worker->gpus; i++)
        say_gpu(world, host, i);
    sim_worker_say(world, host, &ready);
    worker->announced = true;
}

static void on_welcome(struct sim_world *world, size_t host,
                       const struct msg_welcome *welcome)
{
    struct sim_worker *worker = of(world, host);

    if (worker->welcomed)
        return;
    worker->welcomed = true;
    worker->liveness.beat_every_ns = welcome->beat_ms * NS_PER_MS;
    worker->beat_ns = world->boot_ns + worker->liveness.beat_every_ns;
    worker->liveness.linger_ns = welcome->linger_ms * NS_PER_MS;
    sim_worker_offer(world, host, true);
    if (worker->bench != SIM_BENCH_NONE)
        return;
    worker->slots = welcome->slots > 0 ? (int)welcome->slots : 1;
    worker->gpus =
        strcmp(welcome->gpus, "none") == 0 ? 0 : world->scene.gpus[host];
    worker->bench = SIM_BENCH_OPENING;
    worker->bench_ns =
        world->boot_ns + sim_between(world, 50, BENCH_MS_MAX) * NS_PER_MS;
}

static void on_fetch(struct sim_world *world, size_t host, const char *hash)
{
    struct sim_worker *worker = of(world, host);
    struct msg missing = { .type = MSG_MISSING, .missing.hash = hash };

    if (!sim_cache_find(&world->hosts[host], hash)) {
        sim_worker_say(world, host, &missing);
        return;
    }
    for (size_t i = 0; i < worker->n_fetches; i++)
        if (strcmp(worker->fetches[i].hash, hash) == 0)
            return; /* it is on its way already */
    worker->fetches = mem_grow(worker->fetches, worker->n_fetches + 1,
                               sizeof(*worker->fetches));
    worker->fetches[worker->n_fetches] = (struct sim_fetch){ .offset = 0 };
    memcpy(worker->fetches[worker->n_fetches++].hash, hash, HASH_HEX);
}

static void on_bundle(struct sim_worker *worker,
                      const struct msg_bundle *bundle)
{
    struct sim_want *want = sim_worker_want(worker, bundle->hash);

    if (!want)
        return;
    worker->bundles = mem_grow(worker->bundles, worker->n_bundles + 1,
                               sizeof(*worker->bundles));
    memcpy(worker->bundles[worker->n_bundles++], bundle->hash, HASH_HEX);
    sim_worker_got(worker, want);
}

static void on_artifact(struct sim_world *world, size_t host,
                        const struct msg_artifact *artifact)
{
    struct sim_worker *worker = of(world, host);
    struct sim_want *want = sim_worker_want(worker, artifact->hash);

    if (!want)
        return;
    if (artifact->offset == 0)
        buf_clear(&want->bytes);
    if (artifact->offset != (int64_t)want->bytes.len)
        return;
    buf_add(&want->bytes, artifact->chunk.data, artifact->chunk.len);
    if ((int64_t)want->bytes.len < artifact->total)
        return;
    if (sim_cache_put(world, host, artifact->hash, want->bytes.bytes,
                      want->bytes.len))
        sim_worker_got(worker, want);
    else
        buf_clear(&want->bytes);
}

static void cancel(struct sim_worker *worker, const struct msg *msg)
{
    struct lease *lease = worker->queue ? queue_first(worker->queue) : NULL;
    struct lease *next;

    for (; lease; lease = next) {
        next = lease->next;
        if (queue_lease_is_cancelled(lease, msg->epoch, &msg->cancel))
            sim_worker_drop(worker, lease);
    }
}

static void dispatch(struct sim_world *world, size_t host, struct msg *msg)
{
    struct sim_worker *worker = of(world, host);

    switch (msg->type) {
    case MSG_WELCOME:
        on_welcome(world, host, &msg->welcome);
        return;
    case MSG_BUILD:
    case MSG_MEASURE:
    case MSG_TOOL:
        if (worker->welcomed)
            sim_worker_lease(world, host, msg);
        return;
    case MSG_BUNDLE:
        on_bundle(worker, &msg->bundle);
        return;
    case MSG_ARTIFACT:
        on_artifact(world, host, &msg->artifact);
        return;
    case MSG_MISSING:
        sim_worker_missing(world, host, msg->missing.hash);
        return;
    case MSG_FETCH:
        on_fetch(world, host, msg->fetch.hash);
        return;
    case MSG_ACK:
        for (size_t i = 0; i < msg->ack.nonces.n; i++)
            sim_journal_ack(&world->hosts[host], msg->ack.nonces.items[i]);
        return;
    case MSG_CANCEL:
        cancel(worker, msg);
        return;
    case MSG_STOP:
        sim_worker_stop(world, host,
                        strcmp(msg->stop.what, "now") == 0 ? SIM_STOPS
                                                           : SIM_DRAINS,
                        "the coordinator asked it to stop");
        worker->drained_by = worker->epoch;
        return;
    default:
        return;
    }
}

/* As take() and follow() of worker/agent/. */
static void take(struct sim_world *world, size_t host, struct msg *msg)
{
    struct sim_worker *worker = of(world, host);

    if (msg->type == MSG_INVITE) {
        sim_worker_follow(world, host, msg->epoch);
        return;
    }
    switch (claim_message(worker->epoch, msg->epoch)) {
    case CLAIM_TAKE:
        worker->liveness.heard_ns = world->boot_ns;
        dispatch(world, host, msg);
        return;
    case CLAIM_GREET:
        sim_worker_resync(world, host);
        return;
    case CLAIM_DROP:
        return;
    }
}

void sim_worker_receive(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    struct sim_parcel *parcel;

    while ((parcel = sim_parcels_take(&worker->inbox))) {
        struct msg msg;
        struct err err;

        if (msg_decode(parcel->bytes, parcel->len, &msg, &err) < 0) {
            sim_world_note(world, SIM_WORKER, (int)host, err.text);
        } else {
            sim_trace_msg(&world->trace, SIM_HEARD, world->boot_ns, (int)host,
                          &msg, 0);
            take(world, host, &msg);
            msg_fini(&msg);
        }
        free(parcel);
    }
}
