#include "coordinator/slurm/slurm_use.h"

bool slurm_use_grows(const struct slurm_use *nodes, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        if (nodes[i].is_here && nodes[i].idle_ns >= SLURM_USE_BUSY_NS)
            return false;
        any = any || nodes[i].is_here;
    }
    return any;
}

long slurm_use_surplus(const struct slurm_use *nodes, size_t n, int least)
{
    long found = -1;
    int here = 0;

    for (size_t i = 0; i < n; i++) {
        if (!nodes[i].is_here)
            continue;
        here++;
        if (nodes[i].idle_ns >= SLURM_USE_IDLE_NS &&
            (found < 0 || nodes[i].idle_ns >= nodes[found].idle_ns))
            found = (long)i;
    }
    return here > least ? found : -1;
}
