#include "coordinator/notes/host_words.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/live/said.h"
#include "coordinator/notes/notices.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"

#define LONG_NS (5 * NS_PER_S) /* a worker that has its runner needs less */

static const char *name_of(const struct sweep *sweep, size_t host)
{
    return sweep->fleet.hosts[host].host->name;
}

void host_words_say(struct sweep *sweep, size_t host, const char *fmt, ...)
{
    struct said *said = sweep->reactor.options->watch.said;
    char text[1200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (!said || said_is_new(said, name_of(sweep, host), text))
        progress_say(sweep->reactor.progress, "%s: %s", name_of(sweep, host),
                     text);
}

void host_words_forget(struct sweep *sweep, size_t host)
{
    struct said *said = sweep->reactor.options->watch.said;

    if (said)
        said_forget(said, name_of(sweep, host));
}

static void say_ready(struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    int slots = host_state->worker.slots, gpus = host_state->n_gpus;

    host_words_say(sweep, host, "ready: %s, %d build slot%s, %d GPU%s%s%s",
                   host_state->worker.toolkit, slots, slots == 1 ? "" : "s",
                   gpus, gpus == 1 ? "" : "s", gpus ? ", " : "",
                   gpus ? host_state->gpus[0].name : "");
}

/* It measures on the others.  status shows the last of these two events. */
void host_words_ready(struct sweep *sweep, size_t host, const char *waits)
{
    const char *name = name_of(sweep, host);
    char text[sizeof(sweep->fleet.hosts[host].host->name) + 256];

    records_put_event(sweep, "I", "HOST-READY", name);
    notices_host_ready(sweep, host);
    say_ready(sweep, host);
    if (!waits || !waits[0])
        return;
    snprintf(text, sizeof(text), "%s: %.240s", name, waits);
    host_words_say(sweep, host, "%.240s; waiting for that", waits);
    records_put_event(sweep, "I", "HOST-WAITS", text);
}

/* fa-runner is compiled where the worker finds none of this toolkit. */
void host_words_turn(struct sweep *sweep, int64_t now)
{
    if (device_kind_is(sweep->reactor.options->device, DEVICE_KIND_REPLAY))
        return;
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        struct host_state *host_state = &sweep->fleet.hosts[i];
        const struct host_connection *conn = &host_state->conn;

        if (host_state->is_slow || host_state->state != HOST_STATE_GREETED ||
            !conn->attached || conn->waits ||
            host_state->host->role == HOST_BUILDER ||
            now - conn->linked_ns < LONG_NS)
            continue;
        host_state->is_slow = true;
        host_words_say(sweep, i,
                       "not ready yet: a worker that is new on a machine first "
                       "compiles the program that measures, in up to a minute");
    }
}
