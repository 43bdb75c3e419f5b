#include "coordinator/link/router.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>
#include <zmq.h>

#include "common/curve.h"
#include "common/mem.h"

#define ZAP_ENDPOINT "inproc://zeromq.zap.01"
#define ZAP_DOMAIN "fa-coord"
#define SOCKET_PATH_MAX 107
#define ROUTING_ID_BYTES_MAX 255
#define ZAP_FRAMES_MAX 16
/* A foreign client that says nothing loses its connection then. */
#define HANDSHAKE_MS 10000

struct peer {
    char public_key[CURVE_KEY_BYTES]; /* "" until admitted */
    unsigned char routing_id[ROUTING_ID_BYTES_MAX];
    size_t routing_id_len; /* 0 until it has sent a message */
    unsigned char before[ROUTING_ID_BYTES_MAX]; /* the one before */
    size_t before_len;
};

struct router {
    void *socket;
    void *zap;
    struct peer *peers;
    size_t n_peers;
    size_t refused;
    char public_key[CURVE_KEY_BYTES];
};

static int zerr(struct err *err, const char *what)
{
    return err_set(err, ERR_SYSTEM, "%s: %s", what, zmq_strerror(zmq_errno()));
}

static int own_keys(struct router *router, const struct router_keys *keys,
                    char secret_key[CURVE_KEY_BYTES], struct err *err)
{
    if (!keys)
        return curve_keypair(router->public_key, secret_key, err);
    memcpy(router->public_key, keys->public_key, CURVE_KEY_BYTES);
    memcpy(secret_key, keys->secret_key, CURVE_KEY_BYTES);
    return 0;
}

int router_open(void *zctx, const char *path, size_t hosts,
                const struct router_keys *keys, struct router **out,
                struct err *err)
{
    struct router *router = mem_new(1, sizeof(*router));
    char secret_key[CURVE_KEY_BYTES] = "", endpoint[128];
    int rc, no_linger = 0;

    router->peers = mem_new(hosts, sizeof(*router->peers));
    router->n_peers = hosts;
    router->zap = zmq_socket(zctx, ZMQ_REP);
    router->socket = zmq_socket(zctx, ZMQ_ROUTER);
    if (!router->zap || !router->socket) {
        rc = zerr(err, "ZeroMQ");
        goto out;
    }
    if (strlen(path) > SOCKET_PATH_MAX) {
        rc = err_set(err, ERR_SYSTEM,
                     "%s: longer than the %d bytes of a socket's path; set "
                     "XDG_RUNTIME_DIR to a shorter folder",
                     path, SOCKET_PATH_MAX);
        goto out;
    }
    snprintf(endpoint, sizeof(endpoint), "ipc://%s", path);
    rc = own_keys(router, keys, secret_key, err);
    if (rc == 0)
        rc = curve_server(router->socket, ZAP_DOMAIN, secret_key, err);
    if (rc == 0 && (zmq_setsockopt(router->zap, ZMQ_LINGER, &no_linger,
                                   sizeof(no_linger)) < 0 ||
                    zmq_bind(router->zap, ZAP_ENDPOINT) < 0 ||
                    zmq_bind(router->socket, endpoint) < 0))
        rc = zerr(err, endpoint);
out:
    sodium_memzero(secret_key, sizeof(secret_key));
    if (rc < 0) {
        router_close(router);
        return rc;
    }
    *out = router;
    return 0;
}

int router_listen(struct router *router, const char *endpoint, int *port,
                  struct err *err)
{
    char bound[128];
    size_t len = sizeof(bound);
    int both = 1, handshake_ms = HANDSHAKE_MS;

