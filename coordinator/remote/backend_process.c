/* A machine behind a child process: the system's ssh, or sh on this one. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/remote/backend.h"
#include "coordinator/remote/openssh.h"
#include "coordinator/ssh_keys/ssh_agent.h"

#define AGENT_MS 5000 /* for the list of its keys */

struct child_remote {
    struct remote base;
    struct openssh *ssh; /* NULL: this machine */
};

struct child_stream {
    struct stream base;
    struct subprocess child;
};

static void drain_errors(struct child_stream *s)
{
    char bytes[4096];
    ssize_t n;

    while (s->child.errors >= 0) {
        n = read(s->child.errors, bytes, sizeof(bytes));
        if (n > 0) {
            stderr_tail_add(&s->base.errors, bytes, (size_t)n);
        } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        } else {
            close(s->child.errors);
            s->child.errors = -1;
        }
    }
}

static int child_read(struct stream *stream, void *bytes, size_t cap, size_t *n,
                      struct err *err)
{
    struct child_stream *s = (struct child_stream *)stream;
    ssize_t got;

    drain_errors(s);
    got = recv(s->child.fd, bytes, cap, MSG_DONTWAIT);
    if (got > 0) {
        *n = (size_t)got;
        return 0;
    }
    if (got == 0 || errno == ECONNRESET)
        return STREAM_END;
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    return err_set(err, ERR_NETWORK, "reading: %s", strerror(errno));
}

static int child_write(struct stream *stream, const void *bytes, size_t len,
                       size_t *n, struct err *err)
{
    struct child_stream *s = (struct child_stream *)stream;
    ssize_t sent = send(s->child.fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent >= 0)
        *n = (size_t)sent;
    else if (errno == EPIPE || errno == ECONNRESET)
        *n = len; /* it does not read its stdin: its status says why */
    else if (errno != EAGAIN && errno != EINTR)
        return err_set(err, ERR_NETWORK, "writing: %s", strerror(errno));
    return 0;
}

static int child_shut(struct stream *stream, struct err *err)
{
    struct child_stream *s = (struct child_stream *)stream;

    (void)err;
    (void)shutdown(s->child.fd, SHUT_WR); /* fails if it has already ended */
    return 1;
}

static bool child_poll(struct stream *stream, bool want_read, bool want_write,
                       struct pollfd fds[STREAM_FDS])
{
    struct child_stream *s = (struct child_stream *)stream;

    fds[0].fd = want_read || want_write ? s->child.fd : -1;
    fds[0].events =
        (short)((want_read ? POLLIN : 0) | (want_write ? POLLOUT : 0));
    fds[1] = (struct pollfd){ .fd = s->child.errors, .events = POLLIN };
    return false;
}

static int child_ended(struct stream *stream, int64_t deadline_ns, int *status,
                       struct err *err)
{
    struct child_stream *s = (struct child_stream *)stream;
    struct child_remote *remote = (struct child_remote *)stream->remote;
    int rc = subprocess_wait(&s->child, deadline_ns, status, err);

    drain_errors(s);
    if (rc < 0 || !remote->ssh || *status != 255)
        return rc;
    return openssh_explain(stream->remote->route, &s->base.errors, err);
}

static void child_close(struct stream *stream)
{
    struct child_stream *s = (struct child_stream *)stream;

    subprocess_stop(&s->child);
    free(s);
}

static const struct stream_ops child_stream_ops = {
    .read = child_read,
    .write = child_write,
    .shut = child_shut,
    .poll = child_poll,
    .wait = child_ended,
    .close = child_close,
};

static int start_command(struct remote *base, const char *command,
                         struct stream **out, struct err *err)
{
    struct child_remote *remote = (struct child_remote *)base;
    const char *const local[] = { "/bin/sh", "-c", command, NULL };
    struct child_stream *s = mem_new(1, sizeof(*s));
    int rc;

    s->base.ops = &child_stream_ops;
    rc = subprocess_start(remote->ssh ? openssh_argv(remote->ssh, command)
                                      : local,
                          &s->child, err);
    if (rc < 0)
        free(s);
    else
        *out = &s->base;
    return rc;
}

static void child_remote_close(struct remote *base)
{
    struct child_remote *remote = (struct child_remote *)base;

    openssh_free(remote->ssh);
    free(remote);
}

static const struct remote_ops child_remote_ops = {
    .start = start_command,
    .close = child_remote_close,
};

static struct child_remote *child_remote_new(const struct host *host)
{
    struct child_remote *remote = mem_new(1, sizeof(*remote));

    remote->base.ops = &child_remote_ops;
    remote->base.host = host;
    return remote;
}

int local_open(const struct host *host, struct remote **out, struct err *err)
{
    (void)err;
    *out = &child_remote_new(host)->base;
    return 0;
}

/* Log in and run nothing: this shows at once whether the host can be
 * reached. */
static int try_login(const struct route *route, struct openssh *ssh,
                     struct err *err)
{
    int64_t ms = (int64_t)route->n * OPENSSH_LOGIN_MS;
    struct stderr_tail errors = { 0 };
    int status, rc = subprocess_output(openssh_argv(ssh, "exit 0"),
                                       clock_boot_ns() + ms * NS_PER_MS, NULL,
                                       &errors, &status, err);

    if (rc == ERR_NETWORK)
        return openssh_explain_silence(route, ms, &errors, err);
    if (rc < 0 || status != 255)
        return rc;
    return openssh_explain(route, &errors, err);
}

/* ssh asks the agent before all else, and waits for ever: without an agent it
 * can still use key files.  Sets 'out' to what is wrong with it. */
static bool agent_is_silent(const struct route *route, struct err *out)
{
    const char *set = route_target(route)->config.agent;
    const char *path = *set ? set : route->options->agent;
    struct ssh_agent *agent;
    int rc;

    if (!path || !*path || strcmp(path, "none") == 0 || access(path, F_OK) != 0)
        return false;
    rc = ssh_agent_open(path, clock_boot_ns() + AGENT_MS * NS_PER_MS, &agent,
                        out);
    ssh_agent_close(agent);
    return rc == ERR_NETWORK;
}

int openssh_open(struct route **route, struct remote **out, struct err *err)
{
    struct child_remote *remote = child_remote_new((*route)->host);
    struct err agent;
    bool silent;
    int rc;

    silent = agent_is_silent(*route, &agent);
    remote->ssh = openssh_new(*route, !silent);
    rc = try_login(*route, remote->ssh, err);
    if (rc < 0 && silent)
        rc = err_within(err, ERR_NETWORK, "login: %s", agent.text);
    if (rc < 0) {
        child_remote_close(&remote->base);
        return rc;
    }
    remote->base.route = *route;
    *route = NULL;
    *out = &remote->base;
    return 0;
}
