/* If the socket took only part of a packet, the same call must finish it before
 * any other packet is sent (libssh2 returns BAD_USE otherwise). Reading sends
 * packets too: it opens the window.  So written bytes go through a small buffer
 * here, and while a packet of one direction is stuck, the other direction
 * waits. */
#include "coordinator/remote/ssh_stream.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/remote/ssh_session.h"

#define WINDOW_BYTES (8 << 20) /* 2 MiB gives 30 MB/s at 50 ms round trip */
#define OUT_BYTES 32768        /* one SSH packet */
#define REFUSED_MS 2000        /* for the end of the last session */
#define AGAIN_MS 20
#define CLOSE_MS 1000 /* to say goodbye; not worth more */

enum stuck {
    STUCK_NOT,
    STUCK_READ,
    STUCK_WRITE,
    STUCK_END /* sending end-of-file */
};

struct ssh_stream {
    struct stream base;
    struct ssh *ssh;
    LIBSSH2_CHANNEL *channel;
    enum stuck stuck;
    char out[OUT_BYTES]; /* accepted, not yet sent */
    size_t out_len;
    bool ended; /* end-of-file is sent */
};

/* Remember which call must be repeated after EAGAIN. */
static void set_stuck(struct ssh_stream *s, ssize_t rc, enum stuck by)
{
    bool half = rc == LIBSSH2_ERROR_EAGAIN &&
                libssh2_session_block_directions(s->ssh->session) &
                    LIBSSH2_SESSION_BLOCK_OUTBOUND;

    s->stuck = half ? by : STUCK_NOT;
}

static bool is_free(const struct ssh_stream *s, enum stuck by)
{
    return s->stuck == STUCK_NOT || s->stuck == by;
}

static int broken(struct ssh_stream *s, struct err *err)
{
    return err_set(err, ERR_NETWORK, "the connection broke (%s)",
                   ssh_complaint(s->ssh));
}

static int flush(struct ssh_stream *s, struct err *err)
{
    while (s->out_len > 0 && is_free(s, STUCK_WRITE)) {
        ssize_t n = libssh2_channel_write(s->channel, s->out, s->out_len);

        set_stuck(s, n, STUCK_WRITE);
        if (n == LIBSSH2_ERROR_EAGAIN || n == 0)
            return 0;
        if (n == LIBSSH2_ERROR_CHANNEL_CLOSED ||
            n == LIBSSH2_ERROR_CHANNEL_EOF_SENT) {
            s->out_len = 0; /* it does not read: its status says why */
            return 0;
        }
        if (n < 0)
            return broken(s, err);
        s->out_len -= (size_t)n;
        memmove(s->out, s->out + n, s->out_len);
    }
    return 0;
}

/* Packets that have arrived are read without asking the socket again. */
static int read_errors(struct ssh_stream *s, struct err *err)
{
    char bytes[4096];
    ssize_t n = 1;

    while (n > 0 && libssh2_poll_channel_read(s->channel, 1)) {
        n = libssh2_channel_read_stderr(s->channel, bytes, sizeof(bytes));
        if (n > 0)
            stderr_tail_add(&s->base.errors, bytes, (size_t)n);
        set_stuck(s, n, STUCK_READ);
    }
    return n < 0 && n != LIBSSH2_ERROR_EAGAIN ? broken(s, err) : 0;
}

/* Reading stdout takes everything from the socket, also stderr. */
static int stream_take(struct stream *stream, void *bytes, size_t cap,
                       size_t *n, struct err *err)
{
    struct ssh_stream *s = (struct ssh_stream *)stream;
    ssize_t got;
    int rc = flush(s, err);

    if (rc < 0 || !is_free(s, STUCK_READ))
        return rc;
    got = libssh2_channel_read(s->channel, bytes, cap);
    set_stuck(s, got, STUCK_READ);
    if (got < 0 && got != LIBSSH2_ERROR_EAGAIN)
        return broken(s, err);
    rc = read_errors(s, err);
    if (got > 0) {
        *n = (size_t)got;
        return 0; /* the next call finds what broke */
    }
    return rc == 0 && libssh2_channel_eof(s->channel) ? STREAM_END : rc;
}