    if (zmq_setsockopt(router->socket, ZMQ_IPV6, &both, sizeof(both)) < 0 ||
        zmq_setsockopt(router->socket, ZMQ_HANDSHAKE_IVL, &handshake_ms,
                       sizeof(handshake_ms)) < 0 ||
        zmq_bind(router->socket, endpoint) < 0 ||
        zmq_getsockopt(router->socket, ZMQ_LAST_ENDPOINT, bound, &len) < 0)
        return zerr(err, endpoint);
    *port = (int)strtol(strrchr(bound, ':') + 1, NULL, 10);
    return 0;
}

void router_close(struct router *router)
{
    if (!router)
        return;
    if (router->socket)
        zmq_close(router->socket);
    if (router->zap)
        zmq_close(router->zap);
    free(router->peers);
    free(router);
}

const char *router_public_key(const struct router *router)
{
    return router->public_key;
}

int router_admit(struct router *router, size_t host,
                 char public_key[CURVE_KEY_BYTES],
                 char secret_key[CURVE_KEY_BYTES], struct err *err)
{
    int rc = curve_keypair(public_key, secret_key, err);

    if (rc < 0)
        return rc;
    router_admit_key(router, host, public_key);
    return 0;
}

void router_admit_key(struct router *router, size_t host,
                      const char *public_key)
{
    memcpy(router->peers[host].public_key, public_key, CURVE_KEY_BYTES);
    router->peers[host].routing_id_len = 0;
}

void *router_socket(struct router *router)
{
    return router->socket;
}

void *router_zap(struct router *router)
{
    return router->zap;
}

/* The host with this 32-byte public key, or -1. */
static long find_key(const struct router *router, const void *key, size_t len)
{
    char z85[CURVE_KEY_BYTES];

    if (len != 32 || !zmq_z85_encode(z85, key, len))
        return -1;
    for (size_t i = 0; i < router->n_peers; i++)
        if (router->peers[i].public_key[0] &&
            sodium_memcmp(router->peers[i].public_key, z85, CURVE_KEY_BYTES) ==
                0)
            return (long)i;
    return -1;
}

/* Frames of RFC 27: version, request id, domain, address, identity,
 * mechanism, and for CURVE the client's public key. */
static bool read_request(void *zap, zmq_msg_t frames[ZAP_FRAMES_MAX], int *n)
{
    int more = 1;

    for (*n = 0; more && *n < ZAP_FRAMES_MAX; (*n)++) {
        zmq_msg_init(&frames[*n]);
        if (zmq_msg_recv(&frames[*n], zap, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frames[*n]);
            return *n > 0;
        }
        more = zmq_msg_more(&frames[*n]);
    }
    return true;
}

static void answer(struct router *router, zmq_msg_t *frames, int n)
{
    char user[24] = "";
    const char *code = "400";
    long host = -1;

    if (n == 7 && zmq_msg_size(&frames[5]) == 5 &&
        memcmp(zmq_msg_data(&frames[5]), "CURVE", 5) == 0)
        host = find_key(router, zmq_msg_data(&frames[6]),
                        zmq_msg_size(&frames[6]));
    if (host >= 0) {
        code = "200";
        snprintf(user, sizeof(user), "%ld", host);
    } else {
        router->refused++;
    }
    zmq_send(router->zap, "1.0", 3, ZMQ_SNDMORE);
    if (n >= 2)
        zmq_send(router->zap, zmq_msg_data(&frames[1]),
                 zmq_msg_size(&frames[1]), ZMQ_SNDMORE);
    else
        zmq_send(router->zap, "", 0, ZMQ_SNDMORE);
    zmq_send(router->zap, code, 3, ZMQ_SNDMORE);
    zmq_send(router->zap, "", 0, ZMQ_SNDMORE);
    zmq_send(router->zap, user, strlen(user), ZMQ_SNDMORE);
    zmq_send(router->zap, "", 0, 0);
}

void router_step(struct router *router)
{
    zmq_msg_t frames[ZAP_FRAMES_MAX];
    int n;

    while (read_request(router->zap, frames, &n)) {
        answer(router, frames, n);
        while (n--)
            zmq_msg_close(&frames[n]);
    }
}

