/* sweep_io.h - the reactor's interface to clock, network and disk
 *
 * Three small tables of functions.  The real ones are the machine's clocks, the
 * ROUTER with a thread a host (link.h), and SQLite's COMMIT; tests run whole
 * sweeps against simulated ones, in one process and from one seed.  The first
 * argument of every function is the table's own 'self'.
 *
 * Thread rule: all calls from the reactor's thread.
 */
#ifndef FA_COORDINATOR_LINK_SWEEP_IO_H
#define FA_COORDINATOR_LINK_SWEEP_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/link/listen.h"

struct host_thread_news;
struct err;
struct host;
struct hosts;
struct msg;
struct owner;
struct pollfd;
struct remote_options;
struct store;

struct sweep_clock {
    void *self;
    int64_t (*boot_ns)(void *self); /* counts suspended time, never steps */
    int64_t (*utc_ns)(void *self);  /* the wall clock; may step */
    /* the wall clock as the process found it; never steps (clock.h) */
    int64_t (*steady_utc_ns)(void *self);
    int64_t (*cpu_ns)(void *self); /* that the calling thread has used */
};

/* For hosts whose workers dial back. */
struct sweep_link_dial {
    const char *db; /* that of the command; its steps have others */
    struct listen listen;
};

/* What the link needs to connect to the hosts. */
struct sweep_link_options {
    int64_t epoch;
    int linger_s;
    const struct owner *owner; /* of the database; borrowed until open ends */
    const struct remote_options *remote; /* borrowed until close */
    bool rents; /* hosts that are rented wait for rented() */
    struct sweep_link_dial dial;
};

struct sweep_link {
    void *self;
    /* Begin to connect to every host; 'hosts' outlives the link.  Call close()
     * even after an error. */
    int (*open)(void *self, const struct hosts *hosts,
                const struct sweep_link_options *options, struct err *err);
    void (*close)(void *self);
    /* Returns when a message or news has come, one of 'fds' is ready, or after
     * 'ms'. */
    void (*wait)(void *self, struct pollfd *fds, size_t n, long ms);
    /* Takes one message: 1, 'host' and 'msg' (call msg_fini), or 0. ERR_PROTO:
     * 'host' sent something that the protocol forbids. */
    int (*recv)(void *self, size_t *host, struct msg *msg, struct err *err);
    /* ERR_NETWORK if the host is not connected. */
    int (*send)(void *self, size_t host, const struct msg *msg,
                struct err *err);
    /* Takes one piece of news about a host's connection: 1, or 0. */
    int (*news)(void *self, size_t host, struct host_thread_news *out);
    /* Drop the connection and make another one. */
    void (*reconnect)(void *self, size_t host);
    /* Only for a host that is rented (hosts.h), and not open() before it is
     * acquired: connect to it, where 'place' says; and drop the connection
     * until it is acquired again.  'place' is copied. */
    void (*rented)(void *self, size_t host, const struct host *place);
    void (*park)(void *self, size_t host);
    /* Drop it for good: the host is no longer used. */
    void (*dismiss)(void *self, size_t host);
};

struct sweep_disk {
    void *self;
    /* store_commit(): when it returns 0, everything put before is durable. */
    int (*commit)(void *self, struct store *store, struct err *err);
};

struct sweep_io {
    struct sweep_clock clock;
    struct sweep_link link;
    struct sweep_disk disk;
};

/* The machine's own clocks and SQLite. */
extern const struct sweep_clock sweep_clock_real;
extern const struct sweep_disk sweep_disk_real;

#endif
