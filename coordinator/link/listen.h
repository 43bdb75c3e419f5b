/* listen.h - where workers that dial back reach this coordinator
 *
 * '--listen ADDRESS[:PORT]'; without it every address of this machine that
 * others can route to.
 */
#ifndef FA_COORDINATOR_LINK_LISTEN_H
#define FA_COORDINATOR_LINK_LISTEN_H

#include <stddef.h>

struct err;

#define LISTEN_ADDRESS_BYTES 64
#define LISTEN_ADDRESSES_MAX 8 /* in an invitation */

struct listen {
    char address[LISTEN_ADDRESS_BYTES]; /* numeric; "": all */
    int port;                           /* 0: the system's choice */
};

/* Read what follows --listen; NULL is all addresses.  ERR_INPUT */
int listen_read(const char *text, struct listen *out, struct err *err);

/* The endpoint to bind for ZeroMQ, "tcp://..." */
void listen_endpoint(const struct listen *listen, char *out, size_t size);

/* A port that is free there now.  ERR_SYSTEM */
int listen_free_port(const struct listen *listen, int *port, struct err *err);

/* The addresses for an invitation, "tcp://A:PORT,tcp://B:PORT": that of
 * 'listen', or those of the interfaces that are up, or, if none is routable,
 * 127.0.0.1. */
void listen_addresses(const struct listen *listen, int port, char *out,
                      size_t size);

#endif
