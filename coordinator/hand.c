#include "coordinator/hand.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/frame.h"
#include "common/mem.h"
#include "common/pump.h"
#include "coordinator/deploy.h"
#include "coordinator/hosts.h"
#include "coordinator/remote.h"
#include "coordinator/stream.h"

#define MAGIC_NS (20 * NS_PER_S) /* login shells can be slow */
#define RETRY_FIRST_MS 500
#define RETRY_MAX_MS 30000
#define LINGER_MS 2000 /* for the last news */
#define READ_BYTES 65536
#define DEPLOY_NS (120 * NS_PER_S) /* 4 MB over the slowest of links */
#define TURN_MS 1000
#define FLUSH_TURNS 50 /* a second in all */
#define FLUSH_TURN_MS 20
#define JOIN_TURN_MS 50
#define SAID_BYTES 400 /* shown of what the far side wrote */

struct hand {
    pthread_t thread;
    void *pipe; /* the starter's end; the thread never looks at it */
    bool ended; /* the starter's: CREW_ENDED was heard */

    /* Set before the start, the thread's after it. */
    void *zctx;
    char name[32];
    struct hand_task task;
    char socket_path[PUMP_PATH_MAX + 1];
    struct remote_options remote_options;
    void *news; /* the thread's end of the pipe */
    struct remote *remote;
    struct stream *stream;
    struct pump *pump;
    struct buf nothing; /* empty */
    bool was_attached;
};

/* ---- the thread ---- */

/* The text without the host's name in front: whoever shows it names it. */
static void tell(struct hand *hand, enum crew_event event, int code,
                 const char *text)
{
    const char *name = hand->task.host->name;
    size_t len = strlen(name);
    struct crew_news news = { .host = hand->task.index,
                              .event = event,
                              .code = code };

    if (strncmp(text, name, len) == 0 && strncmp(text + len, ": ", 2) == 0)
        text += len + 2;
    snprintf(news.text, sizeof(news.text), "%s", text);
    zmq_send(hand->news, &news, sizeof(news), 0);
}

/* The only word to a hand is STOP. */
static bool told_to_stop(struct hand *hand, long wait_ms)
{
    zmq_pollitem_t item = { .socket = hand->news, .events = ZMQ_POLLIN };

    return zmq_poll(&item, 1, wait_ms) > 0;
}

/* What a turn waits for: STOP, the stream and the pump's sockets. */
struct watch {
    zmq_pollitem_t items[1 + STREAM_FDS + PUMP_FDS_MAX];
    int n;
    bool ready; /* the stream has something already */
};

static void add_fd(struct watch *watch, const struct pollfd *fd)
{
    watch->items[watch->n++] = (zmq_pollitem_t){
        .fd = fd->fd,
        .events = (short)((fd->events & POLLIN ? ZMQ_POLLIN : 0) |
                          (fd->events & POLLOUT ? ZMQ_POLLOUT : 0)),
    };
}

static void watch_stream(struct hand *hand, struct watch *watch, bool want_read,
                         bool want_write)
{
    struct pollfd fds[STREAM_FDS];

    watch->items[0] =
        (zmq_pollitem_t){ .socket = hand->news, .events = ZMQ_POLLIN };
    watch->n = 1;
    watch->ready = stream_poll(hand->stream, want_read, want_write, fds);
    for (int i = 0; i < STREAM_FDS; i++)
        if (fds[i].fd >= 0)
            add_fd(watch, &fds[i]);
}

/* Wait for the stream at most until 'deadline'.  False when that has passed,
 * or on STOP. */
static bool wait_stream(struct hand *hand, bool to_write, int64_t deadline)
{
    int64_t left = deadline - clock_boot_ns();
    struct watch watch;

    if (left <= 0)
        return false;
    watch_stream(hand, &watch, !to_write, to_write);
    if (!watch.ready)
        zmq_poll(watch.items, watch.n, (long)(left / NS_PER_MS) + 1);
    return !told_to_stop(hand, 0);
}

/* An error that ends in what the far side said, on stderr or instead of the
 * magic line. */
static int far_side_said(struct hand *hand, int code, const char *what,
                         const struct buf *noise, struct err *err)
{
    char said[SAID_BYTES];

    stream_said(hand->stream, said, sizeof(said));
    if (!said[0])
        snprintf(said, sizeof(said), "%s", buf_text(noise));
    for (size_t len = strlen(said); len > 0 && said[len - 1] == '\n'; len--)
        said[len - 1] = '\0';
    return err_set(err, code, "%s: %s%s%s", hand->task.host->name, what,
                   said[0] ? ": " : "", said);
}

/* Read until the relay has said its magic line; what follows it belongs to
 * the frames. */
