#include "coordinator/forecast/forecast_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/rental/rental_plan.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_rental.h"

/* Of a host that does not say, and that no database knows: from the smallest
 * to the largest that is usual. */
static const struct estimate_range any_slots = { 2, 4, 32 };
static const struct estimate_range any_gpus = { 1, 1, 8 };

static struct estimate_range exactly(double n)
{
    return (struct estimate_range){ n, n, n };
}

static struct estimate_range slots_of(const struct host *host,
                                      const struct stored_pace_host *known)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (host->role == HOST_GPU)
        return exactly(0);
    if (host->slots > 0)
        return exactly(host->slots);
    if (known && known->slots > 0)
        return exactly((double)known->slots);
    return host->local && cores > 0 ? exactly((double)cores) : any_slots;
}

static struct estimate_range gpus_of(const struct host *host,
                                     const struct stored_pace_host *known)
{
    const char *gpus = host_gpus(host);
    int n = 1;

    if (strcmp(gpus, "none") == 0)
        return exactly(0);
    for (const char *at = gpus; *at; at++)
        n += *at == ',';
    if (strcmp(gpus, "all") != 0)
        return exactly(n);
    if (known && known->gpus > 0)
        return exactly((double)known->gpus);
    return host->local ? exactly(1) : any_gpus;
}

static struct estimate_machine machine_of(const struct run *run,
                                          const struct stored_pace *pace,
                                          const struct host *host)
{
    const struct stored_pace_host *known = stored_pace_find(pace, host->name);
    bool rented = host_is_rented(host);

    return (struct estimate_machine){
        .name = host->name,
        .count = 1,
        .slots = slots_of(host, known),
        .gpus = gpus_of(host, known),
        .has_rate = host->has_rate,
        .rate = host->has_rate ? host->rate : 0,
        .build_s = known && known->builds > 0 ? known->build_s : 0,
        .rental = { .is = rented,
                    .comes_late = rented && host->role == HOST_GPU &&
                                  strcmp(run->set.rented.plan, "fastest") != 0,
                    .boot_s = host->rental.boot_s,
                    .min_s = host->rental.min_bill_s,
                    .round_s = host->rental.round_s },
    };
}

static bool same_range(const struct estimate_range *a,
                       const struct estimate_range *b)
{
    return a->low == b->low && a->likely == b->likely && a->high == b->high;
}

static bool is_alike(const struct estimate_machine *a,
                     const struct estimate_machine *b)
{
    return same_range(&a->slots, &b->slots) && same_range(&a->gpus, &b->gpus) &&
           a->has_rate == b->has_rate && a->rate == b->rate &&
           a->build_s == b->build_s && a->rental.is == b->rental.is &&
           a->rental.comes_late == b->rental.comes_late &&
           a->rental.boot_s == b->rental.boot_s &&
           a->rental.min_s == b->rental.min_s &&
           a->rental.round_s == b->rental.round_s;
}

static void add(struct forecast *out, const struct estimate_machine *machine,
                bool is_wanted)
{
    size_t at = 0;

    while (at < out->n && !is_alike(&out->machines[at], machine))
        at++;
    if (at == out->n)
        out->machines[out->n++] = *machine;
    else
        out->machines[at].count++;
    out->counts[at] += is_wanted;
}

void forecast_hosts(const struct run *run, int64_t builds, int64_t measurements,
                    struct forecast *out)
{
    const struct hosts *hosts = &run->hosts;
    bool *wanted = mem_new(hosts->n, sizeof(*wanted));

    out->machines = mem_new(hosts->n, sizeof(*out->machines));
    out->counts = mem_new(hosts->n, sizeof(*out->counts));
    run_rental_wanted(
        run,
        &(struct rental_work){ .is_known = true,
                               .builds = (int)builds,
                               .measurements = (int)measurements,
                               .build_s = out->pace.build.mean_s,
                               .measurement_s = out->pace.measure.mean_s },
        wanted);
    for (size_t i = 0; i < hosts->n; i++) {
        struct estimate_machine machine =
            machine_of(run, &out->pace, &hosts->list[i]);

        add(out, &machine, wanted[i]);
    }
    free(wanted);
}
