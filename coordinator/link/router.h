/* router.h - the ROUTER socket of the workers, and its access control
 *
 * CURVE with one key pair a worker and run; the ZAP handler lives in the same
 * thread, so requests are answered whenever router_step() runs.  The sender of
 * a message is the host whose public key authenticated the connection, never a
 * field of the message.  ZAP_ENFORCE_DOMAIN is set before the bind and every
 * message's user id is checked, because ZAP fails open when its handler is
 * gone.
 *
 * Thread rule: all calls from the reactor's thread.
 */
#ifndef FA_COORDINATOR_LINK_ROUTER_H
#define FA_COORDINATOR_LINK_ROUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/curve.h"
#include "common/err.h"
#include "common/msg.h"

struct router;

/* A key pair of the ROUTER itself. */
struct router_keys {
    const char *public_key, *secret_key;
};

/* Bind to 'path' (a unix socket in a 0700 folder, at most 107 bytes).  'keys'
 * are its own; NULL: they are drawn. */
int router_open(void *zctx, const char *path, size_t hosts,
                const struct router_keys *keys, struct router **out,
                struct err *err);
/* Bind to a "tcp://ADDRESS:PORT" as well; with the port '*' to a free one. */
int router_listen(struct router *router, const char *endpoint, int *port,
                  struct err *err);
void router_close(struct router *router);

const char *router_public_key(const struct router *router);

/* Make a key pair for a host and admit it from now on.  An earlier key pair of
 * the host becomes invalid. */
int router_admit(struct router *router, size_t host,
                 char public_key[CURVE_KEY_BYTES],
                 char secret_key[CURVE_KEY_BYTES], struct err *err);

/* The same with a public key that exists. */
void router_admit_key(struct router *router, size_t host,
                      const char *public_key);

/* The two sockets to poll for input. */
void *router_socket(struct router *router);
void *router_zap(struct router *router);

/* Answer pending authentications. */
void router_step(struct router *router);

/* Take one message.  Returns 1 and fills 'host' and 'msg' (the caller calls
 * msg_fini), or 0 if no message has arrived.  ERR_PROTO: 'host' sent something
 * that the protocol forbids; 'host' is set. */
int router_recv(struct router *router, size_t *host, struct msg *msg,
                struct err *err);

/* The connection that 'host' used last: another number than that of any other
 * connection of the host. */
uint64_t router_connection(const struct router *router, size_t host);

/* It is used by another process than the one that 'host' stands for: go back to
 * the connection before. */
void router_turn_back(struct router *router, size_t host);

/* Send to the connection that 'host' used last.  ERR_NETWORK if there is
 * none. */
int router_send(struct router *router, size_t host, const struct msg *msg,
                struct err *err);

/* Connections that were refused, and messages dropped because they had no user
 * id. */
size_t router_refused(const struct router *router);

#endif
