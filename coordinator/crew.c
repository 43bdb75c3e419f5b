#include "coordinator/crew.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/frame.h"
#include "common/invite.h"
#include "common/mem.h"
#include "common/pump.h"
#include "coordinator/deploy.h"
#include "coordinator/hosts.h"
#include "coordinator/server.h"
#include "coordinator/ssh.h"

#define HAND_START_MS 5000 /* a local thread; longer means it is not coming */
#define MAGIC_NS (20 * NS_PER_S) /* login shells can be slow */
#define RETRY_FIRST_MS 500
#define RETRY_MAX_MS 30000
#define STOP_MS 2000 /* RELIABILITY F19: the second Ctrl-C */
#define READ_BYTES 65536
#define ERRORS_SHOWN 400 /* of what the far side wrote to stderr */

struct hand {
    pthread_t thread;
    void *pipe; /* the starter's end; the thread never looks at it */
    bool ended; /* the starter's: CREW_ENDED was heard */

    /* Set before the start, the thread's after it. */
    void *zctx;
    char name[32];
    size_t index;
    const struct host *host;
    struct crew_options options;
    char socket_path[PUMP_PATH_MAX + 1];
    struct invite invite;
    void *news; /* the thread's end of the pipe */
    struct ssh *ssh;
    struct ssh_stream *stream;
    struct pump *pump;
    bool was_attached;
};

struct crew {
    struct hand **hands;
    size_t n;
};

static void tell(struct hand *hand, enum crew_event event, int code,
                 const char *text)
{
    struct crew_news news = { .host = hand->index,
                              .event = event,
                              .code = code };

    snprintf(news.text, sizeof(news.text), "%s", text);
    zmq_send(hand->news, &news, sizeof(news), 0);
}

/* The only word to a hand is STOP. */
static bool told_to_stop(struct hand *hand, long wait_ms)
{
    zmq_pollitem_t item = { .socket = hand->news, .events = ZMQ_POLLIN };

    return zmq_poll(&item, 1, wait_ms) > 0;
}

/* Wait for the stream or for STOP, at most until 'deadline'. */
static int wait_stream(struct hand *hand, short events, int64_t deadline)
{
    int64_t left = deadline - clock_boot_ns();
    zmq_pollitem_t items[] = {
        { .socket = hand->news, .events = ZMQ_POLLIN },
        { .fd = ssh_stream_fd(hand->stream), .events = events },
    };

    if (left <= 0)
        return -1;
    zmq_poll(items, 2, (long)(left / NS_PER_MS) + 1);
    return items[0].revents ? -1 : 0;
}

static int far_side_said(struct hand *hand, int code, const char *what,
                         const struct buf *noise, struct err *err)
{
    const char *errors = ssh_stream_errors(hand->stream);
    const char *shown = *errors ? errors : buf_text(noise);
    size_t len = strlen(shown);

    if (len > ERRORS_SHOWN)
        shown += len - ERRORS_SHOWN;
    while (len > 0 && shown[strlen(shown) - 1] == '\n' && len--)
        break;
    return err_set(err, code, "%s%s%s", what, *shown ? ": " : "", shown);
}

/* Read until the relay has said its magic line; what follows it belongs to
 * the frames. */
static int await_magic(struct hand *hand, struct buf *in, struct err *err)
{
    int64_t deadline = clock_boot_ns() + MAGIC_NS;
    char block[4096], version[FRAME_VERSION_BYTES];
    size_t frames;

    for (;;) {
        long n = ssh_stream_read(hand->stream, block, sizeof(block), err);
        int found;

        if (n < 0)
            return far_side_said(hand, ERR_NETWORK, "the relay did not start",
                                 in, err);
        if (n == 0 && ssh_stream_ended(hand->stream))
            return far_side_said(hand, ERR_SYSTEM,
                                 "the worker could not be started", in, err);
        buf_add(in, block, (size_t)n);
        found = frame_find_magic(buf_text(in), in->len, &frames, version, err);
        if (found < 0)
            return found;
        if (found > 0) {
            buf_take(in, frames);
            return 0;
        }
        if (n == 0 && wait_stream(hand, POLLIN, deadline) < 0)
            return far_side_said(hand, ERR_NETWORK,
                                 "no word from the relay in time", in, err);
    }
}