/* The host that the connection's key belongs to, or -1. */
static long sender(const struct router *router, zmq_msg_t *body)
{
    const char *user = zmq_msg_gets(body, "User-Id");
    char *end;
    long host;

    if (!user || !*user)
        return -1;
    host = strtol(user, &end, 10);
    assert(!*end && host >= 0 && (size_t)host < router->n_peers); /* answer() */
    return host;
}

static void drain(void *socket, zmq_msg_t *last)
{
    while (zmq_msg_more(last) && zmq_msg_recv(last, socket, ZMQ_DONTWAIT) != -1)
        continue;
}

static void use(struct peer *peer, const void *id, size_t len)
{
    if (peer->routing_id_len == len && memcmp(peer->routing_id, id, len) == 0)
        return;
    memcpy(peer->before, peer->routing_id, peer->routing_id_len);
    peer->before_len = peer->routing_id_len;
    memcpy(peer->routing_id, id, len);
    peer->routing_id_len = len;
}

int router_recv(struct router *router, size_t *host, struct msg *msg,
                struct err *err)
{
    zmq_msg_t id, body;
    int rc = 0;

    zmq_msg_init(&id);
    zmq_msg_init(&body);
    while (zmq_msg_recv(&id, router->socket, ZMQ_DONTWAIT) != -1) {
        long from;
        size_t id_len = zmq_msg_size(&id);
        bool single;

        if (!zmq_msg_more(&id) ||
            zmq_msg_recv(&body, router->socket, ZMQ_DONTWAIT) < 0)
            continue;
        from = sender(router, &body);
        single = !zmq_msg_more(&body);
        drain(router->socket, &body);
        if (from < 0 || id_len > ROUTING_ID_BYTES_MAX) {
            router->refused++;
            continue;
        }
        *host = (size_t)from;
        use(&router->peers[from], zmq_msg_data(&id), id_len);
        rc = single ? msg_decode(zmq_msg_data(&body), zmq_msg_size(&body), msg,
                                 err)
                    : err_set(err, ERR_PROTO, "message of more than one frame");
        rc = rc < 0 ? rc : 1;
        break;
    }
    zmq_msg_close(&id);
    zmq_msg_close(&body);
    return rc;
}

/* ZeroMQ draws the ids: a zero byte and a count of 4 bytes. */
uint64_t router_connection(const struct router *router, size_t host)
{
    const struct peer *peer = &router->peers[host];
    uint64_t connection = 0;

    for (size_t i = 0; i < peer->routing_id_len; i++)
        connection = connection << 8 | peer->routing_id[i];
    return connection;
}

void router_turn_back(struct router *router, size_t host)
{
    struct peer *peer = &router->peers[host];

    memcpy(peer->routing_id, peer->before, peer->before_len);
    peer->routing_id_len = peer->before_len;
}

int router_send(struct router *router, size_t host, const struct msg *msg,
                struct err *err)
{
    const struct peer *peer = &router->peers[host];
    struct buf buf;
    int rc;

    if (peer->routing_id_len == 0)
        return err_set(err, ERR_NETWORK, "no connection");
    buf_init(&buf, MSG_BYTES_MAX);
    rc = msg_encode(msg, &buf, err);
    if (rc == 0 &&
        (zmq_send(router->socket, peer->routing_id, peer->routing_id_len,
                  ZMQ_SNDMORE | ZMQ_DONTWAIT) == -1 ||
         zmq_send(router->socket, buf.bytes, buf.len, ZMQ_DONTWAIT) == -1)) {
        if (zmq_errno() == ENOMEM) /* and half a message may be sent */
            mem_exhausted();
        rc = err_set(err, ERR_NETWORK, "send: %s", zmq_strerror(zmq_errno()));
    }
    buf_fini(&buf);
    return rc;
}

size_t router_refused(const struct router *router)
{
    return router->refused;
}