static int stream_give(struct stream *stream, const void *bytes, size_t len,
                       size_t *n, struct err *err)
{
    struct ssh_stream *s = (struct ssh_stream *)stream;
    int rc = flush(s, err);
    size_t room = OUT_BYTES - s->out_len;

    /* The buffer of a stuck packet must not change. */
    if (rc < 0 || s->stuck == STUCK_WRITE)
        return rc;
    if (libssh2_channel_eof(s->channel)) {
        *n = len; /* the program no longer reads */
        return 0;
    }
    *n = len < room ? len : room;
    memcpy(s->out + s->out_len, bytes, *n);
    s->out_len += *n;
    return flush(s, err);
}

static int stream_end(struct stream *stream, struct err *err)
{
    struct ssh_stream *s = (struct ssh_stream *)stream;
    int rc = flush(s, err);

    if (rc < 0 || s->ended)
        return rc < 0 ? rc : 1;
    if (s->out_len > 0 || !is_free(s, STUCK_END))
        return 0;
    rc = libssh2_channel_send_eof(s->channel);
    set_stuck(s, rc, STUCK_END);
    if (rc == LIBSSH2_ERROR_EAGAIN)
        return 0;
    if (rc < 0 && rc != LIBSSH2_ERROR_CHANNEL_CLOSED)
        return broken(s, err);
    s->ended = true;
    return 1;
}

static bool stream_watch(struct stream *stream, bool want_read, bool want_write,
                         struct pollfd fds[STREAM_FDS])
{
    struct ssh_stream *s = (struct ssh_stream *)stream;
    unsigned long queued = 0;

    if (want_read && is_free(s, STUCK_READ)) {
        (void)libssh2_channel_window_read_ex(s->channel, &queued, NULL);
        if (queued > 0 || libssh2_channel_eof(s->channel))
            return true;
    }
    fds[0].fd = s->ssh->fd;
    if (want_read || want_write || s->out_len > 0)
        fds[0].events |= POLLIN; /* opening the window sends a packet too */
    if (s->stuck != STUCK_NOT)
        fds[0].events |= POLLOUT;
    if (fds[0].events == 0)
        fds[0].fd = -1;
    return false;
}

static int exit_status(struct ssh_stream *s)
{
    LIBSSH2_CHANNEL *channel = s->channel;
    char *name = NULL;
    size_t len = 0;
    int status = libssh2_channel_get_exit_status(channel);

    libssh2_channel_get_exit_signal(channel, &name, &len, NULL, NULL, NULL,
                                    NULL);
    for (int i = 1; name && i < NSIG; i++)
        if (sigabbrev_np(i) && strcmp(sigabbrev_np(i), name) == 0)
            status = 128 + i;
    libssh2_free(s->ssh->session, name);
    return status;
}

/* Repeat once the call whose packet is stuck.  What it reads is discarded. */
static int repeat_stuck(struct ssh_stream *s, struct err *err)
{
    char unwanted[4096];
    size_t n;

    switch (s->stuck) {
    case STUCK_READ:
        return stream_take(&s->base, unwanted, sizeof(unwanted), &n, err);
    case STUCK_WRITE:
        return flush(s, err);
    case STUCK_END:
        return stream_end(&s->base, err);
    case STUCK_NOT:
        break;
    }
    return 0;
}

static int stream_finish(struct stream *stream, int64_t deadline_ns,
                         int *status, struct err *err)
{
    struct ssh_stream *s = (struct ssh_stream *)stream;
    int rc;

    while (s->stuck != STUCK_NOT) {
        rc = repeat_stuck(s, err);
        if (rc < 0)
            return rc;
        if (s->stuck != STUCK_NOT && ssh_wait(s->ssh, deadline_ns) < 0)
            return err_set(err, ERR_NETWORK, "the command did not end in time");
    }
    /* Three waits are needed: closing returns at any packet from the server,
     * and the wait for its close is refused before its end-of-file has come. */
    do {
        rc = libssh2_channel_close(s->channel);
    } while (rc == LIBSSH2_ERROR_EAGAIN && ssh_wait(s->ssh, deadline_ns) == 0);
    while (rc == 0 || rc == LIBSSH2_ERROR_EAGAIN) {
        rc = libssh2_channel_wait_eof(s->channel);
        if (rc != LIBSSH2_ERROR_EAGAIN || ssh_wait(s->ssh, deadline_ns) < 0)
            break;
    }
    while (rc == 0 || rc == LIBSSH2_ERROR_EAGAIN) {
        rc = libssh2_channel_wait_closed(s->channel);
        if (rc != LIBSSH2_ERROR_EAGAIN || ssh_wait(s->ssh, deadline_ns) < 0)
            break;
    }
    if (rc == LIBSSH2_ERROR_EAGAIN)
        return err_set(err, ERR_NETWORK, "the command did not end in time");
    if (rc < 0)
        return broken(s, err);
    *status = exit_status(s);
    return 0;
}

