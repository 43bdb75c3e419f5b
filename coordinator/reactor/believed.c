#include "coordinator/reactor/believed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/notes/description.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/text/exit_code.h"

bool believed_is_same(const char *sweep_file,
                      const struct gpu_arch_facts *believed,
                      const struct gpu_arch_facts *real, char *why, size_t size)
{
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++) {
        const char *name = gpu_arch_fact_name(i);
        int64_t was = gpu_arch_fact(believed, i), is = gpu_arch_fact(real, i);

        if (was == is ||
            (believed->arch == real->arch && !gpu_arch_is_named(sweep_file, i)))
            continue;
        snprintf(why, size, "%s is %" PRId64 ", not %" PRId64, name, is, was);
        return false;
    }
    return true;
}

static void say(struct sweep *sweep, size_t host, const char *why)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    char text[1200];

    snprintf(text, sizeof(text),
             "%s: its GPU, %s, is another than was believed, %s: %s; the gates "
             "are evaluated again, and what no longer passes is dropped",
             host_state->host->name, host_state->gpus[0].name,
             sweep->work.gpu_name, why);
    records_put_event(sweep, "W", "FACTS-DIFFER", text);
    progress_say(sweep->reactor.progress, "%s", text);
}

/* What the sweep file does not use is corrected where reports read it. */
static bool take_over(struct sweep *sweep, const struct host_state *host_state,
                      struct err *err)
{
    sweep->work.facts = host_state->gpus[0].facts;
    snprintf(sweep->work.gpu_name, sizeof(sweep->work.gpu_name), "%s",
             host_state->gpus[0].name);
    if (description_put_facts(sweep, err) == 0)
        return true;
    reactor_fail(sweep, EXIT_DATABASE, err);
    return false;
}

bool believed_check(struct sweep *sweep, size_t host, struct err *err)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    char why[128];

    if (!sweep->fleet.is_believed || host_state->n_gpus == 0)
        return true;
    sweep->fleet.is_believed = false;
    if (believed_is_same(sweep->work.spec->file.text, &sweep->work.facts,
                         &host_state->gpus[0].facts, why, sizeof(why)))
        return take_over(sweep, host_state, err);
    say(sweep, host, why);
    *sweep->reactor.options->stay.rental.refuted = true;
    sweep->reactor.ending = "partial";
    return false;
}
