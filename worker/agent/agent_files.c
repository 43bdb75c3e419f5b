#include "worker/agent/agent_files.h"

#include "worker/agent/agent_internal.h"

bool agent_files_find(struct agent *agent, struct lease *lease,
                      struct agent_files *out)
{
    const struct msg_launch *launch = msg_launch(&lease->msg);
    char input[PATH_MAX];

    if (!cache_path(agent->cache, launch->artifact, out->artifact))
        lease->missing[LEASE_ARTIFACT] = launch->artifact;
    if (!cache_path(agent->cache, launch->reference, out->reference))
        lease->missing[LEASE_REFERENCE] = launch->reference;
    for (size_t i = 0; i < launch->inputs.n; i++)
        if (!cache_path(agent->cache, launch->inputs.items[i], input))
            lease->missing[LEASE_INPUTS + i] = launch->inputs.items[i];
    cache_artifacts(agent->cache, out->inputs);
    return queue_lease_is_waiting(lease);
}
