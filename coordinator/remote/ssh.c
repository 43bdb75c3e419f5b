#include "coordinator/remote/ssh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/remote/openssh.h"
#include "coordinator/remote/ssh_session.h"
#include "coordinator/remote/ssh_stream.h"
#include "coordinator/ssh_keys/known_hosts.h"

#define CONNECT_MS 10000
#define HANDSHAKE_MS 10000
#define JUMP_MS 25000 /* more, for each jump host: connect, log in */
#define AUTH_MS 15000
#define START_MS 10000 /* open a channel and start the command */

int ssh_setup(struct err *err)
{
    if (libssh2_init(0) != 0)
        return err_set(err, ERR_SYSTEM, "libssh2 cannot be initialised");
    return 0;
}

void ssh_cleanup(void)
{
    libssh2_exit();
}

/* ssh, which carries the bytes through the jump hosts, has said something. */
static int jump_failed(struct ssh *ssh, const struct stderr_tail *tail,
                       struct err *err)
{
    return err_within(err, openssh_explain(ssh->route, tail, err),
                      "through a jump host");
}

/* Before its banner, sshd may say "Exceeded MaxStartups". */
static bool has_spoken(const struct ssh *ssh)
{
    const char *banner = libssh2_session_banner_get(ssh->session);

    return banner && strncmp(banner, "SSH-", 4) == 0;
}

static int handshake_failed(struct ssh *ssh, int rc, int64_t ms,
                            struct err *err)
{
    struct stderr_tail tail = { 0 };
    char bytes[2048];
    ssize_t n = ssh->proxy.errors >= 0
                    ? read(ssh->proxy.errors, bytes, sizeof(bytes))
                    : 0;

    if (n > 0) {
        stderr_tail_add(&tail, bytes, (size_t)n);
        return jump_failed(ssh, &tail, err);
    }
    if (rc == LIBSSH2_ERROR_EAGAIN)
        return err_set(
            err, ERR_NETWORK,
            "key exchange: no answer within %d s%s; is this an sshd, "
            "or is the machine overloaded?",
            (int)(ms / 1000),
            ssh->route->n > 1 ? " through the jump hosts" : "");
    if (rc == LIBSSH2_ERROR_KEX_FAILURE || rc == LIBSSH2_ERROR_METHOD_NONE ||
        rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE) {
        snprintf(ssh->lacks, sizeof(ssh->lacks),
                 "agree with the server on algorithms");
        return err_set(err, ERR_NETWORK,
                       "key exchange: libssh2 and the server have no algorithm "
                       "in common (%s): it offers only ETM MACs, AEAD ciphers, "
                       "an RSA host key or sntrup761; use --ssh=openssh",
                       ssh_complaint(ssh));
    }
    return err_set(err, has_spoken(ssh) ? ERR_NETWORK : ERR_BUSY,
                   "key exchange: the server closed the connection (%s); it is "
                   "not an sshd, or has too many logins at once (MaxStartups)",
                   ssh_complaint(ssh));
}

static int handshake(struct ssh *ssh, struct err *err)
{
    int64_t ms = HANDSHAKE_MS + (int64_t)(ssh->route->n - 1) * JUMP_MS;
    int64_t deadline = clock_boot_ns() + ms * NS_PER_MS;
    int rc;

    do {
        rc = libssh2_session_handshake(ssh->session, ssh->fd);
    } while (rc == LIBSSH2_ERROR_EAGAIN && ssh_wait(ssh, deadline) == 0);
    return rc == 0 ? 0 : handshake_failed(ssh, rc, ms, err);
}

static int log_in(struct ssh *ssh, struct err *err)
{
    int rc;

    ssh->session = libssh2_session_init();
    if (!ssh->session)
        mem_exhausted();
    libssh2_session_set_blocking(ssh->session, 0);
    rc = ssh_hostkey_prepare(ssh, err);
    if (rc == 0)
        rc = ssh_connect(ssh, clock_boot_ns() + CONNECT_MS * NS_PER_MS, err);
    if (rc == 0)
        rc = handshake(ssh, err);
    if (rc == 0)
        rc = ssh_hostkey_check(ssh, err);
    if (rc == 0)
        rc = ssh_auth(ssh, clock_boot_ns() + AUTH_MS * NS_PER_MS, err);
    return rc;
}

/* An address may hide several servers, and a server have several addresses. */
static void identify(struct ssh *ssh)
{
    char shown[KNOWN_HOSTS_FINGERPRINT_BYTES];
    size_t len;
    const char *blob = libssh2_session_hostkey(ssh->session, &len, NULL);

    if (ssh->route->n > 1 || !blob)
        return;
    known_hosts_fingerprint(blob, len, shown);
    snprintf(ssh->base.identity, sizeof(ssh->base.identity), "%s %s", shown,
             libssh2_session_banner_get(ssh->session));
}

static void close_session(struct remote *remote)
{
    struct ssh *ssh = (struct ssh *)remote;

    if (ssh->session) {
        (void)libssh2_session_disconnect(ssh->session, "done");
        if (ssh->fd >= 0)
            shutdown(ssh->fd, SHUT_RDWR); /* so that the free cannot block */
        while (libssh2_session_free(ssh->session) == LIBSSH2_ERROR_EAGAIN)
            ;
    }
    if (ssh->proxy.pid)
        subprocess_stop(&ssh->proxy); /* closes fd too: its socket */
    else if (ssh->fd >= 0)
        close(ssh->fd);
    free(ssh);
}

static int start_command(struct remote *remote, const char *command,
                         struct stream **out, struct err *err)
{
    return ssh_stream_open((struct ssh *)remote, command,
                           clock_boot_ns() + START_MS * NS_PER_MS, out, err);
}

static const struct remote_ops ssh_ops = {
    .start = start_command,
    .close = close_session,
};

int ssh_open(const struct route *route, char lacks[SSH_LACKS_BYTES],
             struct remote **out, struct err *err)
{
    struct ssh *ssh = mem_new(1, sizeof(*ssh));
    int rc;

    ssh->base.ops = &ssh_ops;
    ssh->base.host = route->host;
    ssh->route = route;
    ssh->config = &route_target(route)->config;
    ssh->fd = ssh->proxy.fd = ssh->proxy.errors = -1;
    rc = log_in(ssh, err);
    memcpy(lacks, ssh->lacks, sizeof(ssh->lacks));
    if (rc < 0) {
        close_session(&ssh->base);
        return rc;
    }
    identify(ssh);
    ssh->route = NULL;
    ssh->config = NULL;
    *out = &ssh->base;
    return 0;
}
