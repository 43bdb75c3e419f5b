#include "coordinator/link/host_session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/mem.h"
#include "common/clock.h"
#include "common/frame.h"
#include "common/int64.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/remote/stream.h"
#include "coordinator/text/terminal.h"

#define MAGIC_NS (20 * NS_PER_S) /* login shells can be slow */
#define READ_BYTES 65536
#define TURN_MS 1000
#define FLUSH_TURNS 50 /* of 1/50 s each: one second in all */
#define FLUSH_TURN_MS 20
#define SAID_BYTES 400 /* of the far side's output, in a message */
#define RELAY_SAYS "fa-worker: "
/* Another worker may have to end first; one that waits says so every 5 s. */
#define ATTACH_NS (40 * NS_PER_S)

static const char *without_name(const struct host_session *session,
                                const char *text)
{
    const char *name = session->task.host->name;
    size_t len = strlen(name);

    return strncmp(text, name, len) == 0 && strncmp(text + len, ": ", 2) == 0
               ? text + len + 2
               : text;
}

void host_session_tell(struct host_session *session,
                       enum host_threads_event event, int code,
                       const char *text)
{
    struct host_thread_news news = { .host = session->task.index,
                                     .event = event,
                                     .code = code };

    snprintf(news.text, sizeof(news.text), "%s", without_name(session, text));
    wake_touch(&session->wake);
    if (zmq_send(session->news, &news, sizeof(news), 0) < 0 &&
        zmq_errno() == ENOMEM)
        mem_exhausted(); /* the starter would wait for it */
}

/* What is to be said about the login, unless it was said of the last one. */
static void tell_remarks(struct host_session *session)
{
    char text[HOST_SESSION_REMARKS_BYTES], *rest = text, *line;

    snprintf(text, sizeof(text), "%s", remote_remarks(session->remote));
    if (strcmp(text, session->remarks) == 0)
        return;
    memcpy(session->remarks, text, sizeof(text));
    while ((line = strsep(&rest, "\n")))
        if (*line)
            host_session_tell(session, HOST_THREADS_REMARK, 0, line);
}

bool host_session_is_rented(struct host_session *session)
{
    if (!session->rental.is_parked)
        return true;
    host_session_tell(session, HOST_THREADS_PARKED, 0, "");
    while (!session->rental.next)
        if (host_session_told_to_stop(session, -1))
            return false;
    free(session->rental.place);
    session->task.host = session->rental.place = session->rental.next;
    session->rental.next = NULL;
    session->rental.is_parked = session->has_worked = false;
    return true;
}

/* Between connections only: a connection borrows the host. */
static void note_place(struct host_session *session, struct host *place)
{
    free(session->rental.next);
    session->rental.next = place;
}

void host_session_fini(struct host_session *session)
{
    struct host_session_word word = { .text = "" };

    while (zmq_recv(session->news, &word, sizeof(word), ZMQ_DONTWAIT) > 0) {
        if (strcmp(word.text, "PLACE") == 0)
            free(word.place);
        word.text[0] = '\0';
    }
    free(session->rental.place);
    free(session->rental.next);
    invite_wipe(&session->task.invite);
}

bool host_session_told_to_stop(struct host_session *session, long wait_ms)
{
    zmq_pollitem_t item = { .socket = session->news, .events = ZMQ_POLLIN };
    struct host_session_word word = { .text = "" };

    wake_touch(&session->wake);
    if (session->stopping || zmq_poll(&item, 1, wait_ms) <= 0)
        return session->stopping;
    /* nothing to receive: the starter is gone */
    (void)zmq_recv(session->news, &word, sizeof(word), ZMQ_DONTWAIT);
    if (strcmp(word.text, "AGAIN") == 0)
        session->again = true;
    else if (strcmp(word.text, "LOGIN") == 0)
        session->is_admitted = true;
    else if (strcmp(word.text, "PARK") == 0)
        session->rental.is_parked = session->again = true;
    else if (strcmp(word.text, "PLACE") == 0)
        note_place(session, word.place);
    else
        session->stopping = true;
    return session->stopping;
}

int host_session_enter(void *self, const char *server, struct err *err)
{
    struct host_session *session = self;

    session->has_asked = true;
    session->is_admitted = false;
    host_session_tell(session, HOST_THREADS_LOGIN_ASKED, 0, server);
    while (!session->is_admitted)
        if (host_session_told_to_stop(session, -1) || session->rental.is_parked)
            return err_set(err, ERR_NETWORK, "told to stop");
    return 0;
}

