#include "coordinator/link/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"

static bool is_numeric(const char *address)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET, address, bytes) == 1 ||
           inet_pton(AF_INET6, address, bytes) == 1;
}

/* "1.2.3.4:5", "[::1]:5" or an address alone: where its port is, or NULL. */
static const char *port_of(const char *text)
{
    const char *close = strchr(text, ']'), *colon = strrchr(text, ':');

    if (close)
        return close[1] == ':' ? close + 2 : NULL;
    return colon && colon == strchr(text, ':') ? colon + 1 : NULL;
}

int listen_read(const char *text, struct listen *out, struct err *err)
{
    const char *port = text ? port_of(text) : NULL;
    size_t len = !text ? 0 : port ? (size_t)(port - 1 - text) : strlen(text);
    char *end = NULL;

    *out = (struct listen){ .port = 0 };
    if (!text)
        return 0;
    if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    if (len < sizeof(out->address))
        memcpy(out->address, text, len);
    if (port)
        out->port = (int)strtol(port, &end, 10);
    if (!is_numeric(out->address))
        return err_set(err, ERR_INPUT,
                       "--listen=%s: write a numeric address of this machine, "
                       "such as 10.0.0.5, 10.0.0.5:4711 or [fd00::5]:4711",
                       text);
    if (port &&
        (*end || strlen(port) > 5 || out->port < 1 || out->port > 65535))
        return err_set(err, ERR_INPUT, "--listen: port '%s' is not in 1..65535",
                       port);
    return 0;
}

static void endpoint(const char *address, int port, char *out, size_t size)
{
    bool v6 = strchr(address, ':');
    char number[16] = "*";

    if (port > 0)
        snprintf(number, sizeof(number), "%d", port);
    snprintf(out, size, "tcp://%s%s%s:%s", v6 ? "[" : "", address,
             v6 ? "]" : "", number);
}

void listen_endpoint(const struct listen *listen, char *out, size_t size)
{
    endpoint(listen->address[0] ? listen->address : "*", listen->port, out,
             size);
}

int listen_free_port(const struct listen *listen, int *port, struct err *err)
{
    bool v6 = strchr(listen->address, ':');
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
    struct sockaddr *at = v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in;
    socklen_t len = v6 ? sizeof(in6) : sizeof(in);
    int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = 0;

    if (listen->address[0])
        inet_pton(v6 ? AF_INET6 : AF_INET, listen->address,
                  v6 ? (void *)&in6.sin6_addr : (void *)&in.sin_addr);
    if (fd < 0 || bind(fd, at, len) < 0 || getsockname(fd, at, &len) < 0)
        rc = err_set(err, ERR_SYSTEM, "a free port of %s: %s",
                     listen->address[0] ? listen->address : "this machine",
                     strerror(errno));
    else
        *port = ntohs(v6 ? in6.sin6_port : in.sin_port);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* The text of an address that other machines may reach, or false. */
static bool routable(const struct ifaddrs *one, char out[INET6_ADDRSTRLEN])
{
    const struct sockaddr *address = one->ifa_addr;

    if (!address || !(one->ifa_flags & IFF_UP) ||
        (one->ifa_flags & IFF_LOOPBACK))
        return false;
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, address, sizeof(in));
        return ntohl(in.sin_addr.s_addr) >> 16 != 0xa9fe && /* link-local */
               inet_ntop(AF_INET, &in.sin_addr, out, INET6_ADDRSTRLEN);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;

        memcpy(&in, address, sizeof(in));
        return !IN6_IS_ADDR_LINKLOCAL(&in.sin6_addr) &&
               inet_ntop(AF_INET6, &in.sin6_addr, out, INET6_ADDRSTRLEN);
    }
    return false;
}

static void add(char *out, size_t size, const char *address, int port)
{
    size_t len = strlen(out);
    char one[INET6_ADDRSTRLEN + 32];

    endpoint(address, port, one, sizeof(one));
    if (len + strlen(one) + 2 <= size)
        snprintf(out + len, size - len, "%s%s", len ? "," : "", one);
}

void listen_addresses(const struct listen *listen, int port, char *out,
                      size_t size)
{
    struct ifaddrs *all = NULL;
    char address[INET6_ADDRSTRLEN];
    int n = 0;

    out[0] = '\0';
    if (listen->address[0]) {
        add(out, size, listen->address, port);
        return;
    }
    if (getifaddrs(&all) < 0)
        all = NULL;
    for (const struct ifaddrs *one = all; one; one = one->ifa_next)
        if (n < LISTEN_ADDRESSES_MAX && routable(one, address)) {
            add(out, size, address, port);
            n++;
        }
    freeifaddrs(all);
    if (n == 0)
        add(out, size, "127.0.0.1", port);
}
