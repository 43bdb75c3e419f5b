#include "coordinator/remote/remote.h"

#include <assert.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/int64.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/remote/backend.h"
#include "coordinator/text/suggest.h"

#define REMARKS_MAX 4096

int remote_ssh_read(const char *word, enum remote_ssh *out, struct err *err)
{
    static const char *const words[] = {
        [REMOTE_SSH_AUTO] = "auto",
        [REMOTE_SSH_LIBSSH2] = "libssh2",
        [REMOTE_SSH_OPENSSH] = "openssh",
    };
    enum {
        N_WORDS = sizeof(words) / sizeof(words[0])
    };
    char ending[SUGGEST_BYTES];

    for (size_t i = 0; i < N_WORDS; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (enum remote_ssh)i;
            return 0;
        }
    return err_set(err, ERR_INPUT,
                   "--ssh=%.32s: choose auto, libssh2 or openssh%s", word,
                   suggest_ending(word, strlen(word), words, N_WORDS, ending));
}

/* libssh2 if it can, else the system's ssh; 'lacks' says what libssh2 cannot
 * do. */
static int open_either(struct route **route, char lacks[SSH_LACKS_BYTES],
                       struct remote **out, struct err *err)
{
    struct err first;
    bool tried = !ssh_lacks_before(*route, lacks);
    int rc, first_rc = 0;

    if (tried) {
        first_rc = ssh_open(*route, lacks, out, err);
        if (first_rc == 0 || !*lacks)
            return first_rc;
        first = *err;
    }
    rc = openssh_open(route, out, err);
    if (rc == ERR_SYSTEM && tried) /* there is no ssh */
        return err_set(err, first_rc, "%s", first.text);
    return rc < 0 ? err_within(err, rc, "libssh2 cannot %s", lacks) : rc;
}

/* Many names may be one address.  What cannot be resolved keeps its name; the
 * connection will say why. */
static void resolve(const struct ssh_config *config, char *out, size_t size)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;

    snprintf(out, size, "%s", config->hostname);
    if (*config->proxy_command ||
        getaddrinfo(config->hostname, NULL, &hints, &list) != 0)
        return;
    (void)getnameinfo(list->ai_addr, list->ai_addrlen, out, (socklen_t)size,
                      NULL, 0, NI_NUMERICHOST); /* else the name stays */
    freeaddrinfo(list);
}

static int pass_gate(const struct route *route, struct err *err)
{
    const struct remote_gate *gate = &route->options->gate;
    const struct ssh_config *first = &route->hops[0]->config;
    char address[sizeof(first->hostname)], server[sizeof(address) + 16];

    if (!gate->enter)
        return 0;
    resolve(first, address, sizeof(address));
    snprintf(server, sizeof(server), "%s:%d", address, first->port);
    return err_only(gate->enter(gate->self, server, err));
}

static int open_ssh(const struct host *host,
                    const struct remote_options *options, struct remote **out,
                    struct err *err)
{
    char lacks[SSH_LACKS_BYTES] = "", unused[SSH_LACKS_BYTES];
    struct route *route;
    struct buf remarks;
    int rc = route_open(host, options, &route, err);

    if (rc < 0)
        return rc;
    buf_init(&remarks, REMARKS_MAX);
    for (size_t i = 0; i < route->n; i++)
        buf_str(&remarks, buf_text(&route->hops[i]->known.warnings));
    rc = pass_gate(route, err);
    if (rc == 0 && options->ssh == REMOTE_SSH_AUTO)
        rc = open_either(&route, lacks, out, err);
    else if (rc == 0 && options->ssh == REMOTE_SSH_OPENSSH)
        rc = openssh_open(&route, out, err);
    else if (rc == 0)
        rc = ssh_open(route, unused, out, err);
    route_free(route);
    if (rc == 0 && *lacks)
        buf_printf(&remarks, "libssh2 cannot %s; the system's ssh is used\n",
                   lacks);
    if (rc < 0)
        buf_fini(&remarks);
    else
        (*out)->remarks = remarks;
    return rc;
}

