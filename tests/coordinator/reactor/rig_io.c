/* The world of a rig: its clock, its network, its disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "common/clock.h"
#include "common/owner.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static int64_t boot_ns(void *self)
{
    return ((struct rig *)self)->now_ns;
}

static int64_t utc_ns(void *self)
{
    return ((struct rig *)self)->now_ns;
}

static int64_t cpu_ns(void *self)
{
    return ((struct rig *)self)->cpu_ns;
}

static int link_open(void *self, const struct hosts *hosts,
                     const struct sweep_link_options *options, struct err *err)
{
    struct rig *rig = self;

    (void)hosts;
    (void)err;
    rig->epoch = options->epoch;
    rig->rents = options->rents;
    snprintf(rig->command, sizeof(rig->command), "%s", options->owner->command);
    return 0;
}

static void link_close(void *self)
{
    ((struct rig *)self)->closed++;
}

static void link_wait(void *self, struct pollfd *fds, size_t n, long ms)
{
    struct rig *rig = self;

    for (size_t i = 1; i < n; i++)
        assert_int_equal(fds[i].fd, -1); /* no pass waits for one */
    rig->now_ns += ms * NS_PER_MS;
    rig->turns++;
    if (rig->turn)
        rig->turn(rig);
}

static int link_recv(void *self, size_t *host, struct msg *msg, struct err *err)
{
    struct rig *rig = self;

    (void)err;
    if (rig->n_taken == rig->n_queue)
        return 0;
    *host = rig->from[rig->n_taken];
    *msg = rig->queue[rig->n_taken++];
    msg->epoch = rig->epoch;
    return 1;
}

void rig_queue(struct rig *rig, size_t host, struct msg msg)
{
    assert_in_range(rig->n_queue, 0, RIG_QUEUE - 1);
    rig->from[rig->n_queue] = host;
    rig->queue[rig->n_queue++] = msg;
}

static void put_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

/* What a message to a worker names besides the work it is about. */
static void put_others(struct rig_sent *sent, const struct msg *msg)
{
    switch (msg->type) {
    case MSG_CANCEL:
        sent->lease = msg->cancel.lease;
        return;
    case MSG_STOP:
        put_text(sent->what, sizeof(sent->what), msg->stop.what);
        return;
    case MSG_WELCOME:
        put_text(sent->what, sizeof(sent->what), msg->welcome.gpus);
        return;
    case MSG_BUNDLE:
        put_text(sent->hash, sizeof(sent->hash), msg->bundle.hash);
        return;
    case MSG_FETCH:
        put_text(sent->hash, sizeof(sent->hash), msg->fetch.hash);
        return;
    case MSG_ARTIFACT:
        put_text(sent->hash, sizeof(sent->hash), msg->artifact.hash);
        return;
    case MSG_MISSING:
        put_text(sent->hash, sizeof(sent->hash), msg->missing.hash);
        return;
    default:
        return;
    }
}

static void put_work(struct rig_sent *sent, const struct msg *msg)
{
    const struct msg_work *work = msg_work(msg);
    const struct msg_launch *launch = msg_launch(msg);

    if (!work)
        return;
    sent->lease = work->lease;
    sent->attempt = work->id.attempt;
    sent->limit_ms = launch ? launch->limit_ms : msg->build.limit_ms;
    put_text(sent->key, sizeof(sent->key), work->key);
    put_text(sent->artifact, sizeof(sent->artifact),
             launch ? launch->artifact : "");
    sent->is_recorded = launch && launch->request &&
                        strstr(launch->request, "speed_up") &&
                        strstr(launch->request, "seed ");
    put_text(sent->config, sizeof(sent->config), work->id.config);
    put_text(sent->shape, sizeof(sent->shape), work->id.shape);
    put_text(sent->purpose, sizeof(sent->purpose), work->id.purpose);
    put_text(sent->gpu, sizeof(sent->gpu), launch ? launch->gpu : "");
}

static int link_send(void *self, size_t host, const struct msg *msg,
                     struct err *err)
{
    struct rig *rig = self;
    struct rig_sent *sent;

    if (rig->is_deaf[host])
        return err_set(err, ERR_NETWORK, "it is deaf");
    assert_int_equal(msg->epoch, rig->epoch ? rig->epoch : RIG_EPOCH);
    assert_in_range(rig->n_sent, 0,
                    sizeof(rig->sent) / sizeof(rig->sent[0]) - 1);
    sent = &rig->sent[rig->n_sent++];
    *sent = (struct rig_sent){ .host = host, .type = msg->type };
    put_work(sent, msg);
    put_others(sent, msg);
    return 0;
}

static int link_news(void *self, size_t host, struct host_thread_news *out)
{
    struct rig *rig = self;

    assert_in_range(host, 0, rig->hosts.n - 1);
    if (!rig->has_news || rig->news.host != host)
        return 0;
    *out = rig->news;
    rig->has_news = false;
    return 1;
}

static void link_reconnect(void *self, size_t host)
{
    struct rig *rig = self;

    rig->reconnected[host]++;
    rig->reconnected_ns = rig->now_ns;
}

static void link_park(void *self, size_t host)
{
    ((struct rig *)self)->sweep.fleet.hosts[host].conn.is_parked = true;
}

static void link_rented(void *self, size_t host, const struct host *place)
{
    (void)self;
    (void)host;
    (void)place;
}

static void link_dismiss(void *self, size_t host)
{
    ((struct rig *)self)->dismissed[host]++;
}

static int disk_commit(void *self, struct store *store, struct err *err)
{
    struct rig *rig = self;

    if (rig->disk_full)
        return err_set(err, ERR_STORE, "the disk is full");
    rig->commits++;
    return store_commit(store, err);
}

struct sweep_io rig_io(struct rig *rig)
{
    return (struct sweep_io){
        .clock = { rig, boot_ns, utc_ns, utc_ns, cpu_ns },
        .link = { .self = rig,
                  .open = link_open,
                  .close = link_close,
                  .wait = link_wait,
                  .recv = link_recv,
                  .send = link_send,
                  .news = link_news,
                  .reconnect = link_reconnect,
                  .park = link_park,
                  .rented = link_rented,
                  .dismiss = link_dismiss },
        .disk = { rig, disk_commit },
    };
}
