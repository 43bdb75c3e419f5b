#include "coordinator/link/link.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "common/clock.h"
#include "common/int64.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/dial_hosts.h"
#include "coordinator/dial/dial_keys.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/router.h"
#include "coordinator/link/run_dir.h"
#include "coordinator/link/wake.h"
#include "coordinator/remote/deploy.h"

#define FIXED_FDS 2 /* the ROUTER and the ZAP socket */
/* Open files: without hosts, and for a host that is reached over another. */
#define FILES_MIN 40
#define FILES_HOST 10
#define LOG_EVERY_NS (10 * NS_PER_S)

struct link {
    struct run_dir run_dir;
    void *zctx;
    struct router *router;
    struct host_threads *threads;
    struct dial_keys *dial_keys; /* both NULL if no worker dials back */
    struct dial_hosts *dial;
    size_t refused; /* clients, as was last logged */
    int64_t log_ns; /* and when */
    struct wake router_wake, zap_wake;
    size_t n_hosts;
    struct pollfd *fds; /* the fixed ones, the hosts, then the caller's */
};

/* Workers that dial back know the keys of earlier runs. */
static int open_router(struct link *link, const struct hosts *hosts,
                       const struct sweep_link_options *options,
                       const char *path, struct err *err)
{
    struct worker_binary program = { .bytes = NULL };
    const struct dial_hosts_options dial = { .db = options->dial.db,
                                             .listen = &options->dial.listen,
                                             .epoch = options->epoch,
                                             .linger_s = options->linger_s,
                                             .owner = options->owner,
                                             .zctx = link->zctx,
                                             .program = &program };
    const struct dial_pair *own;
    int rc;

    if (!dial_hosts_any(hosts))
        return router_open(link->zctx, path, hosts->n, NULL, &link->router,
                           err);
    rc = dial_keys_open(options->dial.db, &link->dial_keys, err);
    if (rc < 0)
        return rc;
    own = dial_keys_server(link->dial_keys);
    rc = router_open(link->zctx, path, hosts->n,
                     &(struct router_keys){ own->public_key, own->secret_key },
                     &link->router, err);
    if (rc == 0 && dial_hosts_slurm(hosts))
        rc = worker_binary_load_own(&program, err);
    if (rc == 0)
        rc = dial_hosts_open(hosts, link->router, link->dial_keys, &dial,
                             &link->dial, err);
    worker_binary_fini(&program);
    return rc;
}

static int link_open(void *self, const struct hosts *hosts,
                     const struct sweep_link_options *options, struct err *err)
{
    struct link *link = self;
    char socket_path[RUN_DIR_PATH_BYTES];
    struct host_threads_options threads = { .socket_path = socket_path,
                                            .epoch = options->epoch,
                                            .linger_s = options->linger_s,
                                            .owner = options->owner,
                                            .rents = options->rents,
                                            .remote = *options->remote };
    int rc = limits_check_files(FILES_MIN + FILES_HOST * (int)hosts->n, err);

    if (rc == 0)
        rc = run_dir_open(&link->run_dir, err);
    if (rc < 0)
        return rc;
    run_dir_file(&link->run_dir, "router", socket_path);
    link->n_hosts = hosts->n;
    link->zctx = zmq_ctx_new();
    rc = open_router(link, hosts, options, socket_path, err);
    if (rc == 0) {
        link->router_wake = wake_of(router_socket(link->router));
        link->zap_wake = wake_of(router_zap(link->router));
    }
    if (rc == 0)
        rc = host_threads_start(link->zctx, hosts, link->router, &threads,
                                &link->threads, err);
    return rc;
}

/* A host thread inside a login cannot be stopped.  The program is about to end
 * then, so what that thread uses is leaked. */
static void link_close(void *self)
{
    struct link *link = self;

    dial_hosts_close(link->dial);
    if (host_threads_stop(link->threads)) {
        router_close(link->router);
        if (link->zctx)
            zmq_ctx_term(link->zctx);
    }
    dial_keys_close(link->dial_keys);
    link->dial = NULL;
    link->dial_keys = NULL;
    run_dir_close(&link->run_dir);
}

/* A client whose key is not known is not answered; how many there were is in
 * the log. */
static void log_refused(struct link *link)
{
    size_t refused = router_refused(link->router);
    int64_t now_ns = clock_boot_ns();

    if (refused == link->refused || now_ns < link->log_ns)
        return;
    log_line(LOG_W, "CLIENTS-REFUSED", "n=%zu", refused);
    link->refused = refused;
    link->log_ns = now_ns + LOG_EVERY_NS;
}

/* Add a socket to what is polled.  True if it must be read first. */
static bool watch(struct wake *wake, struct pollfd *fd)
{
    bool has = wake_has(wake);

    *fd = wake_poll(wake);
    return has;
}

