#include "worker/gpu/gpu_spares.h"

#include <stdlib.h>

#include "common/mem.h"
#include "worker/gpu/runner_session.h"

struct gpu_spares {
    struct runner_session *open[GPU_SPARES_MAX]; /* the last may be opening */
    struct runner_session *kept[GPU_SPARES_MAX]; /* have measured */
    size_t n_open, n_kept, most;
    bool opening, ending;
};

struct gpu_spares *gpu_spares_new(size_t most)
{
    struct gpu_spares *spares = mem_new(1, sizeof(*spares));

    spares->most = most < GPU_SPARES_MAX ? most : GPU_SPARES_MAX;
    return spares;
}

static void free_all(struct gpu_spares *spares)
{
    while (spares->n_open > 0)
        runner_session_free(spares->open[--spares->n_open]);
    while (spares->n_kept > 0)
        runner_session_free(spares->kept[--spares->n_kept]);
    spares->opening = spares->ending = false;
}

void gpu_spares_free(struct gpu_spares *spares)
{
    if (!spares)
        return;
    free_all(spares);
    free(spares);
}

bool gpu_spares_wants(const struct gpu_spares *spares)
{
    return (spares->n_kept > 0 || spares->n_open < spares->most) &&
           !gpu_spares_busy(spares);
}

bool gpu_spares_busy(const struct gpu_spares *spares)
{
    return spares->opening || spares->ending;
}

void gpu_spares_add(struct gpu_spares *spares, struct runner_session *session)
{
    spares->open[spares->n_open++] = session;
    spares->opening = true;
}

void gpu_spares_keep(struct gpu_spares *spares, struct runner_session *session)
{
    spares->kept[spares->n_kept++] = session;
}

static void kill_kept(struct gpu_spares *spares, int64_t now_ns)
{
    for (size_t i = 0; i < spares->n_kept; i++)
        runner_session_kill(spares->kept[i], now_ns);
    spares->ending = spares->n_kept > 0;
}

bool gpu_spares_end_kept(struct gpu_spares *spares, int64_t now_ns)
{
    kill_kept(spares, now_ns);
    return spares->ending;
}

static void remove_at(struct runner_session **list, size_t *n, size_t i)
{
    --*n;
    for (; i < *n; i++)
        list[i] = list[i + 1];
}

static bool is_open(const struct gpu_spares *spares, size_t i)
{
    return !spares->opening || i + 1 < spares->n_open;
}

static void remove_open(struct gpu_spares *spares, size_t i)
{
    if (!is_open(spares, i)) {
        spares->opening = false;
        spares->most = 0;
    }
    remove_at(spares->open, &spares->n_open, i);
}

/* False: it is gone, and freed. */
static bool step_one(struct gpu_spares *spares, struct runner_session *session,
                     int64_t now_ns, bool *stuck)
{
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
    runner_session_free(session);
    return false;
}

bool gpu_spares_step(struct gpu_spares *spares, int64_t now_ns)
{
    bool stuck = false;

    for (size_t i = 0; i < spares->n_open;)
        if (step_one(spares, spares->open[i], now_ns, &stuck))
            i++;
        else
            remove_open(spares, i);
    for (size_t i = 0; i < spares->n_kept;)
        if (step_one(spares, spares->kept[i], now_ns, &stuck))
            i++;
        else
            remove_at(spares->kept, &spares->n_kept, i);
    if (spares->n_kept == 0)
        spares->ending = false;
    return !stuck;
}

struct runner_session *gpu_spares_take(struct gpu_spares *spares,
                                       int64_t now_ns)
{
    struct runner_session *session;

    (void)gpu_spares_step(spares, now_ns); /* one may have died */
    if (spares->n_open == 0 || !is_open(spares, 0))
        return NULL;
    session = spares->open[0];
    remove_open(spares, 0);
    return session;
}

bool gpu_spares_drop(struct gpu_spares *spares, int64_t now_ns)
{
    bool any = spares->n_open + spares->n_kept > 0;

    for (size_t i = 0; i < spares->n_open; i++)
        runner_session_kill(spares->open[i], now_ns);
    kill_kept(spares, now_ns);
    free_all(spares);
    spares->most = 0;
    return any;
}

size_t gpu_spares_poll(const struct gpu_spares *spares, struct pollfd *fds,
                       size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < spares->n_open; i++)
        n += runner_session_poll(spares->open[i], fds + n, max - n);
    for (size_t i = 0; i < spares->n_kept; i++)
        n += runner_session_poll(spares->kept[i], fds + n, max - n);
    return n;
}

static int64_t soonest_ns(struct runner_session *const *list, size_t n)
{
    int64_t soonest = INT64_MAX;

    for (size_t i = 0; i < n; i++) {
        int64_t ns = runner_session_deadline_ns(list[i]);

        if (ns < soonest)
            soonest = ns;
    }
    return soonest;
}

int64_t gpu_spares_deadline_ns(const struct gpu_spares *spares)
{
    int64_t open_ns = soonest_ns(spares->open, spares->n_open);
    int64_t kept_ns = soonest_ns(spares->kept, spares->n_kept);

    return open_ns < kept_ns ? open_ns : kept_ns;
}