/* The login is over, unless that has been said. */
static void leave(struct host_session *session, int rc, const char *text)
{
    if (session->has_asked)
        host_session_tell(session, HOST_THREADS_LOGIN_ENDED, rc, text);
    session->has_asked = false;
}

/* What one turn polls: the news, the stream and the pump's sockets. */
struct watch {
    struct pollfd fds[1 + STREAM_FDS + PUMP_FDS_MAX];
    size_t n;
    bool ready; /* there is already something to read */
};

static void watch_stream(struct host_session *session, struct watch *watch,
                         bool want_read, bool want_write)
{
    watch->fds[0] = wake_poll(&session->wake);
    watch->n = 1 + STREAM_FDS;
    watch->ready =
        stream_poll(session->stream, want_read, want_write, &watch->fds[1]);
}

/* Can the stream go on?  Also when it had to wait for room to send. */
static bool stream_moves(const struct watch *watch)
{
    bool moves = watch->ready;

    for (size_t i = 0; i < STREAM_FDS; i++)
        moves = moves || watch->fds[1 + i].revents;
    return moves;
}

/* Wait for what is watched.  True when told to stop. */
static bool wait_told(struct host_session *session, struct watch *watch,
                      int64_t wait_ms)
{
    if (watch->ready || wake_has(&session->wake))
        wait_ms = 0;
    if (poll(watch->fds, watch->n, (int)wait_ms) < 0)
        for (size_t i = 0; i < watch->n; i++)
            watch->fds[i].revents = 0;
    wake_polled(&session->wake, &watch->fds[0]);
    return wake_has(&session->wake) && host_session_told_to_stop(session, 0);
}

/* Wait for the stream until 'deadline' at the latest.  False at the deadline,
 * or on STOP. */
static bool wait_stream(struct host_session *session, bool to_write,
                        int64_t deadline)
{
    int64_t left = deadline - clock_boot_ns();
    struct watch watch;

    if (left <= 0)
        return false;
    watch_stream(session, &watch, !to_write, to_write);
    return !wait_told(session, &watch, left / NS_PER_MS + 1);
}

/* An error that ends in the far side's output: its stderr, or what came instead
 * of the magic line. */
static int far_side_said(struct host_session *session, int code,
                         const char *what, const struct buf *noise,
                         struct err *err)
{
    char said[SAID_BYTES];

    stream_said(session->stream, said, sizeof(said));
    if (!said[0])
        snprintf(said, sizeof(said), "%s", buf_text(noise));
    for (size_t len = strlen(said); len > 0 && said[len - 1] == '\n'; len--)
        said[len - 1] = '\0';
    terminal_clean(said, true);
    return err_set(err, code, "%s: %s%s%s", session->task.host->name, what,
                   said[0] ? ": " : "", said);
}

/* The system's ssh logs in again for the relay, and may be dropped. */
static int relay_ended(struct host_session *session, const struct buf *noise,
                       int64_t deadline, struct err *err)
{
    int status;

    if (stream_wait(session->stream, deadline, &status, err) == ERR_BUSY)
        return err_within(err, ERR_BUSY, "%s", session->task.host->name);
    return far_side_said(session, ERR_NETWORK,
                         "the worker could not be started", noise, err);
}

/* Read until the relay's magic line.  What follows that line belongs to the
 * frames. */
static int await_magic(struct host_session *session, struct buf *in,
                       struct err *err)
{
    int64_t deadline = clock_boot_ns() + MAGIC_NS;
    char block[4096], version[FRAME_VERSION_BYTES];

    for (;;) {
        size_t frames = 0, n = 0;
        int rc = stream_read(session->stream, block, sizeof(block), &n, err);

        buf_add(in, block, n);
        if (rc < 0)
            return rc;
        rc = rc == STREAM_END && n == 0
                 ? relay_ended(session, in, deadline, err)
                 : frame_find_magic(buf_text(in), in->len, &frames, version,
                                    err);
        if (rc < 0)
            return rc;
        if (rc > 0) {
            buf_take(in, frames);
            return 0;
        }
        if (n == 0 && !wait_stream(session, false, deadline))
            return far_side_said(session, ERR_NETWORK,
                                 "the worker did not answer in time", in, err);
    }
}

