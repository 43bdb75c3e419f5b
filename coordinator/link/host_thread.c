#include "coordinator/link/host_thread.h"

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
#include "common/int64.h"
#include "common/mem.h"
#include "common/pump.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/upload_watch.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/remote/login_pace.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/stream.h"
#include "coordinator/text/terminal.h"

#define MAGIC_NS (20 * NS_PER_S) /* login shells can be slow */
#define RETRY_FIRST_MS 500
#define RETRY_MAX_MS 30000
#define LINGER_MS 2000 /* to send the last messages */
#define READ_BYTES 65536
#define TURN_MS 1000
#define FLUSH_TURNS 50 /* of 1/50 s each: one second in all */
#define FLUSH_TURN_MS 20
#define JOIN_TURN_MS 50
#define REMARKS_BYTES 2048
#define SAID_BYTES 400 /* of the far side's output, in a message */
#define RELAY_SAYS "fa-worker: "
/* Another worker may have to end first; one that waits says so every 5 s. */
#define ATTACH_NS (40 * NS_PER_S)

struct host_thread {
    pthread_t thread;
    void *pipe; /* the starter's end; the thread does not use it */
    bool ended; /* the starter's: HOST_THREADS_ENDED has been read */

    /* The starter fills these in before the start; then they are the
     * thread's. */
    void *zctx;
    char name[32];
    struct host_thread_task task;
    char socket_path[PUMP_PATH_MAX + 1];
    struct remote_options remote_options;
    void *news; /* the thread's end of the pipe */
    struct remote *remote;
    struct stream *stream;
    struct pump *pump;
    struct buf nothing;          /* empty */
    char remarks[REMARKS_BYTES]; /* of the last login */
    struct upload_watch upload;
    bool is_uploading;    /* it began one that is not complete */
    bool was_attached;    /* in this connection */
    bool has_worked;      /* in any of them */
    bool has_asked;       /* for a login, which is not over */
    bool is_admitted;     /* LOGIN has come */
    bool stopping;        /* STOP has come */
    bool again;           /* the connection must be made again */
    int64_t attach_by_ns; /* until then the worker may start */
};

/* ---- the thread ---- */

static const char *without_name(const struct host_thread *thread,
                                const char *text)
{
    const char *name = thread->task.host->name;
    size_t len = strlen(name);

    return strncmp(text, name, len) == 0 && strncmp(text + len, ": ", 2) == 0
               ? text + len + 2
               : text;
}

/* Without the host's name: the line that shows the text has it. */
static void tell(struct host_thread *thread, enum host_threads_event event,
                 int code, const char *text)
{
    struct host_thread_news news = { .host = thread->task.index,
                                     .event = event,
                                     .code = code };

    snprintf(news.text, sizeof(news.text), "%s", without_name(thread, text));
    if (zmq_send(thread->news, &news, sizeof(news), 0) < 0 &&
        zmq_errno() == ENOMEM)
        mem_exhausted(); /* the starter would wait for it */
}

/* What is to be said about the login, unless it was said of the last one. */
static void tell_remarks(struct host_thread *thread)
{
    char text[REMARKS_BYTES], *rest = text, *line;

    snprintf(text, sizeof(text), "%s", remote_remarks(thread->remote));
    if (strcmp(text, thread->remarks) == 0)
        return;
    memcpy(thread->remarks, text, sizeof(text));
    while ((line = strsep(&rest, "\n")))
        if (*line)
            tell(thread, HOST_THREADS_REMARK, 0, line);
}

/* Receive one word from the starter, waiting up to 'wait_ms': STOP, which is
 * final, AGAIN or LOGIN. */
static bool told_to_stop(struct host_thread *thread, long wait_ms)
{
    zmq_pollitem_t item = { .socket = thread->news, .events = ZMQ_POLLIN };
    char word[8] = "";

    if (thread->stopping || zmq_poll(&item, 1, wait_ms) <= 0)
        return thread->stopping;
    /* nothing to receive: the starter is gone */
    (void)zmq_recv(thread->news, word, sizeof(word) - 1, ZMQ_DONTWAIT);
    if (strcmp(word, "AGAIN") == 0)
        thread->again = true;
    else if (strcmp(word, "LOGIN") == 0)
        thread->is_admitted = true;
    else
        thread->stopping = true;
    return thread->stopping;
}