static void stream_free(struct stream *stream)
{
    struct ssh_stream *s = (struct ssh_stream *)stream;
    int64_t deadline = clock_boot_ns() + CLOSE_MS * NS_PER_MS;

    /* Closing the session frees what is left after the deadline. */
    while (libssh2_channel_free(s->channel) == LIBSSH2_ERROR_EAGAIN)
        if (ssh_wait(s->ssh, deadline) < 0)
            break;
    free(s);
}

static const struct stream_ops ssh_stream_ops = {
    .read = stream_take,
    .write = stream_give,
    .shut = stream_end,
    .poll = stream_watch,
    .wait = stream_finish,
    .close = stream_free,
};

/* Why a channel is not open: a refusal, for which 'fmt' has the complaint, is
 * the server's word; all else says nothing of how it is set up. */
static int not_open(struct ssh *ssh, int rc, const char *fmt, struct err *err)
    __attribute__((format(printf, 3, 0)));

static int not_open(struct ssh *ssh, int rc, const char *fmt, struct err *err)
{
    if (rc == LIBSSH2_ERROR_CHANNEL_FAILURE ||
        rc == LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED)
        return err_set(err, ERR_NETWORK, fmt, ssh_complaint(ssh));
    if (rc == LIBSSH2_ERROR_EAGAIN)
        return err_set(
            err, ERR_NETWORK,
            "the server does not answer a request for a session in time");
    return err_set(err, ERR_NETWORK, "the connection broke (%s)",
                   ssh_complaint(ssh));
}

/* With MaxSessions 1, the server may still be ending the last session: it
 * refuses, and is asked again for a moment. */
static int open_channel(struct ssh_stream *s, int64_t deadline_ns,
                        struct err *err)
{
    LIBSSH2_SESSION *session = s->ssh->session;
    int64_t until_ns = clock_boot_ns() + REFUSED_MS * NS_PER_MS;

    for (;;) {
        int rc;

        s->channel = libssh2_channel_open_ex(
            session, "session", sizeof("session") - 1, WINDOW_BYTES,
            LIBSSH2_CHANNEL_PACKET_DEFAULT, NULL, 0);
        if (s->channel)
            return 0;
        rc = libssh2_session_last_errno(session);
        if (rc == LIBSSH2_ERROR_EAGAIN && ssh_wait(s->ssh, deadline_ns) == 0)
            continue;
        if (rc != LIBSSH2_ERROR_CHANNEL_FAILURE || clock_boot_ns() >= until_ns)
            return not_open(s->ssh, rc,
                            "the server refuses to open a session (%s); see "
                            "MaxSessions in its sshd_config",
                            err);
        (void)poll_until(NULL, 0, clock_boot_ns() + AGAIN_MS * NS_PER_MS);
    }
}

int ssh_stream_open(struct ssh *ssh, const char *command, int64_t deadline_ns,
                    struct stream **out, struct err *err)
{
    struct ssh_stream *s = mem_new(1, sizeof(*s));
    int rc;

    s->base.ops = &ssh_stream_ops;
    s->ssh = ssh;
    rc = open_channel(s, deadline_ns, err);
    if (rc < 0) {
        free(s);
        return rc;
    }
    do {
        rc = libssh2_channel_exec(s->channel, command);
    } while (rc == LIBSSH2_ERROR_EAGAIN && ssh_wait(ssh, deadline_ns) == 0);
    if (rc != 0) {
        rc = not_open(ssh, rc,
                      "the server does not run the command (%s); does it set "
                      "a ForceCommand, or has the user no shell?",
                      err);
        stream_free(&s->base);
        return rc;
    }
    *out = &s->base;
    return 0;
}
