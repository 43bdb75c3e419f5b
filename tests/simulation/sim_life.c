#include "tests/simulation/sim_life.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/store/store.h"
#include "tests/simulation/sim_dial.h"
#include "tests/simulation/sim_host_thread.h"
#include "tests/simulation/sim_rent.h"
#include "tests/simulation/sim_world.h"

#define SPINS_MAX 1000000 /* calls of seams while time stands still */
#define TURN_NS 50000     /* of a turn that does not wait */

void sim_life_seam(struct sim_world *world)
{
    struct sim_life *life = &world->life;

    if (life->spin_ns != world->boot_ns)
        life->spins = 0;
    life->spin_ns = world->boot_ns;
    if (++life->spins > SPINS_MAX)
        longjmp(life->out, SIM_OUT_SPINS);
    if (world->boot_ns > life->until_ns ||
        world->boot_ns > life->began_ns + SIM_ALL_NS)
        longjmp(life->out, SIM_OUT_STUCK);
    if (life->kill_in > 0 && --life->kill_in == 0)
        longjmp(life->out, SIM_OUT_KILLED);
}

/* ---- clock ---- */

static int64_t boot_ns(void *self)
{
    return ((struct sim_world *)self)->boot_ns;
}

static int64_t utc_ns(void *self)
{
    struct sim_world *world = self;

    return SIM_UTC_NS + world->boot_ns + world->utc_off_ns;
}

/* The simulation does not say how long a turn computes. */
static int64_t steady_utc_ns(void *self)
{
    const struct sim_world *world = self;

    return SIM_UTC_NS + world->boot_ns + world->life.utc_off_ns;
}

static int64_t cpu_ns(void *self)
{
    (void)self;
    return 0;
}

/* ---- link ---- */

/* The epoch is known only now; it is later than those of earlier lives. */
static void note_epoch(struct sim_world *world)
{
    struct sim_trace *trace = &world->trace;
    size_t i = trace->n;

    while (i > 0 && trace->records[i - 1].kind != SIM_BEGIN)
        i--;
    if (i > 0)
        trace->records[i - 1].epoch = world->life.epoch;
}

static int link_open(void *self, const struct hosts *hosts,
                     const struct sweep_link_options *options, struct err *err)
{
    struct sim_world *world = self;

    (void)err;
    sim_life_seam(world);
    world->life.epoch = options->epoch;
    world->life.owner = *options->owner;
    note_epoch(world);
    world->life.linger_ns = options->linger_s * NS_PER_S;
    for (size_t i = 0; i < hosts->n; i++)
        if (sim_dial_has(world, i))
            sim_dial_listen(world, i);
        else if (sim_rent_has(world, i))
            sim_rent_park(world, i);
        else
            sim_host_thread_start(world, i);
    return 0;
}

static void link_close(void *self)
{
    struct sim_world *world = self;

    for (size_t i = 0; i < world->scene.n_hosts; i++)
        sim_host_thread_kill(world, i);
}

static bool has_come(const struct sim_life *life)
{
    return life->at_mail < life->n_mail || life->n_news > 0;
}

static void link_wait(void *self, struct pollfd *fds, size_t n, long ms)
{
    struct sim_world *world = self;
    struct sim_life *life = &world->life;
    int64_t until_ns = world->boot_ns + ms * NS_PER_MS, ns = life->sleep_ns;

    sim_life_seam(world);
    if (n > 0)
        life->signals = fds[0].fd;
    if (ns > 0) {
        life->sleep_ns = 0;
        sim_world_run(world, world->boot_ns + ns);
        world->late_ns += ns;
        sim_trace_add(&world->trace,
                      (struct sim_record){ .at_ns = world->boot_ns,
                                           .kind = SIM_SLEEP,
                                           .host = SIM_NOBODY,
                                           .type = -1,
                                           .number = ns });
        return;
    }
    while (!has_come(life) && sim_world_step(world, until_ns))
        continue;
    if (!has_come(life) && until_ns > world->boot_ns)
        sim_world_run(world, until_ns);
    else
        sim_world_run(world, world->boot_ns + TURN_NS);
}

/* A new result or a new attempt is progress.  Work that is only sent again or
 * refused is none. */