/* For struct remote_gate: wait until the login may begin. */
static int enter(void *self, const char *server, struct err *err)
{
    struct host_thread *thread = self;

    thread->has_asked = true;
    thread->is_admitted = false;
    tell(thread, HOST_THREADS_LOGIN_ASKED, 0, server);
    while (!thread->is_admitted)
        if (told_to_stop(thread, -1))
            return err_set(err, ERR_NETWORK, "told to stop");
    return 0;
}

/* The login is over, unless that has been said. */
static void leave(struct host_thread *thread, int rc, const char *text)
{
    if (thread->has_asked)
        tell(thread, HOST_THREADS_LOGIN_ENDED, rc, text);
    thread->has_asked = false;
}

/* What one turn polls: STOP, the stream and the pump's sockets. */
struct watch {
    zmq_pollitem_t items[1 + STREAM_FDS + PUMP_FDS_MAX];
    int n;
    bool ready; /* the stream already has something to read */
};

static void add_fd(struct watch *watch, const struct pollfd *fd)
{
    watch->items[watch->n++] = (zmq_pollitem_t){
        .fd = fd->fd,
        .events = (short)((fd->events & POLLIN ? ZMQ_POLLIN : 0) |
                          (fd->events & POLLOUT ? ZMQ_POLLOUT : 0)),
    };
}

static void watch_stream(struct host_thread *thread, struct watch *watch,
                         bool want_read, bool want_write)
{
    struct pollfd fds[STREAM_FDS];

    watch->items[0] =
        (zmq_pollitem_t){ .socket = thread->news, .events = ZMQ_POLLIN };
    watch->n = 1;
    watch->ready = stream_poll(thread->stream, want_read, want_write, fds);
    for (int i = 0; i < STREAM_FDS; i++)
        add_fd(watch, &fds[i]); /* -1 is waited for without an effect */
}

/* Wait for the stream until 'deadline' at the latest.  False at the deadline,
 * or on STOP. */
static bool wait_stream(struct host_thread *thread, bool to_write,
                        int64_t deadline)
{
    int64_t left = deadline - clock_boot_ns();
    struct watch watch;

    if (left <= 0)
        return false;
    watch_stream(thread, &watch, !to_write, to_write);
    if (!watch.ready)
        zmq_poll(watch.items, watch.n, (long)(left / NS_PER_MS) + 1);
    return !told_to_stop(thread, 0);
}

/* An error that ends in the far side's output: its stderr, or what came instead
 * of the magic line. */
static int far_side_said(struct host_thread *thread, int code, const char *what,
                         const struct buf *noise, struct err *err)
{
    char said[SAID_BYTES];

    stream_said(thread->stream, said, sizeof(said));
    if (!said[0])
        snprintf(said, sizeof(said), "%s", buf_text(noise));
    for (size_t len = strlen(said); len > 0 && said[len - 1] == '\n'; len--)
        said[len - 1] = '\0';
    terminal_clean(said, true);
    return err_set(err, code, "%s: %s%s%s", thread->task.host->name, what,
                   said[0] ? ": " : "", said);
}

/* The system's ssh logs in again for the relay, and may be dropped. */
static int relay_ended(struct host_thread *thread, const struct buf *noise,
                       int64_t deadline, struct err *err)
{
    int status;

    if (stream_wait(thread->stream, deadline, &status, err) == ERR_BUSY)
        return err_within(err, ERR_BUSY, "%s", thread->task.host->name);
    return far_side_said(thread, ERR_NETWORK, "the worker could not be started",
                         noise, err);
}

/* Read until the relay's magic line.  What follows that line belongs to the
 * frames. */
static int await_magic(struct host_thread *thread, struct buf *in,
                       struct err *err)
{
    int64_t deadline = clock_boot_ns() + MAGIC_NS;
    char block[4096], version[FRAME_VERSION_BYTES];