int remote_open(const struct host *host, const struct remote_options *options,
                struct remote **out, struct err *err)
{
    int rc;

    *out = NULL;
    rc = host->local ? local_open(host, out, err)
                     : open_ssh(host, options, out, err);
    return rc < 0 ? err_within(err, rc, "%s", host->name) : 0;
}

void remote_close(struct remote *remote)
{
    if (!remote)
        return;
    assert(!remote->streaming);
    buf_fini(&remote->remarks);
    route_free(remote->route);
    remote->ops->close(remote);
}

const char *remote_remarks(const struct remote *remote)
{
    return buf_text(&remote->remarks);
}

const char *remote_identity(const struct remote *remote)
{
    return remote->identity;
}

bool remote_logs_in_again(const struct remote *remote)
{
    return remote->route;
}

int remote_stream(struct remote *remote, const char *command,
                  struct stream **out, struct err *err)
{
    int rc;

    assert(!remote->streaming);
    *out = NULL;
    rc = remote->ops->start(remote, command, out, err);
    if (rc < 0)
        return err_within(err, rc, "%s", remote->host->name);
    (*out)->remote = remote;
    remote->streaming = true;
    return 0;
}

/* Something came or went at last. */
static void put_off(const struct remote_io *io, int64_t *deadline_ns)
{
    if (io->idle_ns)
        *deadline_ns = int64_max(*deadline_ns, clock_boot_ns() + io->idle_ns);
}

/* Send the input, then end-of-file.  Returns 1 when all of it is sent. */
static int feed(struct stream *stream, const struct remote_io *io, size_t *sent,
                int64_t *deadline_ns, struct err *err)
{
    while (*sent < io->input_len) {
        size_t n;
        int rc = stream_write(stream, (const char *)io->input + *sent,
                              io->input_len - *sent, &n, err);

        if (rc < 0 || n == 0)
            return rc;
        *sent += n;
        put_off(io, deadline_ns);
        if (io->sent)
            io->sent(io->self, *sent);
    }
    return stream_shut(stream, err);
}

static int timed_out(const struct remote_io *io, struct err *err)
{
    return io->idle_ns
               ? err_set(err, ERR_NETWORK,
                         "nothing went through the connection for %d s",
                         (int)(io->idle_ns / NS_PER_S))
               : err_set(err, ERR_NETWORK, "the command did not end in time");
}

static int pump(struct stream *stream, const struct remote_io *io,
                int64_t *deadline_ns, struct err *err)
{
    size_t sent = 0, n;
    bool fed = false;
    char bytes[16384];

    for (;;) {
        struct pollfd fds[STREAM_FDS];
        int rc;

        do {
            rc = stream_read(stream, bytes, sizeof(bytes), &n, err);
            if (rc == 0 && n && io->out)
                buf_add(io->out, bytes, n);
            if (n)
                put_off(io, deadline_ns);
        } while (rc == 0 && n > 0);
        if (rc != 0)
            return rc == STREAM_END ? 0 : rc;
        if (!fed) {
            rc = feed(stream, io, &sent, deadline_ns, err);
            if (rc < 0)
                return rc;
            fed = rc;
        }
        if (!stream_poll(stream, true, !fed, fds) &&
            poll_until(fds, STREAM_FDS, *deadline_ns) < 0)
            return timed_out(io, err);
        if (clock_boot_ns() > *deadline_ns)
            return timed_out(io, err);
    }
}

int remote_exec(struct remote *remote, const char *command,
                const struct remote_io *io, int *status, struct err *err)
{
    struct stream *stream;
    int64_t deadline_ns = io->deadline_ns;
    int rc = remote_stream(remote, command, &stream, err);

    if (rc < 0)
        return rc;
    rc = pump(stream, io, &deadline_ns, err);
    if (rc == 0)
        rc = stream_wait(stream, deadline_ns, status, err);
    if (io->said)
        stream_said(stream, io->said, io->said_size);
    stream_close(stream);
    return rc < 0 ? err_within(err, rc, "%s", remote->host->name) : 0;
}
