#include "tests/simulation/sim_line.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/msg.h"
#include "tests/simulation/sim_host_thread.h"
#include "tests/simulation/sim_life.h"
#include "tests/simulation/sim_world.h"

/* docs/protocol.md section 2: heartbeats every 5 s with a timeout of 15 s. */
#define BEATS_MISSED_NS (15 * NS_PER_S)
#define BEATS_SLACK_NS (5 * NS_PER_S)
/* With tcp_retries2 = 15, unacknowledged bytes break a connection after 924 s.
 */
#define TCP_GIVES_UP_NS (924 * NS_PER_S)
#define BREAKS_PERCENT 10

void sim_parcels_add(struct sim_parcels *parcels, struct sim_parcel *parcel)
{
    parcel->next = NULL;
    if (parcels->last)
        parcels->last->next = parcel;
    else
        parcels->first = parcel;
    parcels->last = parcel;
}

struct sim_parcel *sim_parcels_take(struct sim_parcels *parcels)
{
    struct sim_parcel *parcel = parcels->first;

    if (!parcel)
        return NULL;
    parcels->first = parcel->next;
    if (!parcels->first)
        parcels->last = NULL;
    return parcel;
}

void sim_parcels_fini(struct sim_parcels *parcels)
{
    struct sim_parcel *parcel;

    while ((parcel = sim_parcels_take(parcels)))
        free(parcel);
}

/* ---- messages ---- */

static void arrive(struct sim_world *world, const struct sim_event *event)
{
    struct sim_line *line = &world->lines[event->host];
    struct sim_parcel *parcel = event->data;
    enum sim_way way = (enum sim_way)event->more;

    if (line->stream == 0 || parcel->stream != line->stream) {
        sim_world_note_bytes(world, SIM_GONE, event->host, parcel);
        free(parcel);
    } else if (line->stalled[way]) {
        sim_parcels_add(&line->held[way], parcel);
    } else if (way == SIM_TO_WORKER) {
        sim_host_hear(world, event->host, parcel);
    } else {
        sim_life_hear(world, event->host, parcel);
    }
}

static void post(struct sim_world *world, size_t host, enum sim_way way,
                 struct sim_parcel *parcel)
{
    struct sim_line *line = &world->lines[host];
    int64_t at_ns = world->boot_ns + line->latency_ns +
                    sim_between(world, 0, line->latency_ns / 4);

    if (line->stalled[way]) {
        sim_parcels_add(&line->held[way], parcel);
        return;
    }
    if (at_ns < line->last_ns[way]) /* messages stay in order */
        at_ns = line->last_ns[way];
    line->last_ns[way] = at_ns;
    sim_queue_add(&world->queue, (struct sim_event){ .at_ns = at_ns,
                                                     .fn = arrive,
                                                     .host = host,
                                                     .more = way,
                                                     .data = parcel });
}

/* TCP had accepted the message, and loses it with all that is on its way. */
static bool breaks(struct sim_world *world, const struct sim_line *line)
{
    if (!line->direct || line->stream == 0 || world->scene.breaks == 0 ||
        !sim_chance(world, BREAKS_PERCENT))
        return false;
    world->scene.breaks--;
    return true;
}

/* What its sender may say again at any time. */
static bool may_repeat(const void *bytes, size_t len)
{
    static const bool may[MSG_TYPES] = {
        [MSG_BUILT] = true,    [MSG_MEASURED] = true, [MSG_RAN] = true,
        [MSG_STARTED] = true,  [MSG_REFUSE] = true,   [MSG_BEAT] = true,
        [MSG_ARTIFACT] = true, [MSG_MISSING] = true,  [MSG_WANT] = true,
        [MSG_FETCH] = true,    [MSG_ACK] = true,
    };
    struct msg msg;
    struct err err;
    bool is = msg_decode(bytes, len, &msg, &err) == 0;

    if (is) {
        is = may[msg.type];
        msg_fini(&msg);
    }
    return is;
}

static void post_again(struct sim_world *world, size_t host, enum sim_way way,
                       const void *bytes, size_t len)
{
    struct sim_line *line = &world->lines[host];
    struct sim_parcel *parcel = mem_new(1, sizeof(*parcel) + len);

    memcpy(parcel->bytes, bytes, len);
    parcel->len = len;
    parcel->stream = way == SIM_TO_WORKER ? line->router : line->stream;
    post(world, host, way, parcel);
}

void sim_line_send(struct sim_world *world, size_t host, enum sim_way way,
                   const void *bytes, size_t len)
{
    struct sim_line *line = &world->lines[host];
    struct sim_parcel *parcel = mem_new(1, sizeof(*parcel) + len);

    memcpy(parcel->bytes, bytes, len);
    parcel->len = len;
    parcel->stream = way == SIM_TO_WORKER ? line->router : line->stream;
    if (way == SIM_TO_COORDINATOR && line->stream == 0)
        sim_parcels_add(&line->pipe, parcel);
    else
        post(world, host, way, parcel);
    if (line->stream != 0 && world->scene.doubles > 0 &&
        sim_chance(world, world->scene.doubles) && may_repeat(bytes, len))
        post_again(world, host, way, bytes, len);
    if (breaks(world, line))
        sim_line_reset(world, host);
}

/* ---- streams ---- */

static void router_learns(struct sim_world *world,
                          const struct sim_event *event)
{
    struct sim_line *line = &world->lines[event->host];

    if (line->router == event->number)
        line->router = 0;
}

