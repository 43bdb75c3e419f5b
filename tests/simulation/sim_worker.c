#include "tests/simulation/sim_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/msg.h"
#include "tests/simulation/sim_host_thread.h"
#include "tests/simulation/sim_vice.h"
#include "tests/simulation/sim_world.h"
#include "worker/agent/claim.h"

/* The times of worker/agent/agent.c. */
#define SILENCE_NS (15 * NS_PER_S)
#define DRAIN_NS (600 * NS_PER_S)
#define LAST_WORDS_NS (3 * NS_PER_S)
#define TURN_NS NS_PER_S
/* Those of coordinator/link/dial_hosts.c. */
#define FIRST_EPOCH 1
#define FIRST_LINGER_NS (90 * NS_PER_S)

static struct sim_worker *of(struct sim_world *world, size_t host)
{
    return world->hosts[host].worker;
}

struct sim_worker *sim_worker_new(struct sim_world *world, size_t host,
                                  int64_t pid)
{
    struct sim_worker *worker = mem_new(1, sizeof(*worker));

    worker->pid = 1000 * ((int64_t)host + 1) + pid;
    snprintf(worker->boot_id, sizeof(worker->boot_id), "boot-%zu-%d", host,
             world->hosts[host].boots);
    worker->liveness = liveness_uninvited(world->boot_ns);
    worker->wake_ns = SIM_FOR_EVER;
    return worker;
}

void sim_worker_free(struct sim_worker *worker)
{
    if (!worker)
        return;
    sim_parcels_fini(&worker->inbox);
    sim_worker_forget_wants(worker);
    queue_free(worker->queue);
    free(worker->jobs);
    free(worker->wants);
    free(worker->fetches);
    free(worker->bundles);
    free(worker);
}

static struct invite own_invite(const struct sim_worker *worker)
{
    return (struct invite){ .epoch = worker->epoch, .owner = worker->owner };
}

static struct claim_owner owner_of(const struct sim_world *world,
                                   const struct sim_worker *worker,
                                   const struct invite *now)
{
    return (struct claim_owner){
        .invite = worker->epoch ? now : NULL,
        .gpus = "",
        .dismissed = worker->drained_by != 0,
        .invited_ns = world->boot_ns - worker->invited_ns,
        .silent_ns = world->boot_ns - worker->liveness.heard_ns,
        .ends_ns =
            (worker->stop == SIM_RUNS ? liveness_ends_ns(&worker->liveness)
                                      : worker->stop_by_ns) -
            world->boot_ns,
    };
}

static bool is_ending(const struct sim_worker *worker, int64_t epoch)
{
    return worker->stop == SIM_STOPS ||
           (worker->stop == SIM_DRAINS && worker->drained_by == epoch);
}

/* Applies the real worker's rule.  The coordinator that invited it before has
 * ended its connection. */
const char *sim_worker_refuses(const struct sim_world *world,
                               struct sim_worker *worker)
{
    const struct invite newcomer = { .epoch = world->life.epoch,
                                     .owner = world->life.owner };
    const struct invite now = own_invite(worker);
    const struct claim_owner owner = owner_of(world, worker, &now);

    if (claim_check(&owner, &newcomer, &worker->refusal) != 0)
        return worker->refusal.text;
    if (is_ending(worker, newcomer.epoch))
        return "the worker refuses: the worker is ending";
    return NULL;
}

static void forget_connection(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);

    worker->welcomed = worker->announced = false;
    worker->renewed_ns = worker->hello_ns = world->boot_ns;
    sim_worker_forget_wants(worker);
    sim_line_dial(world, host);
}

static void drop_idle(struct sim_worker *worker)
{
    if (worker->queue)
        queue_drop_idle(worker->queue);
}

static void take_invitation(struct sim_world *world, size_t host, int64_t epoch,
                            int64_t linger_ns)
{
    struct sim_worker *worker = of(world, host);

    if (epoch > worker->epoch)
        drop_idle(worker);
    worker->stop = SIM_RUNS;
    worker->drained_by = 0;
    if (worker->epoch != epoch)
        worker->invited_ns = world->boot_ns;
    worker->epoch = epoch;
    worker->owner = world->life.owner;
    worker->liveness =
        (struct liveness){ world->boot_ns, LIVENESS_BEAT_NS, linger_ns };
    forget_connection(world, host);
}