static void note_progress(struct sim_world *world, int name)
{
    struct sim_life *life = &world->life;
    size_t n = (size_t)name + 1;

    if (n > life->n_known) {
        life->known = mem_grow(life->known, 2 * n, 1);
        memset(life->known + life->n_known, 0, 2 * n - life->n_known);
        life->n_known = 2 * n;
    }
    if (!life->known[name] && world->boot_ns + SIM_STUCK_NS > life->until_ns)
        life->until_ns = world->boot_ns + SIM_STUCK_NS;
    life->known[name] = 1;
}

static void note_attempt(struct sim_world *world, const struct msg *msg)
{
    char text[MSG_IDENTITY_BYTES];

    if (msg->type != MSG_BUILD && msg->type != MSG_MEASURE &&
        msg->type != MSG_TOOL)
        return;
    msg_identity_text(&msg_work(msg)->id, text);
    note_progress(world, sim_name(&world->trace.names, text));
}

static int link_send(void *self, size_t host, const struct msg *msg,
                     struct err *err)
{
    struct sim_world *world = self;
    bool known = world->lines[host].router != 0;
    struct buf bytes;
    int rc;

    sim_life_seam(world);
    sim_trace_msg(&world->trace, SIM_SENT, world->boot_ns, (int)host, msg,
                  known);
    if (!known)
        return err_set(err, ERR_NETWORK, "no connection");
    note_attempt(world, msg);
    buf_init(&bytes, MSG_BYTES_MAX);
    rc = msg_encode(msg, &bytes, err);
    if (rc == 0)
        sim_line_send(world, host, SIM_TO_WORKER, bytes.bytes, bytes.len);
    buf_fini(&bytes);
    if (rc == 0)
        sim_life_seam(world);
    return rc;
}

/* Is it for the reactor?  What is in the invitation is not simulated. */
static bool is_let_in(struct sim_world *world, size_t host,
                      const struct msg *msg, int64_t stream)
{
    const struct msg invite = { .type = MSG_INVITE,
                                .epoch = world->life.epoch,
                                .invite.text = "invitation" };
    struct err err;
    bool invites, takes;

    if (!sim_dial_has(world, host))
        return true;
    takes = sim_dial_hear(world, host, msg, stream, &invites);
    if (invites)
        (void)link_send(world, host, &invite, &err);
    return takes;
}

static int link_recv(void *self, size_t *host, struct msg *msg, struct err *err)
{
    struct sim_world *world = self;
    struct sim_life *life = &world->life;

    sim_life_seam(world);
    while (life->at_mail < life->n_mail) {
        struct sim_mail mail = life->mail[life->at_mail++];
        struct sim_line *line = &world->lines[mail.host];
        int64_t stream = mail.parcel->stream;
        int rc;

        *host = mail.host;
        if (stream == line->stream)
            line->router = line->stream;
        rc = msg_decode(mail.parcel->bytes, mail.parcel->len, msg, err);
        free(mail.parcel);
        if (rc < 0)
            return rc;
        if (is_let_in(world, mail.host, msg, stream)) {
            sim_trace_msg(&world->trace, SIM_TAKEN, world->boot_ns,
                          (int)mail.host, msg, 0);
            return 1;
        }
        sim_trace_msg(&world->trace, SIM_GONE, world->boot_ns, (int)mail.host,
                      msg, 0);
        msg_fini(msg);
    }
    return 0;
}

static int link_news(void *self, size_t host, struct host_thread_news *out)
{
    struct sim_life *life = &((struct sim_world *)self)->life;

    if (sim_dial_has(self, host))
        return sim_dial_news(self, host, out);
    for (size_t i = 0; i < life->n_news; i++)
        if (life->news[i].host == host) {
            *out = life->news[i];
            memmove(&life->news[i], &life->news[i + 1],
                    (--life->n_news - i) * sizeof(*life->news));
            return 1;
        }
    return 0;
}

static void link_reconnect(void *self, size_t host)
{
    sim_world_note(self, SIM_RECONNECT, (int)host, "");
    if (sim_dial_has(self, host))
        sim_dial_reconnect(self, host);
    else
        sim_host_thread_again(self, host);
}

