#include "coordinator/link/link.h"

#include <poll.h>
#include <stdlib.h>

#include <zmq.h>

#include "common/limits.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/router.h"
#include "coordinator/link/run_dir.h"

#define FIXED_ITEMS 2 /* the ROUTER and the ZAP socket */
/* Open files: without hosts, and for a host that is reached over another. */
#define FILES_MIN 40
#define FILES_HOST 10

struct link {
    struct run_dir run_dir;
    void *zctx;
    struct router *router;
    struct host_threads *threads;
    size_t n_hosts;
    zmq_pollitem_t *items; /* the fixed ones, the hosts, then the caller's */
};

static int link_open(void *self, const struct hosts *hosts,
                     const struct sweep_link_options *options, struct err *err)
{
    struct link *link = self;
    char socket_path[RUN_DIR_PATH_BYTES];
    struct host_threads_options threads = { .socket_path = socket_path,
                                            .epoch = options->epoch,
                                            .linger_s = options->linger_s,
                                            .owner = options->owner,
                                            .remote = *options->remote };
    int rc = limits_check_files(FILES_MIN + FILES_HOST * (int)hosts->n, err);

    if (rc == 0)
        rc = run_dir_open(&link->run_dir, err);
    if (rc < 0)
        return rc;
    run_dir_file(&link->run_dir, "router", socket_path);
    link->n_hosts = hosts->n;
    link->zctx = zmq_ctx_new();
    rc = router_open(link->zctx, socket_path, hosts->n, &link->router, err);
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

    if (host_threads_stop(link->threads)) {
        router_close(link->router);
        if (link->zctx)
            zmq_ctx_term(link->zctx);
    }
    run_dir_close(&link->run_dir);
}

static short zmq_events(short events)
{
    return (short)((events & POLLIN ? ZMQ_POLLIN : 0) |
                   (events & POLLOUT ? ZMQ_POLLOUT : 0));
}

static void link_wait(void *self, struct pollfd *fds, size_t n, long ms)
{
    struct link *link = self;
    size_t first = FIXED_ITEMS + link->n_hosts;

    link->items = mem_grow(link->items, first + n, sizeof(*link->items));
    link->items[0] = (zmq_pollitem_t){ .socket = router_socket(link->router),
                                       .events = ZMQ_POLLIN };
    link->items[1] = (zmq_pollitem_t){ .socket = router_zap(link->router),
                                       .events = ZMQ_POLLIN };
    for (size_t i = 0; i < link->n_hosts; i++)
        link->items[FIXED_ITEMS + i] =
            (zmq_pollitem_t){ .socket = host_threads_socket(link->threads, i),
                              .events = ZMQ_POLLIN };
    for (size_t i = 0; i < n; i++)
        link->items[first + i] =
            (zmq_pollitem_t){ .fd = fds[i].fd,
                              .events = zmq_events(fds[i].events) };
    zmq_poll(link->items, (int)(first + n), ms);
    router_step(link->router);
}

static int link_recv(void *self, size_t *host, struct msg *msg, struct err *err)
{
    struct link *link = self;

    return router_recv(link->router, host, msg, err);
}

static int link_send(void *self, size_t host, const struct msg *msg,
                     struct err *err)
{
    struct link *link = self;

    return router_send(link->router, host, msg, err);
}

static int link_news(void *self, size_t host, struct host_thread_news *out)
{
    struct link *link = self;

    return host_threads_recv(link->threads, host, out);
}

static void link_reconnect(void *self, size_t host)
{
    struct link *link = self;

    host_threads_reconnect(link->threads, host);
}

static void link_dismiss(void *self, size_t host)
{
    struct link *link = self;

    host_threads_dismiss(link->threads, host);
}

struct link *link_new(void)
{
    return mem_new(1, sizeof(struct link));
}

void link_free(struct link *link)
{
    if (!link)
        return;
    free(link->items);
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
                                .dismiss = link_dismiss };
}
