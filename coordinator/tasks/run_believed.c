#include "coordinator/tasks/run_believed.h"

#include <stddef.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/spec/gpu_arch.h"

const struct gpu_arch_facts *run_believed(const struct hosts *hosts,
                                          const char *arch)
{
    const struct gpu_arch_facts *all = NULL;

    if (arch)
        return gpu_arch_find(arch);
    for (size_t i = 0; i < hosts->n; i++) {
        const struct host *host = &hosts->list[i];
        const struct gpu_arch_facts *row;

        if (!host_measures(host))
            continue;
        row = gpu_arch_find_gpu(*host->model ? host->model : host->name);
        if (!row || (all && row != all))
            return NULL;
        all = row;
    }
    return all;
}