    for (;;) {
        size_t frames = 0, n = 0;
        int rc = stream_read(thread->stream, block, sizeof(block), &n, err);

        buf_add(in, block, n);
        if (rc < 0)
            return rc;
        rc = rc == STREAM_END && n == 0
                 ? relay_ended(thread, in, deadline, err)
                 : frame_find_magic(buf_text(in), in->len, &frames, version,
                                    err);
        if (rc < 0)
            return rc;
        if (rc > 0) {
            buf_take(in, frames);
            return 0;
        }
        if (n == 0 && !wait_stream(thread, false, deadline))
            return far_side_said(thread, ERR_NETWORK,
                                 "the worker did not answer in time", in, err);
    }
}

static int send_invitation(struct host_thread *thread, struct err *err)
{
    int64_t deadline = clock_boot_ns() + MAGIC_NS;
    char text[INVITE_BYTES_MAX];
    size_t len = invite_write(&thread->task.invite, text), sent = 0, n = 0;
    int rc = 0;

    while (rc == 0 && sent < len) {
        rc = stream_write(thread->stream, text + sent, len - sent, &n, err);
        if (rc == 0 && n == 0 && !wait_stream(thread, true, deadline))
            rc = err_set(err, ERR_NETWORK, "%s: the relay does not read",
                         thread->task.host->name);
        sent += n;
    }
    sodium_memzero(text, sizeof(text));
    return rc;
}

/* The relay passed the invitation to the worker, which refused it.  The
 * worker's own words say it all. */
static int refused(struct host_thread *thread, struct err *err)
{
    char said[SAID_BYTES];
    char *words;

    stream_said(thread->stream, said, sizeof(said));
    words = strstr(said, RELAY_SAYS);
    if (!words)
        return far_side_said(thread, ERR_NETWORK, "the worker ended",
                             &thread->nothing, err);
    words += strlen(RELAY_SAYS);
    words[strcspn(words, "\n")] = '\0';
    return err_set(err, ERR_NETWORK, "%s: %s", thread->task.host->name,
                   terminal_clean(words, false));
}

/* The worker's first connection is its answer to this invitation.  Until then,
 * notes of the relay say what it waits for. */
static void note_attached(struct host_thread *thread)
{
    char note[FRAME_NOTE_MAX + 1];

    if (pump_heard(thread->pump, note)) {
        thread->attach_by_ns = clock_boot_ns() + ATTACH_NS;
        tell(thread, HOST_THREADS_WAITING, 0, terminal_clean(note, false));
    }
    if (thread->was_attached || !pump_was_opened(thread->pump))
        return;
    tell(thread, HOST_THREADS_ATTACHED, 0, "");
    thread->was_attached = thread->has_worked = true;
}

static int the_worker_ended(struct host_thread *thread, struct err *err)
{
    return thread->was_attached
               ? far_side_said(thread, ERR_NETWORK, "the worker ended",
                               &thread->nothing, err)
               : refused(thread, err);
}

/* How many of 'most' bytes the pump can take now. */
static size_t room_for(const struct host_thread *thread, size_t most)
{
    return (size_t)int64_min((int64_t)pump_room(thread->pump), (int64_t)most);
}

/* From the relay into the pump, until nothing comes or it is full. */
static int move_in(struct host_thread *thread, struct err *err)
{
    char block[READ_BYTES];
    size_t room, n = 1;
    int rc = 0;

    while (rc == 0 && n > 0 && (room = room_for(thread, sizeof(block))) > 0) {
        rc = stream_read(thread->stream, block, room, &n, err);
        if (rc == STREAM_END)
            return the_worker_ended(thread, err);
        if (rc == 0 && n > 0)
            rc = pump_feed(thread->pump, block, n, err);
        if (rc == 0)
            note_attached(thread);
    }
    return rc;
}

