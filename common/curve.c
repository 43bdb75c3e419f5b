#include "common/curve.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <zmq.h>

#include "common/msg.h"

/* zmq_draft.h hides it.  Without it ZAP admits everyone once its handler is
 * gone. */
#define OPTION_ZAP_ENFORCE_DOMAIN 93
#define HEARTBEAT_MS 5000
#define HEARTBEAT_TIMEOUT_MS 15000

static int zmq_err(struct err *err, const char *what)
{
    return err_set(err, ERR_SYSTEM, "%s: %s", what, zmq_strerror(zmq_errno()));
}

static bool set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

/* No high-water marks: credits limit what is in flight, and a ROUTER silently
 * drops messages above its mark. */
static bool set_common(void *socket)
{
    int64_t max = MSG_BYTES_MAX;

    return zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max, sizeof(max)) == 0 &&
           set_int(socket, ZMQ_LINGER, 0) && set_int(socket, ZMQ_SNDHWM, 0) &&
           set_int(socket, ZMQ_RCVHWM, 0) &&
           set_int(socket, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS) &&
           set_int(socket, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS);
}

static bool set_key(void *socket, int option, const char *key)
{
    return zmq_setsockopt(socket, option, key, CURVE_KEY_BYTES) == 0;
}

int curve_keypair(char public_key[CURVE_KEY_BYTES],
                  char secret_key[CURVE_KEY_BYTES], struct err *err)
{
    if (zmq_curve_keypair(public_key, secret_key) < 0)
        return zmq_err(err, "CURVE keys");
    return 0;
}

int curve_server(void *socket, const char *domain, const char *secret_key,
                 struct err *err)
{
    if (!set_common(socket) ||
        !set_key(socket, ZMQ_CURVE_SECRETKEY, secret_key) ||
        !set_int(socket, ZMQ_CURVE_SERVER, 1) ||
        zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, domain, strlen(domain)) < 0 ||
        !set_int(socket, OPTION_ZAP_ENFORCE_DOMAIN, 1) ||
        !set_int(socket, ZMQ_ROUTER_MANDATORY, 1))
        return zmq_err(err, "CURVE server");
    return 0;
}

int curve_client(void *socket, const char *server_key, const char *public_key,
                 const char *secret_key, struct err *err)
{
    if (!set_common(socket) ||
        !set_key(socket, ZMQ_CURVE_SERVERKEY, server_key) ||
        !set_key(socket, ZMQ_CURVE_PUBLICKEY, public_key) ||
        !set_key(socket, ZMQ_CURVE_SECRETKEY, secret_key))
        return zmq_err(err, "CURVE client");
    return 0;
}