void sim_worker_invite(struct sim_world *world, size_t host)
{
    take_invitation(world, host, world->life.epoch, world->life.linger_ns);
    sim_worker_turn(world, host);
}

void sim_worker_dial(struct sim_world *world, size_t host)
{
    take_invitation(world, host, FIRST_EPOCH, FIRST_LINGER_NS);
    sim_worker_turn(world, host);
}

void sim_worker_resync(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);

    if (!worker->welcomed)
        return;
    worker->welcomed = worker->announced = false;
    worker->hello_ns = world->boot_ns;
    sim_worker_forget_wants(worker);
}

void sim_worker_follow(struct sim_world *world, size_t host, int64_t epoch)
{
    struct sim_worker *worker = of(world, host);
    const struct invite next = { .epoch = epoch, .owner = world->life.owner };
    const struct invite now = own_invite(worker);
    const struct claim_owner owner = owner_of(world, worker, &now);
    int rc = claim_follow(&owner, &next, &worker->refusal);

    if (rc == CLAIM_AGAIN) {
        worker->liveness.heard_ns = world->boot_ns;
        sim_worker_resync(world, host);
    }
    if (rc != 0 || is_ending(worker, epoch))
        return;
    sim_parcels_fini(&worker->inbox); /* of the connection that it had */
    take_invitation(world, host, epoch, world->life.linger_ns);
}

void sim_worker_say(struct sim_world *world, size_t host, struct msg *msg)
{
    struct buf bytes;
    struct err err;

    msg->epoch = of(world, host)->epoch;
    buf_init(&bytes, MSG_BYTES_MAX);
    if (msg_encode(msg, &bytes, &err) < 0) {
        sim_world_note(world, SIM_WORKER, (int)host, err.text);
    } else {
        sim_trace_msg(&world->trace, SIM_SAID, world->boot_ns, (int)host, msg,
                      0);
        sim_line_send(world, host, SIM_TO_COORDINATOR, bytes.bytes, bytes.len);
    }
    buf_fini(&bytes);
}

void sim_worker_stop(struct sim_world *world, size_t host, enum sim_stop how,
                     const char *why)
{
    struct sim_worker *worker = of(world, host);

    if (how <= worker->stop)
        return;
    sim_world_note(world, SIM_WORKER, (int)host,
                   how == SIM_STOPS ? "stops" : "drains");
    worker->stop = how;
    worker->why = why;
    worker->stop_by_ns = world->boot_ns + (how == SIM_STOPS ? 0 : DRAIN_NS);
    drop_idle(worker);
}

static void drop_long_work(struct sim_worker *worker)
{
    struct lease *lease = worker->queue ? queue_first(worker->queue) : NULL;
    struct lease *next;

    for (; lease; lease = next) {
        next = lease->next;
        if (lease->msg.type != MSG_MEASURE)
            sim_worker_drop(worker, lease);
    }
}

static void look_at_clock(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    int64_t now = world->boot_ns;

    if (now >= liveness_ends_ns(&worker->liveness) &&
        worker->stop == SIM_RUNS) {
        sim_worker_stop(world, host, SIM_DRAINS, "the coordinator is silent");
        drop_long_work(worker);
    }
    if (worker->epoch && now - worker->liveness.heard_ns >= SILENCE_NS &&
        now - worker->renewed_ns >= SILENCE_NS) {
        sim_world_note(world, SIM_WORKER, (int)host, "renews its connection");
        forget_connection(world, host);
    }
}

static void beat(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    struct msg msg = { .type = MSG_BEAT };

    msg.beat.journal = (int64_t)world->hosts[host].n_journal;
    sim_worker_say(world, host, &msg);
    worker->beat_ns = world->boot_ns + worker->liveness.beat_every_ns;
}

static void speak(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    int64_t now = world->boot_ns;

    if (!worker->epoch)
        return;
    if (!worker->welcomed) {
        if (now >= worker->hello_ns)
            sim_worker_hello(world, host);
        return;
    }
    if (worker->bench == SIM_BENCH_READY && !worker->announced)
        sim_worker_announce(world, host);
    if (now >= worker->beat_ns)
        beat(world, host);
    if (now >= worker->resend_ns || sim_worker_next_saved(world, host) <= now)
        sim_worker_offer(world, host, false);
}