/* Fill in the fds before the caller's; returns how many.  'has' becomes true if
 * one of their sockets must be read. */
static size_t watch_all(struct link *link, bool *has)
{
    size_t n = FIXED_FDS;

    wake_touch(&link->router_wake); /* it was read and written to */
    *has = watch(&link->router_wake, &link->fds[0]);
    *has = watch(&link->zap_wake, &link->fds[1]) || *has;
    for (size_t i = 0; i < link->n_hosts; i++)
        if (!dial_hosts_has(link->dial, i))
            *has =
                watch(host_threads_wake(link->threads, i), &link->fds[n++]) ||
                *has;
    for (size_t i = 0; dial_hosts_socket(link->dial, i); i++) {
        struct wake line = wake_of(dial_hosts_socket(link->dial, i));

        *has = watch(&line, &link->fds[n++]) || *has;
    }
    return n;
}

static void note_woken(struct link *link)
{
    const struct pollfd *fd = &link->fds[FIXED_FDS];

    wake_polled(&link->zap_wake, &link->fds[1]);
    for (size_t i = 0; i < link->n_hosts; i++)
        if (!dial_hosts_has(link->dial, i))
            wake_polled(host_threads_wake(link->threads, i), fd++);
}

/* Wait once.  False if it was for nothing: ZeroMQ has woken a socket for
 * itself. */
static bool wait_once(struct link *link, const struct pollfd *fds, size_t n,
                      long ms)
{
    bool has;
    size_t first = watch_all(link, &has);

    for (size_t i = 0; i < n; i++)
        link->fds[first + i] = fds[i];
    if (poll(link->fds, (nfds_t)(first + n), has ? 0 : (int)ms) <= 0)
        return true;
    note_woken(link);
    for (size_t i = 0; i < n; i++)
        has = has || link->fds[first + i].revents;
    return has;
}

static void link_wait(void *self, struct pollfd *fds, size_t n, long ms)
{
    struct link *link = self;
    int64_t until_ns = clock_boot_ns() + ms * NS_PER_MS;

    link->fds = mem_grow(link->fds, FIXED_FDS + 2 * link->n_hosts + n,
                         sizeof(*link->fds)); /* a line of Slurm has a host */
    while (!wait_once(link, fds, n, ms) && ms > 0)
        ms = (long)int64_max((until_ns - clock_boot_ns()) / NS_PER_MS, 0);
    if (wake_has(&link->zap_wake))
        router_step(link->router);
    log_refused(link);
    dial_hosts_step(link->dial);
}

static int link_recv(void *self, size_t *host, struct msg *msg, struct err *err)
{
    struct link *link = self;
    int rc;

    while ((rc = router_recv(link->router, host, msg, err)) == 1) {
        if (!dial_hosts_has(link->dial, *host) ||
            dial_hosts_hear(link->dial, *host, msg,
                            router_connection(link->router, *host)))
            return 1;
        msg_fini(msg);
    }
    return rc;
}

static int link_send(void *self, size_t host, const struct msg *msg,
                     struct err *err)
{
    struct link *link = self;

    if (dial_hosts_has(link->dial, host))
        dial_hosts_sent(link->dial, host, msg);
    return router_send(link->router, host, msg, err);
}

static int link_news(void *self, size_t host, struct host_thread_news *out)
{
    struct link *link = self;

    return dial_hosts_has(link->dial, host)
               ? dial_hosts_news(link->dial, host, out)
               : host_threads_recv(link->threads, host, out);
}

static void link_reconnect(void *self, size_t host)
{
    struct link *link = self;

    if (dial_hosts_has(link->dial, host))
        dial_hosts_reconnect(link->dial, host);
    else
        host_threads_reconnect(link->threads, host);
}

static void link_dismiss(void *self, size_t host)
{
    struct link *link = self;

    if (dial_hosts_has(link->dial, host))
        dial_hosts_dismiss(link->dial, host);
    else
        host_threads_dismiss(link->threads, host);
}

static void link_rented(void *self, size_t host, const struct host *place)
{
    struct link *link = self;

    host_threads_rented(link->threads, host, place);
}

static void link_park(void *self, size_t host)
{
    struct link *link = self;

    host_threads_park(link->threads, host);
}

struct link *link_new(void)
{
    return mem_new(1, sizeof(struct link));
}

void link_free(struct link *link)
{
    if (!link)
        return;
    free(link->fds);
    free(link);
}

struct sweep_link link_table(struct link *link)
{
    return (struct sweep_link){ .self = link,
                                .open = link_open,
                                .close = link_close,
                                .wait = link_wait,
                                .recv = link_recv,
                                .send = link_send,
                                .news = link_news,
                                .reconnect = link_reconnect,
                                .dismiss = link_dismiss,
                                .rented = link_rented,
                                .park = link_park };
}
