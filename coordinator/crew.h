/* crew.h - one thread a host, each driving one connection to it
 *
 * A hand reaches the host (SSH, the system's ssh, or a local child), uploads
 * the worker, starts the relay, hands over the invitation and then moves
 * bytes between the relay and the ROUTER's socket.  When the connection
 * breaks it tries again, later each time, until it is told to stop; a refused
 * key or credential ends it, since trying again cannot help.
 *
 * The reactor hears of it as news, over one PAIR socket a hand; a hand's
 * thread shares nothing else (zmq_socket(3): never from two threads).
 */
#ifndef FA_COORDINATOR_CREW_H
#define FA_COORDINATOR_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/remote.h"

struct crew;
struct hosts;
struct server;

enum crew_event {
    CREW_CONNECTING,
    CREW_UPLOADING,
    CREW_ATTACHED, /* the relay speaks; HELLO will follow */
    CREW_BROKEN,   /* will be tried again; 'text' says why */
    CREW_GAVE_UP,  /* will not; 'code' is an ERR_* and 'text' says why */
    CREW_ENDED,    /* told to stop, and did */
};

struct crew_news {
    size_t host;
    enum crew_event event;
    int code;
    char text[sizeof(((struct err *)0)->text)];
};

struct crew_options {
    const char *socket_path; /* the ROUTER's */
    int64_t epoch;
    int linger_s;
    struct remote_options remote;
};

/* Start a hand for every host; keys come from 'server'.  'hosts' outlives the
 * crew.  After an error '*out' is to be stopped all the same. */
int crew_start(void *zctx, const struct hosts *hosts, struct server *server,
               const struct crew_options *options, struct crew **out,
               struct err *err);

/* The socket to poll for a host's news, and the news, one at a time: 1 and
 * 'out', or 0. */
void *crew_socket(struct crew *crew, size_t host);
int crew_recv(struct crew *crew, size_t host, struct crew_news *out);

/* Tell one hand to end: its host is not used any more. */
void crew_dismiss(struct crew *crew, size_t host);

/* Tell all hands to end and wait for them, 2 s at most.  False when one is
 * still inside a login: then the program must end without closing the ZeroMQ
 * context, the server and what the options point to. */
bool crew_stop(struct crew *crew);

#endif