static int send_invitation(struct hand *hand, struct err *err)
{
    int64_t deadline = clock_boot_ns() + MAGIC_NS;
    char text[INVITE_BYTES_MAX];
    size_t len = invite_write(&hand->invite, text), sent = 0;
    int rc = 0;

    while (rc == 0 && sent < len) {
        long n = ssh_stream_write(hand->stream, text + sent, len - sent, err);

        if (n < 0)
            rc = ERR_NETWORK;
        else if (n == 0 && wait_stream(hand, POLLOUT, deadline) < 0)
            rc = err_set(err, ERR_NETWORK, "the relay does not read");
        else
            sent += (size_t)n;
    }
    sodium_memzero(text, sizeof(text));
    return rc;
}

/* Move what came from the relay into the pump, and back. */
static int move(struct hand *hand, struct err *err)
{
    char block[READ_BYTES];
    const void *out;
    size_t len, room;
    long n;

    while ((room = pump_room(hand->pump)) > 0) {
        n = ssh_stream_read(hand->stream, block,
                            room < sizeof(block) ? room : sizeof(block), err);
        if (n < 0)
            return ERR_NETWORK;
        if (n == 0)
            break;
        if (pump_feed(hand->pump, block, (size_t)n, err) < 0)
            return ERR_PROTO;
    }
    while ((out = pump_output(hand->pump, &len)) && len > 0) {
        n = ssh_stream_write(hand->stream, out, len, err);
        if (n < 0)
            return ERR_NETWORK;
        if (n == 0)
            break;
        pump_sent(hand->pump, (size_t)n);
    }
    return 0;
}

/* One round of waiting and moving.  1 when told to stop. */
static int pump_turn(struct hand *hand, struct err *err)
{
    struct pollfd fds[PUMP_FDS_MAX];
    zmq_pollitem_t items[PUMP_FDS_MAX + 2];
    size_t n = pump_fds(hand->pump, fds), len = 0;

    (void)pump_output(hand->pump, &len);
    items[0] = (zmq_pollitem_t){ .socket = hand->news, .events = ZMQ_POLLIN };
    items[1] = (zmq_pollitem_t){
        .fd = ssh_stream_fd(hand->stream),
        .events = (short)((pump_room(hand->pump) > 0 ? ZMQ_POLLIN : 0) |
                          (len > 0 ? ZMQ_POLLOUT : 0)),
    };
    for (size_t i = 0; i < n; i++)
        items[i + 2] = (zmq_pollitem_t){
            .fd = fds[i].fd,
            .events = (short)((fds[i].events & POLLIN ? ZMQ_POLLIN : 0) |
                              (fds[i].events & POLLOUT ? ZMQ_POLLOUT : 0)),
        };
    zmq_poll(items, (int)n + 2, 1000);
    if (items[0].revents)
        return 1;
    for (size_t i = 0; i < n; i++)
        fds[i].revents =
            (short)((items[i + 2].revents & ZMQ_POLLIN ? POLLIN : 0) |
                    (items[i + 2].revents & ZMQ_POLLOUT ? POLLOUT : 0) |
                    (items[i + 2].revents & ZMQ_POLLERR ? POLLERR : 0));
    if (pump_step(hand->pump, fds, n, err) < 0)
        return ERR_PROTO;
    return move(hand, err);
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
    while (rc == 0) {
        rc = pump_turn(hand, err);
        if (rc == 0 && ssh_stream_ended(hand->stream))
            rc = far_side_said(hand, ERR_NETWORK, "the relay ended", first,
                               err);
    }
    return rc;
}

/* From nothing to moving bytes, until it breaks (an ERR_*) or STOP (1). */
static int attach(struct hand *hand, struct err *err)
{
    struct ssh_options ssh = {
        .openssh = hand->options.openssh,
        .accept_new = hand->options.accept_new_host_keys,
    };
    char command[DEPLOY_COMMAND_BYTES];
    struct buf in;
    int rc;

    buf_init(&in, FRAME_NOISE_MAX + READ_BYTES);
    rc = ssh_open(hand->host, &ssh, &hand->ssh, err);
    if (rc == 0) {
        tell(hand, CREW_UPLOADING, 0, "");
        rc = deploy_worker(hand->ssh, hand->host, command, err);
    }
    if (rc == 0)
        rc = ssh_stream_open(hand->ssh, command, &hand->stream, err);
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
    hand->pump = NULL;
    ssh_stream_close(hand->stream);
    hand->stream = NULL;
    ssh_close(hand->ssh);
    hand->ssh = NULL;
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
    int linger_ms = STOP_MS;

    hand->news = zmq_socket(hand->zctx, ZMQ_PAIR);
    if (!hand->news)
        return NULL;
    zmq_setsockopt(hand->news, ZMQ_LINGER, &linger_ms, sizeof(linger_ms));
    if (zmq_connect(hand->news, hand->name) == 0) {
        work(hand);
        tell(hand, CREW_ENDED, 0, "");
    }
    invite_wipe(&hand->invite);
    zmq_close(hand->news);
    return NULL;
}

