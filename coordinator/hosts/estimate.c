#include "coordinator/hosts/estimate.h"

#include <math.h>
#include <string.h>

#include "coordinator/hosts/hosts.h"

/* "all" of an unknown number is one at least. */
static int gpus_of(const struct host *host)
{
    const char *gpus = host_gpus(host);
    int n = 1;

    if (strcmp(gpus, "none") == 0)
        return 0;
    for (const char *at = gpus; *at; at++)
        n += *at == ',';
    return n;
}

static int slots_of(const struct host *host)
{
    if (host->role == HOST_GPU)
        return 0;
    return host->slots ? host->slots : 1;
}

void estimate_make(const struct hosts *hosts, double build_core_s,
                   double measure_gpu_s, struct estimate *out)
{
    int gpus = 0, slots = 0;

    *out = (struct estimate){ .build_core_s = build_core_s,
                              .measure_gpu_s = measure_gpu_s };
    for (size_t i = 0; i < hosts->n; i++) {
        const struct host *host = &hosts->list[i];

        gpus += gpus_of(host);
        slots += slots_of(host);
        out->priced += host->has_rate;
        out->usd_per_hour += host->has_rate ? host->rate : 0;
    }
    out->wall_s = out->build_core_s / (slots ? slots : 1) +
                  out->measure_gpu_s / (gpus ? gpus : 1);
    out->usd =
        out->priced ? out->usd_per_hour * out->wall_s / 3600 : (double)NAN;
}
