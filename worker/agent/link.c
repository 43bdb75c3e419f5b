#include "worker/agent/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "common/buf.h"
#include "common/curve.h"
#include "common/mem.h"

struct link {
    void *zctx;
    void *socket;
    struct invite invite;
    bool heard; /* a message came over this connection */
};

static int zmq_err(const struct link *link, int code, struct err *err)
{
    return err_set(err, code, "%s: %s", link->invite.endpoint,
                   zmq_strerror(zmq_errno()));
}

static int connect_socket(struct link *link, struct err *err)
{
    const struct invite *invite = &link->invite;
    char address[INVITE_ENDPOINT_BYTES];
    int rc;

    invite_address(invite, address);
    link->heard = false;
    link->socket = zmq_socket(link->zctx, ZMQ_DEALER);
    if (!link->socket)
        return zmq_err(link, ERR_SYSTEM, err);
    rc = curve_client(link->socket, invite->server_key, invite->public_key,
                      invite->secret_key, err);
    if (rc == 0 && zmq_connect(link->socket, address) < 0)
        rc = zmq_err(link, ERR_SYSTEM, err);
    return rc;
}

/* "tcp://1.2.3.4:5" and "tcp://[::1]:5" */
static bool is_numeric(const char *endpoint, size_t n)
{
    char host[INVITE_ENDPOINT_BYTES];
    unsigned char address[16];
    const char *at = endpoint + strlen("tcp://");
    const char *port = memrchr(endpoint, ':', n);
    size_t len = port > at ? (size_t)(port - at) : 0;

    if (len == 0 || strncmp(endpoint, "tcp://", 6) != 0)
        return false;
    memcpy(host, at, len);
    host[len] = '\0';
    if (host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        return inet_pton(AF_INET6, host + 1, address) == 1;
    }
    return inet_pton(AF_INET, host, address) == 1;
}

static bool all_numeric(const char *endpoint)
{
    for (;;) {
        size_t n = strcspn(endpoint, ",");

        if (!is_numeric(endpoint, n))
            return false;
        if (!endpoint[n])
            return true;
        endpoint += n + 1;
    }
}

int link_open(void *zctx, const struct invite *invite, struct link **out,
              struct err *err)
{
    struct link *link;
    int rc;

    if (strncmp(invite->endpoint, "tcp://", 6) == 0 &&
        !all_numeric(invite->endpoint))
        return err_set(err, ERR_INPUT,
                       "%.100s: must be a numeric address and a port",
                       invite->endpoint);
    link = mem_new(1, sizeof(*link));
    link->zctx = zctx;
    link->invite = *invite;
    rc = connect_socket(link, err);
    if (rc < 0) {
        link_close(link, 0);
        return rc;
    }
    *out = link;
    return 0;
}

void link_close(struct link *link, int linger_ms)
{
    if (!link)
        return;
    if (link->socket) {
        zmq_setsockopt(link->socket, ZMQ_LINGER, &linger_ms, sizeof(linger_ms));
        zmq_close(link->socket);
    }
    invite_wipe(&link->invite);
    free(link);
}

int link_renew(struct link *link, struct err *err)
{
    if (link->socket)
        zmq_close(link->socket);
    link->socket = NULL;
    if (!link->heard)
        (void)invite_next_address(&link->invite);
    return connect_socket(link, err);
}

bool link_tries_others(const struct link *link)
{
    return !link->heard && strchr(link->invite.endpoint, ',');
}

void *link_socket(const struct link *link)
{
    return link->socket;
}

const struct invite *link_invite(const struct link *link)
{
    return &link->invite;
}

int64_t link_epoch(const struct link *link)
{
    return link->invite.epoch;
}

int link_send_bytes(struct link *link, const void *bytes, size_t len,
                    struct err *err)
{
    if (zmq_send(link->socket, bytes, len, ZMQ_DONTWAIT) >= 0)
        return 0;
    if (zmq_errno() == ENOMEM)
        mem_exhausted(); /* the next worker tells what this one did not */
    return zmq_err(link, ERR_NETWORK, err);
}

int link_send(struct link *link, struct msg *msg, struct err *err)
{
    struct buf bytes;
    int rc;

    msg->epoch = link->invite.epoch;
    buf_init(&bytes, MSG_BYTES_MAX);
    rc = msg_encode(msg, &bytes, err);
    if (rc == 0)
        rc = link_send_bytes(link, bytes.bytes, bytes.len, err);
    buf_fini(&bytes);
    return rc;
}

int link_recv(struct link *link, struct msg *out, struct err *err)
{
    zmq_msg_t frame;
    int rc;

    zmq_msg_init(&frame);
    if (zmq_msg_recv(&frame, link->socket, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&frame);
        return 0; /* EAGAIN; other errors show up as silence */
    }
    link->heard = true;
    if (zmq_msg_more(&frame))
        rc = err_set(err, ERR_PROTO, "message of more than one part");
    else
        rc = msg_decode(zmq_msg_data(&frame), zmq_msg_size(&frame), out, err);
    zmq_msg_close(&frame);
    return rc < 0 ? rc : 1;
}