static void link_rented(void *self, size_t host, const struct host *place)
{
    (void)place;
    sim_rent_connect(self, host);
}

static void link_park(void *self, size_t host)
{
    sim_rent_park(self, host);
}

static void link_dismiss(void *self, size_t host)
{
    sim_world_note(self, SIM_DISMISS, (int)host, "");
    if (sim_dial_has(self, host))
        sim_dial_dismiss(self, host);
    else
        sim_host_thread_dismiss(self, host);
}

/* ---- disk ---- */

/* One COMMIT alone fails. */
static bool fails_now(struct sim_life *life)
{
    return life->fails_in > 0 && --life->fails_in == 0;
}

static int commit(void *self, struct store *store, struct err *err)
{
    struct sim_world *world = self;
    struct sim_life *life = &world->life;
    int64_t began_ns = world->boot_ns;
    int rc;

    sim_life_seam(world);
    if (life->commit_ns > 0)
        sim_world_run(world, world->boot_ns + life->commit_ns);
    world->late_ns += life->commit_ns;
    rc = life->disk_full || fails_now(life)
             ? err_set(err, ERR_STORE, "the disk is full")
             : store_commit(store, err);
    sim_trace_add(&world->trace,
                  (struct sim_record){ .at_ns = world->boot_ns,
                                       .kind = SIM_COMMIT,
                                       .host = SIM_NOBODY,
                                       .type = -1,
                                       .number = rc == 0,
                                       .limit_ms = (world->boot_ns - began_ns) /
                                                   NS_PER_MS });
    sim_life_seam(world);
    return rc;
}

struct sweep_io sim_life_io(struct sim_world *world)
{
    return (struct sweep_io){
        .clock = { world, boot_ns, utc_ns, steady_utc_ns, cpu_ns },
        .link = { .self = world,
                  .open = link_open,
                  .close = link_close,
                  .wait = link_wait,
                  .recv = link_recv,
                  .send = link_send,
                  .news = link_news,
                  .reconnect = link_reconnect,
                  .rented = link_rented,
                  .park = link_park,
                  .dismiss = link_dismiss },
        .disk = { .self = world, .commit = commit },
    };
}

/* ---- from the world ---- */

void sim_life_hear(struct sim_world *world, size_t host,
                   struct sim_parcel *parcel)
{
    struct sim_life *life = &world->life;

    if (!life->alive) {
        sim_world_note_bytes(world, SIM_GONE, host, parcel);
        free(parcel);
        return;
    }
    if (life->at_mail == life->n_mail)
        life->at_mail = life->n_mail = 0;
    life->mail = mem_grow(life->mail, life->n_mail + 1, sizeof(*life->mail));
    life->mail[life->n_mail++] = (struct sim_mail){ host, parcel };
}

void sim_life_news(struct sim_world *world, size_t host,
                   enum host_threads_event event, int code, const char *text)
{
    struct sim_life *life = &world->life;
    struct host_thread_news news = { .host = host,
                                     .event = event,
                                     .code = code };

    if (!life->alive)
        return;
    memcpy(news.text, text, strlen(text) + 1);
    life->news = mem_grow(life->news, life->n_news + 1, sizeof(*life->news));
    life->news[life->n_news++] = news;
    sim_trace_add(
        &world->trace,
        (struct sim_record){ .at_ns = world->boot_ns,
                             .kind = SIM_NEWS,
                             .host = (int)host,
                             .type = -1,
                             .number = event,
                             .text = sim_name(&world->trace.names, text) });
}

void sim_life_over(struct sim_world *world)
{
    struct sim_life *life = &world->life;

    life->alive = false;
    for (; life->at_mail < life->n_mail; life->at_mail++)
        free(life->mail[life->at_mail].parcel);
    life->at_mail = life->n_mail = 0;
    life->n_news = 0;
    life->sleep_ns = 0;
    life->kill_in = life->fails_in = 0;
}

void sim_life_fini(struct sim_life *life)
{
    for (; life->at_mail < life->n_mail; life->at_mail++)
        free(life->mail[life->at_mail].parcel);
    free(life->mail);
    free(life->known);
    free(life->news);
}
