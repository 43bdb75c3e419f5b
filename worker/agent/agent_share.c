#include "worker/agent/agent_share.h"

#include <string.h>

#include "common/log.h"
#include "worker/agent/agent_internal.h"

#define SHARE_NS (1 * NS_PER_S)
/* Leaves room for the host and the consequences, as in claim.c. */
#define OWNER_SHOWN_BYTES 132

void agent_share_name(struct agent *agent, int64_t ends_ns)
{
    char owner[OWNER_SHOWN_BYTES];

    agent->share.gone = ends_ns != 0;
    if (!agent->share.gpus || !agent->link)
        return;
    owner_text(&link_invite(agent->link)->owner, owner, sizeof(owner));
    gpu_share_name(agent->share.gpus, owner, ends_ns);
}

int agent_share_open(struct agent *agent, const char *which, struct err *err)
{
    char sorted[GPU_LIST_BYTES];
    int rc;

    if (gpu_list_sort(which, sorted) < 0)
        return 0; /* gpus_open() refuses it */
    if (agent->share.gpus && strcmp(agent->share.which, sorted) == 0)
        return 0;
    agent_share_close(agent);
    rc = gpu_share_open(agent->instance->home, sorted, &agent->share.gpus, err);
    if (rc != 0)
        return rc;
    memcpy(agent->share.which, sorted, sizeof(sorted));
    agent_share_name(agent, 0);
    return 0;
}

void agent_share_close(struct agent *agent)
{
    gpu_share_close(agent->share.gpus);
    agent->share.gpus = NULL;
}

/* Those that have come free are opened; when they are, the coordinator hears of
 * all GPUs again, after a new HELLO. */
static void grow(struct agent *agent, int64_t now_ns)
{
    size_t n = agent->share.gpus ? gpu_share_take(agent->share.gpus) : 0;

    if (n == 0)
        return;
    log_line(LOG_I, "GPUS-FREE", "n=%zu", n);
    resources_grow(agent->bench, now_ns);
}

void agent_share_step(struct agent *agent, int64_t now_ns)
{
    if (!agent->queue || agent->end.how != AGENT_RUNS ||
        agent->connection.announced != RESOURCES_READY)
        return;
    if (resources_n_gpus(agent->bench) > agent->share.announced)
        agent_greet_again(agent, now_ns);
    if (now_ns < agent->due.share_ns)
        return;
    agent->due.share_ns = now_ns + SHARE_NS;
    grow(agent, now_ns);
    queue_limit_builds(
        agent->queue,
        resources_builds(agent->bench, instance_count(agent->instance->home)));
}
