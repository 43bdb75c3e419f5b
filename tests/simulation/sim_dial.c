#include "tests/simulation/sim_dial.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/msg.h"
#include "coordinator/dial/dial_presence.h"
#include "coordinator/link/host_threads.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/sim_world.h"

static struct dial_presence *presence_of(struct sim_world *world, size_t host)
{
    return &world->life.presence[host];
}

bool sim_dial_has(const struct sim_world *world, size_t host)
{
    return world->scene.hosts[host].dial.back;
}

static void start(struct sim_world *world, const struct sim_event *event)
{
    struct sim_host *host = &world->hosts[event->host];

    if (host->worker || host->off)
        return;
    host->worker = sim_worker_new(world, event->host, ++host->pids);
    sim_world_note(world, SIM_WORKER, (int)event->host, "dials");
    sim_worker_dial(world, event->host);
}

void sim_dial_start_later(struct sim_world *world, size_t host, int most_ms)
{
    int64_t in_ns = sim_between(world, 1, most_ms) * NS_PER_MS;

    sim_queue_add(&world->queue,
                  (struct sim_event){ .at_ns = world->boot_ns + in_ns,
                                      .fn = start,
                                      .host = host });
}

void sim_dial_listen(struct sim_world *world, size_t host)
{
    *presence_of(world, host) = (struct dial_presence){ .invited_ns = 0 };
    dial_presence_tell(presence_of(world, host), DIAL_PRESENCE_WAITS);
    sim_line_open(world, host);
    sim_line_redial(world, host);
}

bool sim_dial_hear(struct sim_world *world, size_t host, const struct msg *msg,
                   int64_t stream, bool *invites)
{
    const struct dial_presence_message heard = {
        .type = msg->type,
        .is_of_run = msg->epoch == world->life.epoch,
        .hello = msg->type == MSG_HELLO ? &msg->hello : NULL,
        .connection = (uint64_t)stream,
        .at_ns = world->boot_ns,
    };
    struct dial_presence_answer answer =
        dial_presence_hear(presence_of(world, host), &heard);

    *invites = answer.invites;
    return answer.takes;
}

static int tell(struct sim_world *world, size_t host,
                enum host_threads_event event, int code, const char *text,
                struct host_thread_news *out)
{
    *out = (struct host_thread_news){ host, event, code, "" };
    snprintf(out->text, sizeof(out->text), "%s", text);
    sim_trace_add(
        &world->trace,
        (struct sim_record){ .at_ns = world->boot_ns,
                             .kind = SIM_NEWS,
                             .host = (int)host,
                             .type = -1,
                             .number = event,
                             .text = sim_name(&world->trace.names, text) });
    return 1;
}

int sim_dial_news(struct sim_world *world, size_t host,
                  struct host_thread_news *out)
{
    switch (dial_presence_next(presence_of(world, host))) {
    case DIAL_PRESENCE_BROKEN:
        return tell(world, host, HOST_THREADS_BROKEN, ERR_NETWORK,
                    "its worker has left", out);
    case DIAL_PRESENCE_WAITS:
        return tell(world, host, HOST_THREADS_WAITING, 0,
                    "its worker has not dialled back", out);
    case DIAL_PRESENCE_CAME:
        return tell(world, host, HOST_THREADS_ATTACHED, 0, "it has come", out);
    case DIAL_PRESENCE_ENDED: /* these are of Slurm */
    case DIAL_PRESENCE_LOST:
    case DIAL_PRESENCE_STARTED:
    case DIAL_PRESENCE_RIVAL: /* a message alone */
    case DIAL_PRESENCE_NOTHING:
    case DIAL_PRESENCE_NEWS:
        return 0;
    }
    return 0;
}

void sim_dial_reconnect(struct sim_world *world, size_t host)
{
    (void)dial_presence_leave(presence_of(world, host));
}

void sim_dial_dismiss(struct sim_world *world, size_t host)
{
    dial_presence_dismiss(presence_of(world, host), false);
}