/* From the pump to the relay, until that takes no more. */
static int move_out(struct host_thread *thread, struct err *err)
{
    const void *out;
    size_t len, n = 1;
    int rc = 0;

    while (rc == 0 && n > 0 && (out = pump_output(thread->pump, &len)) &&
           len > 0) {
        rc = stream_write(thread->stream, out, len, &n, err);
        if (rc == 0)
            pump_sent(thread->pump, n);
    }
    return rc;
}

/* One turn: wait, then move bytes.  1 when told to stop. */
static int pump_turn(struct host_thread *thread, struct err *err)
{
    struct pollfd fds[PUMP_FDS_MAX];
    size_t n = pump_fds(thread->pump, fds), len = 0;
    struct watch watch;
    int first, rc;

    (void)pump_output(thread->pump, &len);
    watch_stream(thread, &watch, pump_room(thread->pump) > 0, len > 0);
    first = watch.n;
    for (size_t i = 0; i < n; i++)
        add_fd(&watch, &fds[i]);
    zmq_poll(watch.items, watch.n, watch.ready ? 0 : TURN_MS);
    if (watch.items[0].revents && told_to_stop(thread, 0))
        return 1;
    if (thread->again)
        return err_set(err, ERR_NETWORK,
                       "%s: the host is silent; connecting again",
                       thread->task.host->name);
    for (size_t i = 0; i < n; i++) {
        short got = watch.items[(size_t)first + i].revents;

        fds[i].revents = (short)((got & ZMQ_POLLIN ? POLLIN : 0) |
                                 (got & ZMQ_POLLOUT ? POLLOUT : 0) |
                                 (got & ZMQ_POLLERR ? POLLERR : 0));
    }
    rc = pump_step(thread->pump, fds, n, err);
    if (rc == 0)
        rc = move_in(thread, err);
    if (rc == 0)
        rc = move_out(thread, err);
    if (rc == 0 && !thread->was_attached &&
        clock_boot_ns() > thread->attach_by_ns)
        rc = far_side_said(thread, ERR_NETWORK, "the worker does not answer",
                           &thread->nothing, err);
    return rc;
}

/* The last message, a result or BYE, must still reach the ROUTER. */
static void flush(struct host_thread *thread)
{
    struct err err;

    for (int turn = 0; turn < FLUSH_TURNS; turn++) {
        struct pollfd fds[PUMP_FDS_MAX];
        size_t n = pump_fds(thread->pump, fds);
        bool waiting = false;

        for (size_t i = 0; i < n; i++)
            waiting = waiting || (fds[i].events & POLLOUT);
        if (!waiting)
            return;
        (void)poll(fds, (nfds_t)n, FLUSH_TURN_MS);
        if (pump_step(thread->pump, fds, n, &err) < 0)
            return;
    }
}

static int pump_until_broken(struct host_thread *thread, struct buf *first,
                             struct err *err)
{
    int rc = pump_dial(thread->socket_path, &thread->pump, err);

    while (rc == 0 && first->len > 0) {
        size_t n = room_for(thread, first->len);

        rc = pump_feed(thread->pump, first->bytes, n, err);
        buf_take(first, n);
        if (rc == 0)
            note_attached(thread);
    }
    while (rc == 0)
        rc = pump_turn(thread, err);
    if (rc != 1 && thread->pump)
        flush(thread);
    return rc;
}

static void tell_progress(struct host_thread *thread)
{
    if (upload_watch_tells(&thread->upload, clock_boot_ns()))
        tell(thread, HOST_THREADS_PROGRESS, 0, "");
}

/* For struct deploy_watch. */
static void found(void *self, size_t bytes)
{
    struct host_thread *thread = self;

    thread->is_uploading = true;
    if (upload_watch_found(&thread->upload, bytes, clock_boot_ns()))
        tell_progress(thread);
}

static void sent(void *self, size_t bytes)
{
    struct host_thread *thread = self;

    if (upload_watch_sent(&thread->upload, bytes, clock_boot_ns()))
        tell_progress(thread);
}

static int deploy(struct host_thread *thread, struct deployed *out,
                  struct err *err)
{
    const struct deploy_watch watch = { found, sent, thread };
    int rc;

