/* sweep_io.h - what the reactor asks of the world: time, hosts, the disk
 *
 * Three small tables of functions.  The real ones are the machine's clocks,
 * the ROUTER with a thread a host (link.h), and SQLite's COMMIT; tests run
 * whole sweeps against simulated ones, in one process and from one seed.  The
 * first argument of every function is the table's own 'self'.
 *
 * Thread rule: all calls from the reactor's thread.
 */
#ifndef FA_COORDINATOR_LINK_SWEEP_IO_H
#define FA_COORDINATOR_LINK_SWEEP_IO_H

#include <stddef.h>
#include <stdint.h>

struct host_thread_news;
struct err;
struct hosts;
struct msg;
struct owner;
struct pollfd;
struct remote_options;
struct store;

struct sweep_clock {
    void *self;
    int64_t (*boot_ns)(void *self); /* counts suspended hours, never steps */
    int64_t (*utc_ns)(void *self);  /* the wall clock; may step */
};

/* What a run tells those who connect to its hosts. */
struct sweep_link_options {
    int64_t epoch;
    int linger_s;
    const struct owner *owner; /* of the database; borrowed until open ends */
    const struct remote_options *remote; /* borrowed until close */
};

struct sweep_link {
    void *self;
    /* Begin to reach every host; 'hosts' outlives the link.  After an error
     * close() is called all the same. */
    int (*open)(void *self, const struct hosts *hosts,
                const struct sweep_link_options *options, struct err *err);
    void (*close)(void *self);
    /* Return when something has come, one of 'fds' is ready, or after 'ms'. */
    void (*wait)(void *self, struct pollfd *fds, size_t n, long ms);
    /* One message: 1, 'host' and 'msg' (msg_fini it), or 0.  ERR_PROTO: 'host'
     * sent what the protocol forbids. */
    int (*recv)(void *self, size_t *host, struct msg *msg, struct err *err);
    /* ERR_NETWORK when there is no connection. */
    int (*send)(void *self, size_t host, const struct msg *msg,
                struct err *err);
    /* One piece of news of a host's connection: 1, or 0. */
    int (*news)(void *self, size_t host, struct host_thread_news *out);
    /* Give the connection up and make another one. */
    void (*reconnect)(void *self, size_t host);
    /* Give it up for good: the host is not used any more. */
    void (*dismiss)(void *self, size_t host);
};

struct sweep_disk {
    void *self;
    /* store_commit(): what was put is durable when it returns 0. */
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
