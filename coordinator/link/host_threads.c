#include "coordinator/link/host_threads.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/int64.h"
#include "common/invite.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_thread.h"
#include "coordinator/link/router.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/remote/login_pace.h"

#define STOP_MS 2000 /* docs/reliability.md F19: the second Ctrl-C */

struct host_threads {
    struct host_thread **each;
    size_t n;
    struct login_pace *pace;
    const struct hosts *hosts; /* borrowed */
    struct worker_binary worker;
};

static int start_one(struct host_threads *threads, void *zctx,
                     const struct hosts *hosts, struct router *router,
                     const struct host_threads_options *options,
                     struct err *err)
{
    struct host_thread_task task = {
        .index = threads->n,
        .host = &hosts->list[threads->n],
        .program = &threads->worker,
        .invite = { .epoch = options->epoch,
                    .linger_ms = options->linger_s * 1000,
                    .owner = *options->owner },
    };
    struct invite *invite = &task.invite;
    int rc;

    if (task.host->dial.back) {
        threads->n++; /* dial_hosts.h */
        return 0;
    }
    snprintf(invite->endpoint, sizeof(invite->endpoint), "%s", INVITE_RELAY);
    snprintf(invite->server_key, CURVE_KEY_BYTES, "%s",
             router_public_key(router));
    rc = router_admit(router, threads->n, invite->public_key,
                      invite->secret_key, err);
    if (rc == 0)
        rc = host_thread_start(zctx, &task, options, &threads->each[threads->n],
                               err);
    if (rc == 0)
        threads->n++;
    invite_wipe(invite);
    return rc;
}

int host_threads_start(void *zctx, const struct hosts *hosts,
                       struct router *router,
                       const struct host_threads_options *options,
                       struct host_threads **out, struct err *err)
{
    struct host_threads *threads = mem_new(1, sizeof(*threads));
    int rc = worker_binary_load_own(&threads->worker, err);

    threads->pace = login_pace_new(hosts->n);
    threads->each = mem_new(hosts->n, sizeof(struct host_thread *));
    threads->hosts = hosts;
    *out = threads;
    while (rc == 0 && threads->n < hosts->n)
        rc = start_one(threads, zctx, hosts, router, options, err);
    return rc;
}

struct wake *host_threads_wake(struct host_threads *threads, size_t host)
{
    return host_thread_wake(threads->each[host]);
}

/* A login is over.  True if it failed in a way that the reactor hears of. */
static bool end_login(struct host_threads *threads,
                      struct host_thread_news *news)
{
    bool dropped = news->code == ERR_BUSY;
    bool failed = news->code == ERR_NETWORK || news->code == ERR_SYSTEM;
    bool is_busy;

    if (news->code == 0)
        login_pace_known(threads->pace, news->host, news->text);
    is_busy = login_pace_end(threads->pace, news->host,
                             dropped  ? LOGIN_PACE_DROPPED
                             : failed ? LOGIN_PACE_FAILED
                                      : LOGIN_PACE_IN,
                             clock_boot_ns());

    if (is_busy)
        log_line(LOG_W, "LOGIN-DROPPED", "host=%s why=%s",
                 threads->hosts->list[news->host].name, news->text);
    if (!dropped || is_busy)
        return false;
    news->event = HOST_THREADS_BROKEN;
    news->code = ERR_NETWORK;
    return true;
}

/* True if the reactor hears of it. */
static bool take_login(struct host_threads *threads,
                       struct host_thread_news *news)
{
    bool is_heard = false;
    size_t host;

    if (news->event == HOST_THREADS_LOGIN_ASKED)
        login_pace_ask(threads->pace, news->host, news->text);
    else if (news->event == HOST_THREADS_LOGIN_ENDED)
        is_heard = end_login(threads, news);
    else
        return true;
    while (login_pace_next(threads->pace, &host))
        host_thread_admit(threads->each[host]);
    return is_heard;
}

int host_threads_recv(struct host_threads *threads, size_t host,
                      struct host_thread_news *out)
{
    while (host_thread_recv(threads->each[host], out) == 1)
        if (take_login(threads, out))
            return 1;
    return 0;
}

void host_threads_reconnect(struct host_threads *threads, size_t host)
{
    host_thread_reconnect(threads->each[host]);
}

void host_threads_rented(struct host_threads *threads, size_t host,
                         const struct host *place)
{
    host_thread_rented(threads->each[host], place);
}

void host_threads_park(struct host_threads *threads, size_t host)
{
    host_thread_park(threads->each[host]);
}

void host_threads_dismiss(struct host_threads *threads, size_t host)
{
    host_thread_dismiss(threads->each[host]);
}

/* If a host thread is left behind, what it uses is leaked too: the program is
 * about to end. */
bool host_threads_stop(struct host_threads *threads)
{
    int64_t until = clock_boot_ns() + STOP_MS * NS_PER_MS;
    bool all = true;

    if (!threads)
        return true;
    for (size_t i = 0; i < threads->n; i++)
        if (threads->each[i])
            host_thread_dismiss(threads->each[i]);
    for (size_t i = 0; i < threads->n; i++)
        if (threads->each[i])
            all = host_thread_join(threads->each[i], until) && all;
    if (all) {
        worker_binary_fini(&threads->worker);
        login_pace_free(threads->pace);
        free(threads->each);
        free(threads);
    }
    return all;
}