static int send_invitation(struct host_session *session, struct err *err)
{
    int64_t deadline = clock_boot_ns() + MAGIC_NS;
    char text[INVITE_BYTES_MAX];
    size_t len = invite_write(&session->task.invite, text), sent = 0, n = 0;
    int rc = 0;

    while (rc == 0 && sent < len) {
        rc = stream_write(session->stream, text + sent, len - sent, &n, err);
        if (rc == 0 && n == 0 && !wait_stream(session, true, deadline))
            rc = err_set(err, ERR_NETWORK, "%s: the relay does not read",
                         session->task.host->name);
        sent += n;
    }
    sodium_memzero(text, sizeof(text));
    return rc;
}

/* The relay passed the invitation to the worker, which refused it.  The
 * worker's own words say it all. */
static int refused(struct host_session *session, struct err *err)
{
    char said[SAID_BYTES];
    char *words;

    stream_said(session->stream, said, sizeof(said));
    words = strstr(said, RELAY_SAYS);
    if (!words)
        return far_side_said(session, ERR_NETWORK, "the worker ended",
                             &session->nothing, err);
    words += strlen(RELAY_SAYS);
    words[strcspn(words, "\n")] = '\0';
    return err_set(err, ERR_NETWORK, "%s: %s", session->task.host->name,
                   terminal_clean(words, false));
}

/* The worker's first connection is its answer to this invitation.  Until then,
 * notes of the relay say what it waits for. */
static void note_attached(struct host_session *session)
{
    char note[FRAME_NOTE_MAX + 1];

    if (pump_heard(session->pump, note)) {
        session->attach_by_ns = clock_boot_ns() + ATTACH_NS;
        host_session_tell(session, HOST_THREADS_WAITING, 0,
                          terminal_clean(note, false));
    }
    if (session->was_attached || !pump_was_opened(session->pump))
        return;
    host_session_tell(session, HOST_THREADS_ATTACHED, 0, "");
    session->was_attached = session->has_worked = true;
}

static int the_worker_ended(struct host_session *session, struct err *err)
{
    return session->was_attached
               ? far_side_said(session, ERR_NETWORK, "the worker ended",
                               &session->nothing, err)
               : refused(session, err);
}

/* How many of 'most' bytes the pump can take now. */
static size_t room_for(const struct host_session *session, size_t most)
{
    return (size_t)int64_min((int64_t)pump_room(session->pump), (int64_t)most);
}

/* From the relay into the pump, until less comes than fits, or it is full. */
static int move_in(struct host_session *session, struct err *err)
{
    char block[READ_BYTES];
    size_t room = 0, n = 0;
    int rc = 0;

    while (rc == 0 && n == room &&
           (room = room_for(session, sizeof(block))) > 0) {
        rc = stream_read(session->stream, block, room, &n, err);
        if (rc == STREAM_END)
            return the_worker_ended(session, err);
        if (rc == 0)
            rc = pump_feed(session->pump, block, n, err);
        if (rc == 0)
            note_attached(session);
    }
    return rc;
}

/* From the pump to the relay, until that takes no more. */
static int move_out(struct host_session *session, struct err *err)
{
    const void *out;
    size_t len, n = 1;
    int rc = 0;

    while (rc == 0 && n > 0 && (out = pump_output(session->pump, &len)) &&
           len > 0) {
        rc = stream_write(session->stream, out, len, &n, err);
        if (rc == 0)
            pump_sent(session->pump, n);
    }
    return rc;
}

/* One turn: wait, then move bytes.  1 when told to stop. */
static int pump_turn(struct host_session *session, struct err *err)
{
    struct watch watch;
    struct pollfd *fds = watch.fds + 1 + STREAM_FDS;
    size_t n, len = 0;
    int rc;

    (void)pump_output(session->pump, &len);
    watch_stream(session, &watch, pump_room(session->pump) > 0, len > 0);
    n = pump_fds(session->pump, fds);
    watch.n += n;
    if (wait_told(session, &watch, TURN_MS))
        return 1;
    if (session->again)
        return err_set(err, ERR_NETWORK,
                       "%s: the host is silent; connecting again",
                       session->task.host->name);
    rc = pump_step(session->pump, fds, n, err);
    if (rc == 0 && stream_moves(&watch))
        rc = move_in(session, err);
    if (rc == 0)
        rc = move_out(session, err);
    if (rc == 0 && !session->was_attached &&
        clock_boot_ns() > session->attach_by_ns)
        rc = far_side_said(session, ERR_NETWORK, "the worker does not answer",
                           &session->nothing, err);
    return rc;
}

static bool writes(const struct pollfd *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i].events & POLLOUT)
            return true;
    return false;
}

/* The last message, a result or BYE, must have reached the ROUTER before the
 * reactor is told of the end. */