static int await_magic(struct hand *hand, struct buf *in, struct err *err)
{
    int64_t deadline = clock_boot_ns() + MAGIC_NS;
    char block[4096], version[FRAME_VERSION_BYTES];

    for (;;) {
        size_t frames = 0, n = 0;
        int rc = stream_read(hand->stream, block, sizeof(block), &n, err);

        buf_add(in, block, n);
        if (rc < 0)
            return rc;
        rc = rc == STREAM_END && n == 0
                 ? far_side_said(hand, ERR_NETWORK,
                                 "the worker could not be started", in, err)
                 : frame_find_magic(buf_text(in), in->len, &frames, version,
                                    err);
        if (rc < 0)
            return rc;
        if (rc > 0) {
            buf_take(in, frames);
            return 0;
        }
        if (n == 0 && !wait_stream(hand, false, deadline))
            return far_side_said(hand, ERR_NETWORK,
                                 "no word from the worker in time", in, err);
    }
}

static int send_invitation(struct hand *hand, struct err *err)
{
    int64_t deadline = clock_boot_ns() + MAGIC_NS;
    char text[INVITE_BYTES_MAX];
    size_t len = invite_write(&hand->task.invite, text), sent = 0, n;
    int rc = 0;

    while (rc == 0 && sent < len) {
        rc = stream_write(hand->stream, text + sent, len - sent, &n, err);
        if (rc == 0 && n == 0 && !wait_stream(hand, true, deadline))
            rc = err_set(err, ERR_NETWORK, "%s: the relay does not read",
                         hand->task.host->name);
        sent += rc == 0 ? n : 0;
    }
    sodium_memzero(text, sizeof(text));
    return rc;
}

/* Move what came from the relay into the pump, and back. */
static int move(struct hand *hand, struct err *err)
{
    char block[READ_BYTES];
    const void *out;
    size_t room, len, n;
    int rc;

    while ((room = pump_room(hand->pump)) > 0) {
        rc = stream_read(hand->stream, block,
                         room < sizeof(block) ? room : sizeof(block), &n, err);
        if (rc < 0)
            return rc;
        if (rc == STREAM_END)
            return far_side_said(hand, ERR_NETWORK, "the worker ended",
                                 &hand->nothing, err);
        if (n == 0)
            break;
        rc = pump_feed(hand->pump, block, n, err);
        if (rc < 0)
            return rc;
    }
    while ((out = pump_output(hand->pump, &len)) && len > 0) {
        rc = stream_write(hand->stream, out, len, &n, err);
        if (rc < 0)
            return rc;
        if (n == 0)
            break;
        pump_sent(hand->pump, n);
    }
    return 0;
}

/* One round of waiting and moving.  1 when told to stop. */
static int pump_turn(struct hand *hand, struct err *err)
{
    struct pollfd fds[PUMP_FDS_MAX];
    size_t n = pump_fds(hand->pump, fds), len = 0;
    struct watch watch;
    int first, rc;

    (void)pump_output(hand->pump, &len);
    watch_stream(hand, &watch, pump_room(hand->pump) > 0, len > 0);
    first = watch.n;
    for (size_t i = 0; i < n; i++)
        add_fd(&watch, &fds[i]);
    zmq_poll(watch.items, watch.n, watch.ready ? 0 : TURN_MS);
    if (watch.items[0].revents)
        return 1;
    for (size_t i = 0; i < n; i++) {
        short got = watch.items[(size_t)first + i].revents;

        fds[i].revents = (short)((got & ZMQ_POLLIN ? POLLIN : 0) |
                                 (got & ZMQ_POLLOUT ? POLLOUT : 0) |
                                 (got & ZMQ_POLLERR ? POLLERR : 0));
    }
    rc = pump_step(hand->pump, fds, n, err);
    return rc < 0 ? rc : move(hand, err);
}

/* What came last, a result or BYE, still has to reach the ROUTER. */
static void flush(struct hand *hand)
{
    struct err err;

    for (int turn = 0; turn < FLUSH_TURNS; turn++) {
        struct pollfd fds[PUMP_FDS_MAX];
        size_t n = pump_fds(hand->pump, fds);
        bool waiting = false;

        for (size_t i = 0; i < n; i++)
            waiting = waiting || (fds[i].events & POLLOUT);
        if (!waiting)
            return;
        (void)poll(fds, (nfds_t)n, FLUSH_TURN_MS);
        if (pump_step(hand->pump, fds, n, &err) < 0)
            return;
    }
}

static int pump_until_broken(struct hand *hand, struct buf *first,
                             struct err *err)
{
    int rc = pump_dial(hand->socket_path, &hand->pump, err);

    while (rc == 0 && first->len > 0) {
        size_t n = pump_room(hand->pump);

        n = n < first->len ? n : first->len;
        rc = pump_feed(hand->pump, first->bytes, n, err);
        buf_take(first, n);
    }
    while (rc == 0)
        rc = pump_turn(hand, err);
    if (rc < 0 && hand->pump)
        flush(hand);
    return rc;
}