static bool is_over(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    int64_t last_ns = world->boot_ns + LAST_WORDS_NS;

    if (worker->stop == SIM_RUNS)
        return false;
    if (world->boot_ns >= worker->stop_by_ns)
        return true;
    if (worker->queue && queue_running(worker->queue) > 0)
        return false;
    if (world->hosts[host].n_journal == 0 || !worker->welcomed)
        return true;
    if (worker->stop_by_ns > last_ns)
        worker->stop_by_ns = last_ns;
    return false;
}

/* BYE is sent; then the worker closes its control socket, and the relay ends.
 */
static void say_bye(struct sim_world *world, size_t host)
{
    struct msg bye = { .type = MSG_BYE, .bye.text = of(world, host)->why };
    struct sim_line *line = &world->lines[host];
    int64_t stream = line->stream;

    bye.bye.journal = (int64_t)world->hosts[host].n_journal;
    sim_worker_say(world, host, &bye);
    sim_host_kill_worker(world, host, "ended");
    line->stream = stream; /* its last messages still arrive */
}

static void earlier(int64_t *at_ns, int64_t other_ns)
{
    if (other_ns < *at_ns)
        *at_ns = other_ns;
}

static int64_t next_turn_ns(struct sim_world *world, size_t host)
{
    const struct sim_worker *worker = of(world, host);
    int64_t at_ns = liveness_ends_ns(&worker->liveness);
    int64_t heard = worker->liveness.heard_ns, renewed = worker->renewed_ns;

    if (worker->stop != SIM_RUNS)
        at_ns = worker->stop_by_ns;
    if (worker->epoch)
        earlier(&at_ns, (heard > renewed ? heard : renewed) + SILENCE_NS);
    if (worker->bench == SIM_BENCH_OPENING)
        earlier(&at_ns, worker->bench_ns);
    if (worker->epoch && !worker->welcomed)
        earlier(&at_ns, worker->hello_ns);
    if (worker->welcomed) {
        earlier(&at_ns, worker->beat_ns);
        if (world->hosts[host].n_journal > 0)
            earlier(&at_ns, worker->resend_ns);
        earlier(&at_ns, sim_worker_next_saved(world, host));
    }
    earlier(&at_ns, sim_worker_next_end(worker));
    earlier(&at_ns, sim_vice_next(world, host));
    return at_ns <= world->boot_ns ? world->boot_ns + NS_PER_MS : at_ns;
}

static void wake(struct sim_world *world, const struct sim_event *event)
{
    struct sim_worker *worker = of(world, event->host);

    if (!worker || worker->pid != event->number ||
        worker->wake_ns != event->at_ns)
        return;
    worker->wake_ns = SIM_FOR_EVER;
    sim_worker_turn(world, event->host);
}

static void plan_turn(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    int64_t at_ns = next_turn_ns(world, host);

    if (worker->wake_ns <= at_ns && worker->wake_ns > world->boot_ns)
        return;
    worker->wake_ns = at_ns;
    sim_queue_add(&world->queue, (struct sim_event){ .at_ns = at_ns,
                                                     .fn = wake,
                                                     .host = host,
                                                     .number = worker->pid });
}

void sim_worker_turn(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);

    if (!worker || worker->frozen)
        return;
    sim_worker_receive(world, host);
    look_at_clock(world, host);
    if (worker->bench == SIM_BENCH_OPENING &&
        world->boot_ns >= worker->bench_ns)
        worker->bench = SIM_BENCH_READY;
    sim_vice_act(world, host);
    sim_worker_work(world, host);
    speak(world, host);
    if (is_over(world, host))
        say_bye(world, host);
    else
        plan_turn(world, host);
}

void sim_worker_thaw(struct sim_world *world, size_t host)
{
    struct sim_worker *worker = of(world, host);
    int64_t lost_ns = world->boot_ns - worker->frozen_ns - TURN_NS;

    worker->frozen = false;
    if (lost_ns > TURN_NS)
        worker->liveness.heard_ns += lost_ns;
    worker->wake_ns = SIM_FOR_EVER;
    /* the DEALER opens a new stream if the old one ended in between */
    sim_line_redial(world, host);
    sim_worker_turn(world, host);
}
