/* external_strategy_outbox.c - what the program is told and asked */
#include "coordinator/search/external_strategy_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "common/clock.h"
#include "coordinator/model/domain.h"
#include "coordinator/text/value.h"

#define PROTOCOL 1

static void write_levels(struct external_strategy *external,
                         const uint16_t *levels)
{
    for (int t = 0; t < domain_tunables(external->domain); t++)
        buf_printf(&external->out, "%s%d", t ? "," : "[", levels[t]);
    buf_printf(&external->out, "]");
}

static void write_shapes(struct external_strategy *external,
                         const struct external_strategy_options *options)
{
    struct buf *out = &external->out;

    buf_printf(out, "\"shapes\":[");
    for (int i = 0; i < options->n_shapes; i++) {
        buf_printf(out, "%s", i ? "," : "");
        value_quote(options->shapes[i], out);
    }
    buf_printf(out, "],\"objective\":");
    value_quote(options->objective, out);
    buf_printf(out, ",");
}

void external_strategy_put_start(
    struct external_strategy *external,
    const struct external_strategy_options *options)
{
    const struct domain *domain = options->domain;
    struct buf *out = &external->out;

    buf_printf(
        out, "{\"start\":%d,\"seed\":%" PRIu64 ",\"budget\":%d,\"points\":%d,",
        PROTOCOL, options->seed, external->budget, domain_size(domain));
    if (options->n_shapes > 0)
        write_shapes(external, options);
    buf_printf(out, "\"tunables\":[");
    for (int t = 0; t < domain_tunables(domain); t++) {
        const struct domain_tunable *tunable = domain_tunable(domain, t);

        buf_printf(out, "%s{\"name\":", t ? "," : "");
        value_quote(options->tunables[t].name, out);
        buf_printf(out, ",\"ordered\":%s,\"values\":[",
                   tunable->ordered ? "true" : "false");
        for (int i = 0; i < tunable->levels; i++)
            buf_printf(out, "%s%s", i ? "," : "",
                       options->tunables[t].values[i]);
        buf_printf(out, "]}");
    }
    buf_printf(out, "]}\n");
}

void external_strategy_put_ask(struct external_strategy *external)
{
    buf_printf(&external->out, "{\"ask\":1}\n");
    external->deadline_ns = clock_boot_ns() + external->answer_ns;
}

/* The time at each shape; nothing if they are not known. */
static void write_times(struct external_strategy *external, int trial)
{
    const double *times =
        external->times + (size_t)trial * (size_t)external->n_shapes;
    bool known = false;

    if (trial >= external->times_n)
        return;
    for (int i = 0; i < external->n_shapes; i++)
        known = known || !isnan(times[i]);
    for (int i = 0; known && i < external->n_shapes; i++) {
        buf_printf(&external->out, "%s", i ? "," : ",\"times\":[");
        if (isnan(times[i]))
            buf_printf(&external->out, "null");
        else
            buf_printf(&external->out, "%.9g", times[i]);
    }
    if (known)
        buf_printf(&external->out, "]");
}

void external_strategy_put_tell(struct external_strategy *external, int point)
{
    const struct trials *trials = &external->trials;
    enum trial_state state = trials_state(trials, point);

    buf_printf(&external->out, "{\"tell\":");
    write_levels(external, domain_point(external->domain, point));
    if (state == TRIAL_TIMED) {
        buf_printf(&external->out, ",\"state\":\"timed\",\"time\":%.9g",
                   trials->list[trials->of_point[point]].time);
        write_times(external, trials->of_point[point]);
        buf_printf(&external->out, "}\n");
    } else
        buf_printf(&external->out, ",\"state\":\"%s\"}\n",
                   state == TRIAL_FAILED ? "failed" : "lost");
}

void external_strategy_put_illegal(struct external_strategy *external,
                                   const uint16_t *levels)
{
    buf_printf(&external->out, "{\"tell\":");
    write_levels(external, levels);
    buf_printf(&external->out, ",\"state\":\"illegal\"}\n");
}
