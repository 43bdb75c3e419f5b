/* sim_line.h - the way between the coordinator and one host
 *
 *   coordinator - ROUTER - hand ===tunnel (SSH)=== relay - DEALER - worker
 *                             '---- stream (ZeroMQ) ----'
 *
 * A tunnel carries one stream at a time.  Within a stream messages arrive once
 * and in order.  What was accepted and had not arrived when a stream ended is
 * lost without a word to the sender, as with ZeroMQ; what a DEALER could not
 * send for want of a stream waits for the next one.
 *
 * A tunnel may stall in one direction or both: nothing is lost then until one
 * side misses the heartbeats of ZeroMQ and ends the stream.  TCP notices far
 * later.
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

/* The thread of the crew that drives it (coordinator/link/host_thread.c). */
enum sim_hand {
    SIM_HAND_NONE, /* no coordinator, or it was told to end */
    SIM_HAND_LOGIN,
    SIM_HAND_ATTACHED,
    SIM_HAND_WAITS, /* to try again */
    SIM_HAND_GAVE_UP,
};

struct sim_line {
    int64_t latency_ns;
    bool refuses_login;
    bool down; /* no new login succeeds */
    int64_t login_ns;

    enum sim_hand hand;
    int64_t hand_step; /* events of an older step are void */
    int64_t retry_ms;
    bool told_to_end;   /* while it logged in */
    int64_t offered_ns; /* the invitation, first; 0 */

    int64_t tunnel, tunnels; /* 0: none; how many there were */
    bool stalled[SIM_WAYS];
    int64_t stall; /* number of the present one; others' ends are void */
    struct sim_parcels held[SIM_WAYS];
    int64_t last_ns[SIM_WAYS]; /* arrival of the one sent last */

    int64_t stream, streams; /* as the tunnel */
    int64_t router;          /* the stream that the ROUTER knows; 0 none */
    bool dialled;            /* the worker wants a stream */
    struct sim_parcels pipe; /* of the DEALER, until there is one */
};

/* One encoded message on its way. */
void sim_line_send(struct sim_world *world, size_t host, enum sim_way way,
                   const void *bytes, size_t len);
/* The worker makes a connection, and drops the one it had. */
void sim_line_dial(struct sim_world *world, size_t host);
/* Its stream ended without it: another one, and nothing else changes. */
void sim_line_redial(struct sim_world *world, size_t host);
void sim_line_hang_up(struct sim_world *world, size_t host); /* it is gone */
/* A new tunnel, whose relay has found the worker. */
void sim_line_open(struct sim_world *world, size_t host);
/* The tunnel ends; what was under way is lost. */
void sim_line_cut(struct sim_world *world, size_t host);
/* 'until_ns' may be SIM_FOR_EVER: until the tunnel ends. */
void sim_line_stall(struct sim_world *world, size_t host, bool to_worker,
                    bool to_coordinator, int64_t until_ns);
/* A frozen process answers no heartbeat: its stream ends. */
void sim_line_starve(struct sim_world *world, size_t host);
void sim_line_fini(struct sim_line *line);

#endif