/* From nothing to moving bytes, until it breaks (an ERR_*) or STOP (1). */
static int attach(struct hand *hand, struct err *err)
{
    struct deployed deployed;
    char command[2 * DEPLOY_PATH_BYTES + 64];
    struct buf in;
    int rc;

    buf_init(&in, FRAME_NOISE_MAX + READ_BYTES);
    rc =
        remote_open(hand->task.host, &hand->remote_options, &hand->remote, err);
    if (rc == 0) {
        tell(hand, CREW_UPLOADING, 0, "");
        rc = deploy_program(hand->remote, hand->task.host->workdir,
                            hand->task.program, clock_boot_ns() + DEPLOY_NS,
                            &deployed, err);
    }
    if (rc == 0) {
        snprintf(command, sizeof(command), "%s --attach --workdir %s",
                 deployed.program, deployed.workdir);
        rc = remote_stream(hand->remote, command, &hand->stream, err);
    }
    if (rc == 0)
        rc = await_magic(hand, &in, err);
    if (rc == 0)
        rc = send_invitation(hand, err);
    if (rc == 0) {
        hand->was_attached = true;
        tell(hand, CREW_ATTACHED, 0, "");
        rc = pump_until_broken(hand, &in, err);
    }
    pump_free(hand->pump);
    stream_close(hand->stream);
    remote_close(hand->remote);
    hand->pump = NULL;
    hand->stream = NULL;
    hand->remote = NULL;
    buf_fini(&in);
    return rc;
}

static bool is_hopeless(int rc)
{
    return rc == ERR_AUTH || rc == ERR_INPUT;
}

static void work(struct hand *hand)
{
    long retry_ms = RETRY_FIRST_MS;

    for (;;) {
        struct err err;
        int rc;

        tell(hand, CREW_CONNECTING, 0, "");
        hand->was_attached = false;
        rc = attach(hand, &err);
        if (rc == 1 || told_to_stop(hand, 0))
            return;
        if (is_hopeless(rc)) {
            tell(hand, CREW_GAVE_UP, rc, err.text);
            told_to_stop(hand, -1);
            return;
        }
        tell(hand, CREW_BROKEN, rc, err.text);
        if (hand->was_attached)
            retry_ms = RETRY_FIRST_MS;
        if (told_to_stop(hand, retry_ms))
            return;
        retry_ms = retry_ms * 2 < RETRY_MAX_MS ? retry_ms * 2 : RETRY_MAX_MS;
    }
}

static void *hand_main(void *arg)
{
    struct hand *hand = arg;
    int linger_ms = LINGER_MS;

    hand->news = zmq_socket(hand->zctx, ZMQ_PAIR);
    if (!hand->news)
        return NULL;
    zmq_setsockopt(hand->news, ZMQ_LINGER, &linger_ms, sizeof(linger_ms));
    if (zmq_connect(hand->news, hand->name) == 0) {
        work(hand);
        tell(hand, CREW_ENDED, 0, "");
    }
    invite_wipe(&hand->task.invite);
    zmq_close(hand->news);
    return NULL;
}

/* ---- the starter ---- */

static int open_pipe(struct hand *hand, struct err *err)
{
    int no_linger = 0;

    hand->pipe = zmq_socket(hand->zctx, ZMQ_PAIR);
    if (!hand->pipe ||
        zmq_setsockopt(hand->pipe, ZMQ_LINGER, &no_linger, sizeof(no_linger)) <
            0 ||
        zmq_bind(hand->pipe, hand->name) < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", hand->name,
                       zmq_strerror(zmq_errno()));
    return 0;
}

static void hand_free(struct hand *hand)
{
    if (hand->pipe)
        zmq_close(hand->pipe);
    free(hand);
}

int hand_start(void *zctx, const struct hand_task *task,
               const struct crew_options *options, struct hand **out,
               struct err *err)
{
    struct hand *hand = mem_new(1, sizeof(*hand));
    int rc;

    hand->zctx = zctx;
    hand->task = *task;
    hand->remote_options = options->remote;
    snprintf(hand->socket_path, sizeof(hand->socket_path), "%s",
             options->socket_path);
    snprintf(hand->name, sizeof(hand->name), "inproc://hand-%zu", task->index);
    rc = open_pipe(hand, err);
    if (rc == 0) {
        int why = pthread_create(&hand->thread, NULL, hand_main, hand);

        if (why != 0)
            rc = err_set(err, ERR_SYSTEM, "thread: %s", strerror(why));
    }
    if (rc < 0) {
        invite_wipe(&hand->task.invite);
        hand_free(hand);
        hand = NULL;
    }
    *out = hand;
    return rc;
}

void *hand_socket(struct hand *hand)
{
    return hand->pipe;
}

int hand_recv(struct hand *hand, struct crew_news *out)
{
    if (hand->ended || zmq_recv(hand->pipe, out, sizeof(*out), ZMQ_DONTWAIT) !=
                           (int)sizeof(*out))
        return 0;
    hand->ended = out->event == CREW_ENDED;
    return 1;
}

void hand_dismiss(struct hand *hand)
{
    zmq_send(hand->pipe, "STOP", 4, ZMQ_DONTWAIT);
}

bool hand_join(struct hand *hand, int64_t until_ns)
{
    struct crew_news news;

    while (!hand->ended && clock_boot_ns() < until_ns) {
        zmq_pollitem_t item = { .socket = hand->pipe, .events = ZMQ_POLLIN };

        zmq_poll(&item, 1, JOIN_TURN_MS);
        while (hand_recv(hand, &news) == 1)
            continue;
    }
    if (!hand->ended)
        return false;
    pthread_join(hand->thread, NULL);
    hand_free(hand);
    return true;
}
