#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/remote/ssh_session.h"

/* Returns a connected socket, or -1 with errno. */
static int try_address(const struct addrinfo *a, int64_t deadline_ns)
{
    int fd =
        socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct pollfd ready = { .fd = fd, .events = POLLOUT };
    int failed = 0, one = 1;
    socklen_t size = sizeof(failed);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
        failed = errno;
        if (failed == EINPROGRESS && poll_until(&ready, 1, deadline_ns) < 0)
            failed = ETIMEDOUT;
        else if (failed == EINPROGRESS)
            (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size);
    }
    if (failed == 0)
        return fd;
    close(fd);
    errno = failed;
    return -1;
}

static int connect_direct(struct ssh *ssh, int64_t deadline_ns, struct err *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
    const struct ssh_config *config = ssh->config;
    char port[16];
    int rc;

    snprintf(port, sizeof(port), "%d", config->port);
    rc = getaddrinfo(config->hostname, port, &hints, &list);
    if (rc != 0)
        return err_set(err, ERR_NETWORK,
                       "connect: cannot resolve the name '%s' (%s); check it "
                       "in the hosts file or ~/.ssh/config",
                       config->hostname, gai_strerror(rc));
    errno = EHOSTUNREACH;
    for (struct addrinfo *a = list; a && ssh->fd < 0; a = a->ai_next)
        ssh->fd = try_address(a, deadline_ns);
    rc = errno;
    freeaddrinfo(list);
    if (ssh->fd >= 0)
        return 0;
    return err_set(err, ERR_NETWORK,
                   "connect: %s port %d: %s; is the machine up, and does its "
                   "sshd listen on this port?",
                   config->hostname, config->port, strerror(rc));
}

/* The system's ssh carries the bytes from the last jump host to the host. */
static int connect_jump(struct ssh *ssh, const struct route_hop *jump,
                        struct err *err)
{
    struct ssh_args args = { .argv = { "ssh" }, .n = 1 };
    char target[320];
    int rc;

    snprintf(target, sizeof(target), "[%s]:%d", ssh->config->hostname,
             ssh->config->port);
    ssh_config_args(&jump->host, jump->file, ssh->route->options->home, &args);
    args.argv[args.n++] = "-W";
    args.argv[args.n++] = target;
    args.argv[args.n++] = "--";
    args.argv[args.n++] = jump->host.address;
    rc = subprocess_start(args.argv, &ssh->proxy, err);
    if (rc < 0)
        return err_within(err, rc, "jump host");
    ssh->fd = ssh->proxy.fd;
    return 0;
}

int ssh_connect(struct ssh *ssh, int64_t deadline_ns, struct err *err)
{
    const struct route_hop *jump = route_jump(ssh->route);

    if (ssh->config->revoked_keys)
        return err_set(err, ERR_INPUT,
                       "connect: ~/.ssh/config sets RevokedHostKeys for this "
                       "host, which needs --ssh=openssh");
    if (jump)
        return connect_jump(ssh, jump, err);
    if (*ssh->config->proxy_command)
        return err_set(err, ERR_INPUT,
                       "connect: ~/.ssh/config sets a ProxyCommand for this "
                       "host, which needs --ssh=openssh");
    return connect_direct(ssh, deadline_ns, err);
}