static int hand_start(struct hand *hand, struct err *err)
{
    int no_linger = 0, rc;

    hand->pipe = zmq_socket(hand->zctx, ZMQ_PAIR);
    if (!hand->pipe ||
        zmq_setsockopt(hand->pipe, ZMQ_LINGER, &no_linger,
                       sizeof(no_linger)) < 0 ||
        zmq_bind(hand->pipe, hand->name) < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", hand->name,
                       zmq_strerror(zmq_errno()));
    rc = pthread_create(&hand->thread, NULL, hand_main, hand);
    if (rc != 0) {
        zmq_close(hand->pipe);
        hand->pipe = NULL;
        return err_set(err, ERR_SYSTEM, "thread: %s", strerror(rc));
    }
    return 0;
}

int crew_start(void *zctx, const struct hosts *hosts, struct server *server,
               const struct crew_options *options, struct crew **out,
               struct err *err)
{
    struct crew *crew = mem_new(1, sizeof(*crew));
    int rc = 0;

    crew->hands = mem_new(hosts->n, sizeof(*crew->hands));
    *out = crew;
    for (size_t i = 0; rc == 0 && i < hosts->n; i++) {
        struct hand *hand = mem_new(1, sizeof(*hand));

        crew->hands[crew->n++] = hand;
        hand->zctx = zctx;
        hand->index = i;
        hand->host = &hosts->list[i];
        hand->options = *options;
        snprintf(hand->socket_path, sizeof(hand->socket_path), "%s",
                 options->socket_path);
        snprintf(hand->name, sizeof(hand->name), "inproc://hand-%zu", i);
        hand->invite = (struct invite){ .epoch = options->epoch,
                                        .linger_ms = options->linger_s * 1000 };
        snprintf(hand->invite.endpoint, sizeof(hand->invite.endpoint), "%s",
                 INVITE_RELAY);
        snprintf(hand->invite.server_key, CURVE_KEY_BYTES, "%s",
                 server_public_key(server));
        rc = server_admit(server, i, hand->invite.public_key,
                          hand->invite.secret_key, err);
        if (rc == 0)
            rc = hand_start(hand, err);
    }
    return rc;
}

void *crew_socket(struct crew *crew, size_t host)
{
    return crew->hands[host]->pipe;
}

int crew_recv(struct crew *crew, size_t host, struct crew_news *out)
{
    struct hand *hand = crew->hands[host];

    if (hand->ended ||
        zmq_recv(hand->pipe, out, sizeof(*out), ZMQ_DONTWAIT) !=
            (int)sizeof(*out))
        return 0;
    hand->ended = out->event == CREW_ENDED;
    return 1;
}

/* A hand that is inside a login cannot be interrupted; the program is about to
 * end, so it is left behind with what it holds. */
bool crew_stop(struct crew *crew)
{
    int64_t until = clock_boot_ns() + STOP_MS * NS_PER_MS;
    bool all = true;

    if (!crew)
        return true;
    for (size_t i = 0; i < crew->n; i++)
        if (crew->hands[i]->pipe)
            zmq_send(crew->hands[i]->pipe, "STOP", 4, ZMQ_DONTWAIT);
    for (size_t i = 0; i < crew->n; i++) {
        struct hand *hand = crew->hands[i];
        struct crew_news news;

        if (!hand->pipe) {
            free(hand);
            continue;
        }
        while (!hand->ended && clock_boot_ns() < until) {
            zmq_pollitem_t item = { .socket = hand->pipe,
                                    .events = ZMQ_POLLIN };

            zmq_poll(&item, 1, 50);
            while (crew_recv(crew, i, &news) == 1)
                continue;
        }
        if (!hand->ended) {
            all = false;
            continue;
        }
        pthread_join(hand->thread, NULL);
        zmq_close(hand->pipe);
        free(hand);
    }
    if (all) {
        free(crew->hands);
        free(crew);
    }
    return all;
}
