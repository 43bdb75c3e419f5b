#include "worker/gpu/gpu_spares.h"

#include <stdlib.h>

#include "common/mem.h"
#include "worker/gpu/runner_session.h"

struct gpu_spares {
    struct runner_session *list[GPU_SPARES_MAX]; /* the last may be opening */
    size_t n, most;
    bool opening;
};

struct gpu_spares *gpu_spares_new(size_t most)
{
    struct gpu_spares *spares = mem_new(1, sizeof(*spares));

    spares->most = most < GPU_SPARES_MAX ? most : GPU_SPARES_MAX;
    return spares;
}

void gpu_spares_free(struct gpu_spares *spares)
{
    if (!spares)
        return;
    for (size_t i = 0; i < spares->n; i++)
        runner_session_free(spares->list[i]);
    free(spares);
}

bool gpu_spares_wants(const struct gpu_spares *spares)
{
    return spares->n < spares->most && !spares->opening;
}

void gpu_spares_add(struct gpu_spares *spares, struct runner_session *session)
{
    spares->list[spares->n++] = session;
    spares->opening = true;
}

bool gpu_spares_opening(const struct gpu_spares *spares)
{
    return spares->opening;
}

static bool is_open(const struct gpu_spares *spares, size_t i)
{
    return !spares->opening || i + 1 < spares->n;
}

static void remove_one(struct gpu_spares *spares, size_t i)
{
    if (!is_open(spares, i)) {
        spares->opening = false;
        spares->most = 0;
    }
    spares->n--;
    for (; i < spares->n; i++)
        spares->list[i] = spares->list[i + 1];
}

/* False: it is gone. */
static bool step_one(struct gpu_spares *spares, size_t i, int64_t now_ns,
                     bool *stuck)
{
    struct runner_session *session = spares->list[i];

    switch (runner_session_step(session, now_ns)) {
    case RUNNER_SESSION_NOTHING:
        return true;
    case RUNNER_SESSION_REPLY:
        if (runner_session_reply(session)->kind == WIRE_OK)
            spares->opening = false;
        else
            runner_session_kill(session, now_ns);
        return true;
    case RUNNER_SESSION_STUCK:
        *stuck = true;
        return true;
    case RUNNER_SESSION_DEAD:
        break;
    }
    remove_one(spares, i);
    runner_session_free(session);
    return false;
}

bool gpu_spares_step(struct gpu_spares *spares, int64_t now_ns)
{
    bool stuck = false;

    for (size_t i = 0; i < spares->n;)
        i += step_one(spares, i, now_ns, &stuck);
    return !stuck;
}

struct runner_session *gpu_spares_take(struct gpu_spares *spares,
                                       int64_t now_ns)
{
    struct runner_session *session;

    (void)gpu_spares_step(spares, now_ns); /* one may have died */
    if (spares->n == 0 || !is_open(spares, 0))
        return NULL;
    session = spares->list[0];
    remove_one(spares, 0);
    return session;
}

bool gpu_spares_drop(struct gpu_spares *spares, int64_t now_ns)
{
    bool any = spares->n > 0;

    for (size_t i = 0; i < spares->n; i++)
        runner_session_kill(spares->list[i], now_ns);
    while (spares->n > 0) {
        runner_session_free(spares->list[spares->n - 1]);
        remove_one(spares, spares->n - 1);
    }
    spares->most = 0;
    return any;
}

size_t gpu_spares_poll(const struct gpu_spares *spares, struct pollfd *fds,
                       size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < spares->n; i++)
        n += runner_session_poll(spares->list[i], fds + n, max - n);
    return n;
}

int64_t gpu_spares_deadline_ns(const struct gpu_spares *spares)
{
    int64_t soonest = INT64_MAX;

    for (size_t i = 0; i < spares->n; i++) {
        int64_t ns = runner_session_deadline_ns(spares->list[i]);

        if (ns < soonest)
            soonest = ns;
    }
    return soonest;
}
