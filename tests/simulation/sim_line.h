/* sim_line.h - the connection between the coordinator and one host
 *
 *   coordinator - ROUTER - thread ===tunnel (SSH)=== relay - DEALER - worker
 *                             '---- stream (ZeroMQ) ----'
 *
 * A tunnel carries one stream at a time.  Within a stream, messages arrive once
 * and in order.  When a stream ends, messages that were accepted and have not
 * arrived are lost, and the sender is not told, as with ZeroMQ.  Messages that
 * a DEALER cannot send because there is no stream wait for the next one.
 *
 * A tunnel may stall in one direction or in both.  Nothing is lost until one
 * side misses the heartbeats of ZeroMQ and ends the stream.  TCP notices much
 * later.
 *
 * A direct line has no tunnel of SSH: 'tunnel' is the coordinator that listens,
 * and the next stream is a TCP connection of its own, which does not stall.
 */
#ifndef FA_TESTS_SIMULATION_SIM_LINE_H
#define FA_TESTS_SIMULATION_SIM_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_world;

enum sim_way {
    SIM_TO_WORKER,
    SIM_TO_COORDINATOR,
    SIM_WAYS
};

struct sim_parcel {
    struct sim_parcel *next;
    int64_t stream;
    size_t len;
    unsigned char bytes[];
};

struct sim_parcels {
    struct sim_parcel *first, *last;
};

void sim_parcels_add(struct sim_parcels *parcels, struct sim_parcel *parcel);
struct sim_parcel *sim_parcels_take(struct sim_parcels *parcels); /* or NULL */
void sim_parcels_fini(struct sim_parcels *parcels);

/* The state of the host's thread (coordinator/link/host_thread.c). */
enum sim_host_thread {
    SIM_HOST_THREAD_NONE, /* no coordinator runs, or the thread was told to end
                           */
    SIM_HOST_THREAD_LOGIN,
    SIM_HOST_THREAD_ATTACHED,
    SIM_HOST_THREAD_WAITS, /* until it tries again */
    SIM_HOST_THREAD_GAVE_UP,
};

struct sim_line {
    int64_t latency_ns;
    bool direct; /* no tunnel: the worker dials back over TCP */
    bool refuses_login;
    bool down; /* new logins fail */
    int64_t login_ns;

    enum sim_host_thread thread;
    int64_t thread_step; /* events of an older step are ignored */
    int64_t retry_ms;
    bool told_to_end;   /* while the thread logged in */
    int64_t offered_ns; /* when the invitation was first offered, or 0 */

    int64_t tunnel, tunnels; /* the present one, or 0; how many there were */
    bool stalled[SIM_WAYS];
    int64_t stall; /* the present one; the ends of others are ignored */
    struct sim_parcels held[SIM_WAYS];
    int64_t last_ns[SIM_WAYS]; /* when the message sent last arrives */

    int64_t stream, streams; /* likewise */
    int64_t router;          /* the stream that the ROUTER knows, or 0 */
    bool dialled;            /* the worker wants a stream */
    struct sim_parcels pipe; /* what the DEALER holds until there is a stream */
};

/* Sends one encoded message. */
void sim_line_send(struct sim_world *world, size_t host, enum sim_way way,
                   const void *bytes, size_t len);
/* The worker opens a connection and drops the one that it had. */
void sim_line_dial(struct sim_world *world, size_t host);
/* The worker's stream ended, and not by the worker: it opens another one, and
 * nothing else changes. */
void sim_line_redial(struct sim_world *world, size_t host);
/* The worker is gone. */
void sim_line_hang_up(struct sim_world *world, size_t host);
/* Opens a tunnel whose relay has found the worker. */
void sim_line_open(struct sim_world *world, size_t host);
/* Ends the tunnel; messages on their way are lost. */
void sim_line_cut(struct sim_world *world, size_t host);
/* With SIM_FOR_EVER, until the tunnel ends. */
void sim_line_stall(struct sim_world *world, size_t host, bool to_worker,
                    bool to_coordinator, int64_t until_ns);
/* The TCP connection of a direct line breaks, and ZeroMQ makes another one. */
void sim_line_reset(struct sim_world *world, size_t host);
/* Ends the stream of a frozen process, which answers no heartbeat. */
void sim_line_starve(struct sim_world *world, size_t host);
void sim_line_fini(struct sim_line *line);

#endif
