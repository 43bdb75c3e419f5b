#include "coordinator/artifacts/kept_artifacts.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/schedule/int_queue.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"

struct kept {
    struct int_queue *queues; /* [hosts]: units to be fetched */
    bool failed;              /* a copy could not be written; it was said */
};

static struct artifact_cache *cache_of(const struct sweep *sweep)
{
    return sweep->reactor.options->cache;
}

int kept_artifacts_home(const struct sweep *sweep)
{
    return (int)sweep->fleet.n;
}

bool kept_artifacts_has(const struct sweep *sweep, const char *hash)
{
    return artifact_cache_has(cache_of(sweep), hash);
}

void kept_artifacts_send_bytes(struct sweep *sweep, size_t host,
                               const char *hash, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t n = len - at < MSG_CHUNK_MAX ? len - at : MSG_CHUNK_MAX;
        struct msg msg = { .type = MSG_ARTIFACT,
                           .artifact = { .hash = hash,
                                         .offset = (int64_t)at,
                                         .total = (int64_t)len,
                                         .chunk = { bytes + at, n } } };

        if (!outbox_send(sweep, host, &msg))
            return;
        at += n;
    }
}

bool kept_artifacts_send(struct sweep *sweep, size_t host, const char *hash)
{
    size_t len;
    char *bytes = artifact_cache_get(cache_of(sweep), hash, &len);

    if (!bytes)
        return false;
    kept_artifacts_send_bytes(sweep, host, hash, bytes, len);
    free(bytes);
    return true;
}

static struct kept *kept_of(struct sweep *sweep)
{
    if (!sweep->work.kept) {
        sweep->work.kept = mem_new(1, sizeof(*sweep->work.kept));
        sweep->work.kept->queues =
            mem_new(sweep->fleet.n, sizeof(*sweep->work.kept->queues));
    }
    return sweep->work.kept;
}

void kept_artifacts_put(struct sweep *sweep, const char *hash,
                        const char *bytes, size_t len)
{
    struct err err;

    if (artifact_cache_put(cache_of(sweep), hash, bytes, len, &err) == 0 ||
        kept_of(sweep)->failed)
        return;
    kept_of(sweep)->failed = true;
    log_line(LOG_W, "ARTIFACT-NOT-KEPT", "why=%s", err.text);
}

bool kept_artifacts_take_over(struct sweep *sweep, int unit)
{
    if (!kept_artifacts_has(sweep, sweep->work.artifacts[unit]))
        return false;
    sched_moved(sweep->work.sched, unit, kept_artifacts_home(sweep));
    return true;
}

/* What this machine has anyway is not copied. */
void kept_artifacts_queue(struct sweep *sweep, size_t host, int unit)
{
    if (cache_of(sweep) && !hosts_are_local(sweep->fleet.list))
        int_queue_push(&kept_of(sweep)->queues[host], unit);
}

static bool is_worth_fetching(const struct sweep *sweep, size_t host, int unit)
{
    return sched_home(sweep->work.sched, unit) == (int)host &&
           !kept_artifacts_has(sweep, sweep->work.artifacts[unit]);
}

int kept_artifacts_next(struct sweep *sweep, size_t host)
{
    struct int_queue *queue =
        sweep->work.kept ? &sweep->work.kept->queues[host] : NULL;

    while (queue && queue->n > 0) {
        int unit = int_queue_peek(queue, 0);

        int_queue_remove(queue, 0);
        if (is_worth_fetching(sweep, host, unit))
            return unit;
    }
    return -1;
}

void kept_artifacts_free(struct sweep *sweep)
{
    struct kept *kept = sweep->work.kept;

    for (size_t i = 0; kept && i < sweep->fleet.n; i++)
        int_queue_fini(&kept->queues[i]);
    if (kept)
        free(kept->queues);
    free(kept);
}