    tell_remarks(thread);
    tell(thread, HOST_THREADS_UPLOADING, 0, "");
    rc = deploy_program(thread->remote, thread->task.host->workdir,
                        thread->task.program, &watch, out, err);
    if (rc == 0)
        thread->is_uploading = false;
    return rc;
}

/* Connect and move bytes until the connection breaks (an ERR_*) or on STOP
 * (1). */
static int attach(struct host_thread *thread, struct err *err)
{
    struct deployed deployed;
    const char *gpus = host_gpus(thread->task.host);
    char command[2 * DEPLOY_PATH_BYTES + sizeof(thread->task.host->gpus) + 64];
    struct buf in;
    int rc;

    buf_init(&in, FRAME_NOISE_MAX + READ_BYTES);
    rc = remote_open(thread->task.host, &thread->remote_options,
                     &thread->remote, err);
    if (rc == 0 && !remote_logs_in_again(thread->remote))
        leave(thread, 0, remote_identity(thread->remote));
    if (rc == 0)
        rc = deploy(thread, &deployed, err);
    if (rc == 0) {
        snprintf(command, sizeof(command), "%s --attach --workdir %s --gpus %s",
                 deployed.program, deployed.workdir, gpus);
        rc = remote_stream(thread->remote, command, &thread->stream, err);
    }
    if (rc == 0)
        rc = await_magic(thread, &in, err);
    if (rc == 0) {
        leave(thread, 0, "");
        thread->attach_by_ns = clock_boot_ns() + ATTACH_NS;
        rc = send_invitation(thread, err);
    }
    if (rc == 0)
        rc = pump_until_broken(thread, &in, err);
    leave(thread, rc, err->text);
    pump_free(thread->pump);
    stream_close(thread->stream);
    remote_close(thread->remote);
    thread->pump = NULL;
    thread->stream = NULL;
    thread->remote = NULL;
    buf_fini(&in);
    return rc;
}

/* The upload broke off.  Returns false if that is a failure by now, which the
 * text then says. */
static bool is_cut(const struct host_thread *thread, int rc, struct err *err)
{
    char why[sizeof(err->text)];

    if (!thread->is_uploading || rc != ERR_NETWORK)
        return false;
    if (upload_watch_gets_on(&thread->upload, clock_boot_ns()))
        return true;
    snprintf(why, sizeof(why), "%s", without_name(thread, err->text));
    err_set(err, rc, "no progress with the upload for %d s: %s",
            UPLOAD_WATCH_STILL_S, why);
    return false;
}

/* A host that has worked is not given up: its login may be refused for a while,
 * by an account server that is down or a folder that is full. */
static bool is_hopeless(const struct host_thread *thread, int rc)
{
    return !thread->has_worked && (rc == ERR_AUTH || rc == ERR_INPUT);
}

static void work(struct host_thread *thread)
{
    int64_t retry_ms = RETRY_FIRST_MS;
    int drops = 0;

    for (;;) {
        struct err err;
        int rc;

        tell(thread, HOST_THREADS_CONNECTING, 0, "");
        thread->was_attached = thread->again = false;
        rc = attach(thread, &err);
        if (rc == 1 || told_to_stop(thread, 0))
            return;
        if (rc == ERR_BUSY) { /* the starter knows, and judges it */
            if (told_to_stop(thread, (long)login_pace_pause_ms(
                                         drops++, randombytes_random())))
                return;
            continue;
        }
        drops = 0;
        if (is_hopeless(thread, rc)) {
            tell(thread, HOST_THREADS_GAVE_UP, rc, err.text);
            while (!told_to_stop(thread, -1))
                continue;
            return;
        }
        if (is_cut(thread, rc, &err)) {
            tell(thread, HOST_THREADS_CUT, rc, err.text);
            if (told_to_stop(thread, RETRY_FIRST_MS))
                return;
            continue;
        }
        tell(thread, HOST_THREADS_BROKEN, rc, err.text);
        if (thread->was_attached)
            retry_ms = RETRY_FIRST_MS;
        if (told_to_stop(thread, retry_ms))
            return;
        retry_ms = int64_min(retry_ms * 2, RETRY_MAX_MS);
    }
}

