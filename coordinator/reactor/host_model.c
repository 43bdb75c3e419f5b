#include "coordinator/reactor/host_model.h"

#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/reactor.h"

#define GPU_BYTES 110

/* One that measures on the model of the sweep, or NULL. */
static const struct host_state *other_host(const struct sweep *sweep,
                                           size_t host)
{
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *other = &sweep->fleet.hosts[i];

        if (i != host && other->n_known > 0 && other->n_gpus > 0 &&
            gpu_arch_same_model(&other->gpus[0].facts, &sweep->work.facts))
            return other;
    }
    return NULL;
}

static int refuse(const struct sweep *sweep, const struct host *host,
                  const struct host_state_gpu *gpu,
                  const struct host_state *other, struct err *err)
{
    char its[GPU_BYTES], theirs[GPU_BYTES];

    gpu_arch_describe(gpu->name, &gpu->facts, its, sizeof(its));
    gpu_arch_describe(other ? other->gpus[0].name : sweep->work.gpu_name,
                      &sweep->work.facts, theirs, sizeof(theirs));
    return err_set(err, ERR_INPUT,
                   "model=%s: it has %s, and %s has %s; give one of them "
                   "another label",
                   host->model, its,
                   other ? other->host->name : "an earlier run", theirs);
}

static int check(const struct sweep *sweep, size_t host, struct err *err)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    const struct host_state *other = other_host(sweep, host);

    for (int i = 0; i < host_state->n_gpus; i++) {
        const struct host_state_gpu *gpu = &host_state->gpus[i];

        if (!gpu_arch_same_model(&gpu->facts, &sweep->work.facts) ||
            (other && !gpu_arch_same_name(gpu->name, other->gpus[0].name)))
            return refuse(sweep, host_state->host, gpu, other, err);
    }
    return 0;
}

static void drop_others(struct sweep *sweep, struct host_state *host_state)
{
    int kept = 0;

    for (int i = 0; i < host_state->n_gpus; i++) {
        if (gpu_arch_same_model(&host_state->gpus[i].facts,
                                &sweep->work.facts)) {
            host_state->gpus[kept++] = host_state->gpus[i];
            continue;
        }
        progress_say(sweep->reactor.progress,
                     "%s: %s is another model than %s; it builds, and does "
                     "not measure (with model= in the hosts file, each model "
                     "has a sweep of its own)",
                     host_state->host->name, host_state->gpus[i].name,
                     sweep->work.gpu_name);
    }
    host_state->n_gpus = kept;
}

int host_model_take(struct sweep *sweep, size_t host, struct err *err)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (!device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CUDA))
        return 0;
    if (host_state->host->model[0])
        return check(sweep, host, err);
    drop_others(sweep, host_state);
    return 0;
}

/* Only hosts in use count: a retired name does not keep a GPU from its
 * successor. */
const struct host_state *host_model_other_name(const struct sweep *sweep,
                                               size_t host, const char *uuid)
{
    for (size_t i = 0; i < sweep->fleet.n; i++)
        for (int g = 0; i != host && g < sweep->fleet.hosts[i].n_gpus; g++)
            if ((host_state_is_connected(&sweep->fleet.hosts[i]) ||
                 leases_hold_gpu(sweep, i, g)) &&
                strcmp(sweep->fleet.hosts[i].gpus[g].uuid, uuid) == 0)
                return &sweep->fleet.hosts[i];
    return NULL;
}