static void unstall(struct sim_line *line)
{
    line->stall++;
    for (int way = 0; way < SIM_WAYS; way++) {
        line->stalled[way] = false;
        line->last_ns[way] = 0;
        sim_parcels_fini(&line->held[way]);
    }
}

/* One side has ended the stream; the ROUTER hears of it soon. */
static void end_stream(struct sim_world *world, size_t host)
{
    struct sim_line *line = &world->lines[host];

    if (line->direct && !line->down)
        unstall(line);
    if (line->stream == 0)
        return;
    sim_queue_add(&world->queue, (struct sim_event){ .at_ns = world->boot_ns +
                                                              line->latency_ns,
                                                     .fn = router_learns,
                                                     .host = host,
                                                     .number = line->stream });
    line->stream = 0;
}

static void establish(struct sim_world *world, const struct sim_event *event)
{
    struct sim_line *line = &world->lines[event->host];
    struct sim_parcel *parcel;

    if (line->stream || !line->dialled || line->tunnel == 0 ||
        line->tunnel != event->number || line->stalled[SIM_TO_WORKER] ||
        line->stalled[SIM_TO_COORDINATOR] || (line->direct && line->down))
        return;
    line->stream = ++line->streams;
    while ((parcel = sim_parcels_take(&line->pipe))) {
        parcel->stream = line->stream;
        post(world, event->host, SIM_TO_COORDINATOR, parcel);
    }
}

/* The relay sends OPEN; then comes the handshake of CURVE. */
static void begin_stream(struct sim_world *world, size_t host)
{
    struct sim_line *line = &world->lines[host];

    if (line->tunnel && line->dialled)
        sim_queue_add(
            &world->queue,
            (struct sim_event){ .at_ns = world->boot_ns + 3 * line->latency_ns,
                                .fn = establish,
                                .host = host,
                                .number = line->tunnel });
}

void sim_line_dial(struct sim_world *world, size_t host)
{
    struct sim_line *line = &world->lines[host];

    end_stream(world, host);
    sim_parcels_fini(&line->pipe);
    line->dialled = true;
    begin_stream(world, host);
}

void sim_line_redial(struct sim_world *world, size_t host)
{
    if (world->lines[host].stream == 0)
        begin_stream(world, host);
}

void sim_line_hang_up(struct sim_world *world, size_t host)
{
    struct sim_line *line = &world->lines[host];

    end_stream(world, host);
    sim_parcels_fini(&line->pipe);
    line->dialled = false;
}

/* ---- tunnels ---- */

void sim_line_open(struct sim_world *world, size_t host)
{
    struct sim_line *line = &world->lines[host];

    sim_line_cut(world, host);
    line->tunnel = ++line->tunnels;
}

void sim_line_cut(struct sim_world *world, size_t host)
{
    struct sim_line *line = &world->lines[host];

    end_stream(world, host);
    line->tunnel = 0;
    unstall(line);
}

void sim_line_reset(struct sim_world *world, size_t host)
{
    end_stream(world, host);
    begin_stream(world, host);
}

void sim_line_starve(struct sim_world *world, size_t host)
{
    end_stream(world, host);
}

static void miss_beats(struct sim_world *world, const struct sim_event *event)
{
    if (world->lines[event->host].stall != event->number)
        return;
    end_stream(world, event->host);
    if (world->lines[event->host].direct)
        begin_stream(world, event->host);
}

static void heal(struct sim_world *world, const struct sim_event *event)
{
    struct sim_line *line = &world->lines[event->host];
    struct sim_parcel *parcel;

    if (line->stall != event->number)
        return;
    line->stall++;
    sim_world_note(world, SIM_HEAL, (int)event->host, "stall");
    for (int way = 0; way < SIM_WAYS; way++) {
        line->stalled[way] = false;
        while ((parcel = sim_parcels_take(&line->held[way])))
            post(world, event->host, (enum sim_way)way, parcel);
    }
    if (line->stream == 0)
        begin_stream(world, event->host);
}

static void tcp_gives_up(struct sim_world *world, const struct sim_event *event)
{
    if (world->lines[event->host].stall == event->number)
        sim_host_thread_broken(world, event->host, "connection timed out");
}

void sim_line_stall(struct sim_world *world, size_t host, bool to_worker,
                    bool to_coordinator, int64_t until_ns)
{
    struct sim_line *line = &world->lines[host];
    int64_t now = world->boot_ns;
    struct sim_event event = { .host = host };

    if (line->tunnel == 0 || (line->direct && !line->down && line->stream == 0))
        return; /* there is no connection that could stall */
    line->stalled[SIM_TO_WORKER] = to_worker;
    line->stalled[SIM_TO_COORDINATOR] = to_coordinator;
    event.number = ++line->stall;
    event.at_ns = now + BEATS_MISSED_NS + sim_between(world, 0, BEATS_SLACK_NS);
    event.fn = miss_beats;
    sim_queue_add(&world->queue, event);
    event.at_ns = until_ns;
    event.fn = heal;
    if (until_ns == SIM_FOR_EVER || until_ns > now + TCP_GIVES_UP_NS) {
        event.at_ns = now + TCP_GIVES_UP_NS;
        event.fn = tcp_gives_up;
    }
    sim_queue_add(&world->queue, event);
}

void sim_line_fini(struct sim_line *line)
{
    for (int way = 0; way < SIM_WAYS; way++)
        sim_parcels_fini(&line->held[way]);
    sim_parcels_fini(&line->pipe);
}