static void flush(struct host_session *session)
{
    bool ended = false;
    struct err err;

    for (int turn = 0; turn < FLUSH_TURNS; turn++) {
        struct pollfd fds[PUMP_FDS_MAX];
        size_t n = pump_fds(session->pump, fds);

        if (ended || writes(fds, n))
            (void)poll(fds, (nfds_t)n, FLUSH_TURN_MS);
        else
            pump_end(session->pump);
        ended = ended || !writes(fds, n);
        if (pump_step(session->pump, fds, n, &err) < 0 ||
            pump_streams(session->pump) == 0)
            return;
    }
}

static int pump_until_broken(struct host_session *session, struct buf *first,
                             struct err *err)
{
    int rc = pump_dial(session->socket_path, &session->pump, err);

    while (rc == 0 && first->len > 0) {
        size_t n = room_for(session, first->len);

        rc = pump_feed(session->pump, first->bytes, n, err);
        buf_take(first, n);
        if (rc == 0)
            note_attached(session);
    }
    while (rc == 0)
        rc = pump_turn(session, err);
    if (rc != 1 && session->pump)
        flush(session);
    return rc;
}

static void tell_progress(struct host_session *session)
{
    if (upload_watch_tells(&session->upload, clock_boot_ns()))
        host_session_tell(session, HOST_THREADS_PROGRESS, 0, "");
}

/* For struct deploy_watch. */
static void found(void *self, size_t bytes)
{
    struct host_session *session = self;

    session->is_uploading = true;
    if (upload_watch_found(&session->upload, bytes, clock_boot_ns()))
        tell_progress(session);
}

static void sent(void *self, size_t bytes)
{
    struct host_session *session = self;

    if (upload_watch_sent(&session->upload, bytes, clock_boot_ns()))
        tell_progress(session);
}

static int deploy(struct host_session *session, struct deployed *out,
                  struct err *err)
{
    const struct deploy_watch watch = { found, sent, session };
    int rc;

    tell_remarks(session);
    host_session_tell(session, HOST_THREADS_UPLOADING, 0, "");
    rc = deploy_program(session->remote, session->task.host->workdir,
                        session->task.program, &watch, out, err);
    if (rc == 0)
        session->is_uploading = false;
    return rc;
}

int host_session_attach(struct host_session *session, struct err *err)
{
    struct deployed deployed;
    const char *gpus = host_gpus(session->task.host);
    char command[2 * DEPLOY_PATH_BYTES + sizeof(session->task.host->gpus) + 64];
    struct buf in;
    int rc;

    buf_init(&in, FRAME_NOISE_MAX + READ_BYTES);
    rc = remote_open(session->task.host, &session->remote_options,
                     &session->remote, err);
    if (rc == 0 && !remote_logs_in_again(session->remote))
        leave(session, 0, remote_identity(session->remote));
    if (rc == 0)
        rc = deploy(session, &deployed, err);
    if (rc == 0) {
        snprintf(command, sizeof(command), "%s --attach --workdir %s --gpus %s",
                 deployed.program, deployed.workdir, gpus);
        rc = remote_stream(session->remote, command, &session->stream, err);
    }
    if (rc == 0)
        rc = await_magic(session, &in, err);
    if (rc == 0) {
        leave(session, 0, "");
        session->attach_by_ns = clock_boot_ns() + ATTACH_NS;
        rc = send_invitation(session, err);
    }
    if (rc == 0)
        rc = pump_until_broken(session, &in, err);
    leave(session, rc, err->text);
    pump_free(session->pump);
    stream_close(session->stream);
    remote_close(session->remote);
    session->pump = NULL;
    session->stream = NULL;
    session->remote = NULL;
    buf_fini(&in);
    return rc;
}

bool host_session_is_cut(const struct host_session *session, int rc,
                         struct err *err)
{
    char why[sizeof(err->text)];

    if (!session->is_uploading || rc != ERR_NETWORK)
        return false;
    if (upload_watch_gets_on(&session->upload, clock_boot_ns()))
        return true;
    snprintf(why, sizeof(why), "%s", without_name(session, err->text));
    err_set(err, rc, "no progress with the upload for %d s: %s",
            UPLOAD_WATCH_STILL_S, why);
    return false;
}

bool host_session_is_hopeless(const struct host_session *session, int rc)
{
    if (session->rental.is_rented)
        return rc == ERR_HOST_KEY;
    return !session->has_worked &&
           (rc == ERR_HOST_KEY || rc == ERR_AUTH || rc == ERR_INPUT);
}
