#include "tests/simulation/sim_host_thread.h"

#include "common/clock.h"
#include "coordinator/link/host_threads.h"
#include "tests/simulation/sim_life.h"
#include "tests/simulation/sim_line.h"
#include "tests/simulation/sim_world.h"

/* The times of coordinator/link/host_thread.c and worker/main/relay.c. */
#define RETRY_FIRST_MS 500
#define RETRY_MAX_MS 30000
#define OFFER_NS (10 * NS_PER_S)
#define OFFER_AGAIN_NS (500 * NS_PER_MS)
#define CONNECT_NS (10 * NS_PER_S)
#define UPLOAD_NS (50 * NS_PER_MS)

static struct sim_line *line_of(struct sim_world *world, size_t host)
{
    return &world->lines[host];
}

/* Plans the next step of the thread; a step planned before is cancelled. */
static void plan(struct sim_world *world, size_t host, sim_event_fn *fn,
                 int64_t in_ns)
{
    struct sim_line *line = line_of(world, host);

    sim_queue_add(&world->queue,
                  (struct sim_event){ .at_ns = world->boot_ns + in_ns,
                                      .fn = fn,
                                      .host = host,
                                      .number = ++line->thread_step });
}

static bool is_void(struct sim_world *world, const struct sim_event *event)
{
    return line_of(world, event->host)->thread_step != event->number;
}

static void end(struct sim_world *world, size_t host)
{
    line_of(world, host)->thread = SIM_HOST_THREAD_NONE;
    line_of(world, host)->thread_step++;
    sim_life_news(world, host, HOST_THREADS_ENDED, 0, "");
}

static void try_again(struct sim_world *world, const struct sim_event *event)
{
    if (!is_void(world, event))
        sim_host_thread_start(world, event->host);
}

static void wait_and_retry(struct sim_world *world, size_t host)
{
    struct sim_line *line = line_of(world, host);

    line->thread = SIM_HOST_THREAD_WAITS;
    plan(world, host, try_again, line->retry_ms * NS_PER_MS);
    line->retry_ms =
        2 * line->retry_ms < RETRY_MAX_MS ? 2 * line->retry_ms : RETRY_MAX_MS;
}

void sim_host_thread_broken(struct sim_world *world, size_t host,
                            const char *why)
{
    struct sim_line *line = line_of(world, host);

    if (line->thread != SIM_HOST_THREAD_ATTACHED &&
        line->thread != SIM_HOST_THREAD_LOGIN)
        return;
    if (line->thread == SIM_HOST_THREAD_ATTACHED)
        sim_line_cut(world, host);
    if (line->told_to_end) {
        end(world, host);
        return;
    }
    sim_life_news(world, host, HOST_THREADS_BROKEN, ERR_NETWORK, why);
    wait_and_retry(world, host);
}

static void not_in_time(struct sim_world *world, const struct sim_event *event)
{
    if (!is_void(world, event))
        sim_host_thread_broken(world, event->host, "connection timed out");
}

static void attach(struct sim_world *world, const struct sim_event *event)
{
    struct sim_line *line = line_of(world, event->host);
    const char *why;

    if (is_void(world, event))
        return;
    if (line->offered_ns == 0)
        line->offered_ns = world->boot_ns;
    /* the relay waits until the worker has ended, and starts the next one */
    if (!line->told_to_end && sim_host_is_ending(world, event->host) &&
        world->boot_ns - line->offered_ns < OFFER_NS) {
        plan(world, event->host, attach, OFFER_AGAIN_NS);
        return;
    }
    line->offered_ns = 0;
    why = sim_host_attach(world, event->host);
    if (line->told_to_end)
        end(world, event->host);
    else if (why && *why)
        sim_host_thread_broken(world, event->host, why);
    else if (why) /* the worker is frozen */
        plan(world, event->host, not_in_time, OFFER_NS);
    if (line->told_to_end || why)
        return;
    line->thread = SIM_HOST_THREAD_ATTACHED;
    line->retry_ms = RETRY_FIRST_MS;
    sim_life_news(world, event->host, HOST_THREADS_ATTACHED, 0, "");
}

static void log_in(struct sim_world *world, const struct sim_event *event)
{
    struct sim_line *line = line_of(world, event->host);

    if (is_void(world, event))
        return;
    if (line->told_to_end) {
        end(world, event->host);
    } else if (line->refuses_login) {
        line->thread = SIM_HOST_THREAD_GAVE_UP;
        sim_life_news(world, event->host, HOST_THREADS_GAVE_UP, ERR_AUTH,
                      "permission denied");
    } else {
        sim_life_news(world, event->host, HOST_THREADS_UPLOADING, 0, "");
        plan(world, event->host, attach, UPLOAD_NS + 4 * line->latency_ns);
    }
}

void sim_host_thread_start(struct sim_world *world, size_t host)
{
    struct sim_line *line = line_of(world, host);
    bool reachable = !line->down && sim_host_is_on(world, host);

    if (line->thread == SIM_HOST_THREAD_NONE) {
        line->retry_ms = RETRY_FIRST_MS;
        line->told_to_end = false;
    }
    line->thread = SIM_HOST_THREAD_LOGIN;
    line->offered_ns = 0;
    sim_life_news(world, host, HOST_THREADS_CONNECTING, 0, "");
    if (reachable)
        plan(world, host, log_in, line->login_ns + 6 * line->latency_ns);
    else
        plan(world, host, not_in_time, CONNECT_NS);
}

static void breaks(struct sim_world *world, const struct sim_event *event)
{
    struct sim_line *line = line_of(world, event->host);
    struct sim_event later = *event;

    if (line->thread != SIM_HOST_THREAD_ATTACHED ||
        line->tunnel != event->number)
        return;
    if (line->stalled[SIM_TO_COORDINATOR]) { /* the news stalls, too */
        later.at_ns += NS_PER_S;
        sim_queue_add(&world->queue, later);
        return;
    }
    sim_host_thread_broken(world, event->host,
                           event->more ? "the worker ended"
                                       : "connection reset");
}

void sim_host_thread_breaks(struct sim_world *world, size_t host,
                            bool worker_ended)
{
    struct sim_line *line = line_of(world, host);

    if (line->tunnel)
        sim_queue_add(&world->queue,
                      (struct sim_event){ .at_ns = world->boot_ns +
                                                   2 * line->latency_ns +
                                                   20 * NS_PER_MS,
                                          .fn = breaks,
                                          .host = host,
                                          .number = line->tunnel,
                                          .more = worker_ended });
}

void sim_host_thread_again(struct sim_world *world, size_t host)
{
    struct sim_line *line = line_of(world, host);

    if (line->thread == SIM_HOST_THREAD_ATTACHED)
        sim_host_thread_broken(world, host,
                               "nothing was heard over the connection");
    else if (line->thread == SIM_HOST_THREAD_WAITS)
        sim_host_thread_start(world, host);
}

void sim_host_thread_dismiss(struct sim_world *world, size_t host)
{
    struct sim_line *line = line_of(world, host);

    if (line->thread == SIM_HOST_THREAD_LOGIN) {
        line->told_to_end = true;
    } else if (line->thread != SIM_HOST_THREAD_NONE) {
        sim_line_cut(world, host);
        end(world, host);
    }
}

void sim_host_thread_kill(struct sim_world *world, size_t host)
{
    struct sim_line *line = line_of(world, host);

    sim_line_cut(world, host);
    line->thread = SIM_HOST_THREAD_NONE;
    line->thread_step++;
    line->router = 0;
}