static void *host_thread_main(void *arg)
{
    struct host_thread *thread = arg;
    int linger_ms = LINGER_MS;

    thread->news = zmq_socket(thread->zctx, ZMQ_PAIR);
    if (!thread->news)
        return NULL;
    zmq_setsockopt(thread->news, ZMQ_LINGER, &linger_ms, sizeof(linger_ms));
    if (zmq_connect(thread->news, thread->name) == 0) {
        work(thread);
        tell(thread, HOST_THREADS_ENDED, 0, "");
    }
    invite_wipe(&thread->task.invite);
    zmq_close(thread->news);
    return NULL;
}

/* ---- the starter ---- */

static int open_pipe(struct host_thread *thread, struct err *err)
{
    int no_linger = 0;

    thread->pipe = zmq_socket(thread->zctx, ZMQ_PAIR);
    if (!thread->pipe ||
        zmq_setsockopt(thread->pipe, ZMQ_LINGER, &no_linger,
                       sizeof(no_linger)) < 0 ||
        zmq_bind(thread->pipe, thread->name) < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", thread->name,
                       zmq_strerror(zmq_errno()));
    return 0;
}

static void host_thread_free(struct host_thread *thread)
{
    if (thread->pipe)
        zmq_close(thread->pipe);
    free(thread);
}

int host_thread_start(void *zctx, const struct host_thread_task *task,
                      const struct host_threads_options *options,
                      struct host_thread **out, struct err *err)
{
    struct host_thread *thread = mem_new(1, sizeof(*thread));
    int rc;

    thread->zctx = zctx;
    thread->task = *task;
    thread->remote_options = options->remote;
    thread->remote_options.gate =
        (struct remote_gate){ .enter = enter, .self = thread };
    snprintf(thread->socket_path, sizeof(thread->socket_path), "%s",
             options->socket_path);
    snprintf(thread->name, sizeof(thread->name), "inproc://host-%zu",
             task->index);
    rc = open_pipe(thread, err);
    if (rc == 0) {
        int why =
            pthread_create(&thread->thread, NULL, host_thread_main, thread);

        if (why != 0)
            rc = err_set(err, ERR_SYSTEM, "thread: %s", strerror(why));
    }
    if (rc < 0) {
        invite_wipe(&thread->task.invite);
        host_thread_free(thread);
        thread = NULL;
    }
    *out = thread;
    return rc;
}

void *host_thread_socket(struct host_thread *thread)
{
    return thread->pipe;
}

int host_thread_recv(struct host_thread *thread, struct host_thread_news *out)
{
    if (thread->ended || zmq_recv(thread->pipe, out, sizeof(*out),
                                  ZMQ_DONTWAIT) != (int)sizeof(*out))
        return 0;
    thread->ended = out->event == HOST_THREADS_ENDED;
    return 1;
}

void host_thread_admit(struct host_thread *thread)
{
    zmq_send(thread->pipe, "LOGIN", 5, ZMQ_DONTWAIT);
}

void host_thread_reconnect(struct host_thread *thread)
{
    zmq_send(thread->pipe, "AGAIN", 5, ZMQ_DONTWAIT);
}

void host_thread_dismiss(struct host_thread *thread)
{
    zmq_send(thread->pipe, "STOP", 4, ZMQ_DONTWAIT);
}

bool host_thread_join(struct host_thread *thread, int64_t until_ns)
{
    struct host_thread_news news;

    while (!thread->ended && clock_boot_ns() < until_ns) {
        zmq_pollitem_t item = { .socket = thread->pipe, .events = ZMQ_POLLIN };

        /* again: a STOP sent before the thread had its end is lost */
        host_thread_dismiss(thread);
        zmq_poll(&item, 1, JOIN_TURN_MS);
        while (host_thread_recv(thread, &news) == 1)
            continue;
    }
    if (!thread->ended)
        return false;
    pthread_join(thread->thread, NULL);
    host_thread_free(thread);
    return true;
}
