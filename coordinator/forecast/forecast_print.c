#include "coordinator/forecast/forecast.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/buf.h"
#include "coordinator/estimate/estimate_fleet.h"
#include "coordinator/live/live_text.h"
#include "coordinator/tasks/run.h"

#define LABEL 15 /* columns, in what 'check' prints */
#define FLEET_MAX (1 << 16)
#define WORTH 0.05 /* a builder that changes less is not spoken of */

__attribute__((format(printf, 3, 4))) static void
line(bool columns, const char *label, const char *fmt, ...)
{
    va_list ap;

    if (columns)
        printf("  %-*s ", LABEL, label);
    else
        printf("%s: ", label);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

/* How to know more; machines of which little is known make it wide, too. */
static void print_narrower(const struct forecast *forecast, bool columns)
{
    const struct estimate_machine *open = NULL;

    for (size_t i = 0; i < forecast->n && !open; i++)
        if (forecast->machines[i].slots.low < forecast->machines[i].slots.high)
            open = &forecast->machines[i];
    if (open)
        line(columns, "narrower",
             "slots= for %s, which may have %g to %g; and begin: what %d "
             "builds and measurements took counts from then on, also if the "
             "sweep is stopped and resumed",
             open->name, open->slots.low, open->slots.high,
             FORECAST_BUILDS_LEAST);
    else
        line(columns, "narrower",
             "begin: what %d builds and measurements took counts from then "
             "on, also if the sweep is stopped and resumed",
             FORECAST_BUILDS_LEAST);
}

static void print_source(const struct forecast *forecast, bool columns)
{
    const struct estimate_times *times = &forecast->problem.times;

    const char *named = forecast->run->set.times;

    if (!forecast->learnt_from && named) {
        line(columns, "from",
             "defaults: %s teaches too little: builds that came from a cache "
             "have no time; the range is wide",
             named);
        return;
    }
    if (!forecast->learnt_from) {
        line(columns, "from",
             "defaults: no build was ever timed, so the range is wide: %g to "
             "%g s a build, %g to %g s a measurement; --times names the "
             "database of another sweep",
             estimate_default_build.low, estimate_default_build.high,
             estimate_default_measure.low, estimate_default_measure.high);
        print_narrower(forecast, columns);
        return;
    }
    line(columns, "from",
         "%s: %.0f builds of %.3g s and %.0f measurements of %.3g s in %s",
         estimate_source_text(times->source), times->build.n,
         times->build.mean_s, times->measure.n, times->measure.mean_s,
         forecast->learnt_from);
    if (forecast->settled > 0)
        line(columns, "done",
             "%" PRId64 " configurations, which are not tried again",
             forecast->settled);
}

static void print_cost(const struct forecast *forecast, bool columns)
{
    const struct estimate *estimate = &forecast->estimate;
    char low[LIVE_TEXT_BYTES], likely[LIVE_TEXT_BYTES], high[LIVE_TEXT_BYTES];

    if (estimate->priced == 0)
        line(columns, "cost", "unknown, because no host has a price");
    else
        line(columns, "cost", "%s to %s, likely %s, at $%.4g an hour%s",
             live_text_usd(estimate->usd.low, low),
             live_text_usd(estimate->usd.high, high),
             live_text_usd(estimate->usd.likely, likely),
             estimate->usd_per_hour,
             estimate->priced < estimate->machines
                 ? ", without the unpriced hosts"
                 : "");
}

static void put_machines(const char *name, int count, struct buf *out)
{
    const char *comma = out->len ? ", " : "";

    if (count > 1)
        buf_printf(out, "%s%d like %s", comma, count, name);
    else
        buf_printf(out, "%s%s", comma, name);
}

static void print_fleet(const struct forecast *forecast,
                        enum estimate_goal goal, bool columns)
{
    struct estimate_fleet fleet;
    char text[LIVE_TEXT_BYTES], usd[LIVE_TEXT_BYTES];
    struct buf hosts;

    if (!estimate_fleet_choose(&forecast->problem, goal, &fleet))
        return;
    buf_init(&hosts, FLEET_MAX);
    for (size_t i = 0; i < forecast->n; i++)
        if (fleet.counts[i] > 0)
            put_machines(forecast->machines[i].name, fleet.counts[i], &hosts);
    live_text_duration(fleet.estimate.wall_s.likely, text);
    if (fleet.estimate.priced > 0)
        live_text_usd(fleet.estimate.usd.likely, usd);
    line(columns, goal == ESTIMATE_CHEAPEST ? "cheapest" : "fastest",
         "%zu of %zu host%s (%s): %s%s%s", fleet.estimate.machines,
         forecast->run->hosts.n, forecast->run->hosts.n == 1 ? "" : "s",
         buf_text(&hosts), text, fleet.estimate.priced > 0 ? ", " : "",
         fleet.estimate.priced > 0 ? usd : "");
    buf_fini(&hosts);
}

static void print_builder(const struct forecast *forecast, bool columns)
{
    const struct estimate *now = &forecast->estimate;
    struct estimate with;
    double s, usd;

    if (!estimate_fleet_add_builder(&forecast->problem, forecast->counts,
                                    &with))
        return;
    s = with.wall_s.likely / now->wall_s.likely - 1;
    usd = now->usd.likely > 0 ? with.usd.likely / now->usd.likely - 1 : 0;
    if (fmax(fabs(s), fabs(usd)) < WORTH)
        return;
    if (now->usd.likely > 0)
        line(columns, "adding",
             "a builder of %d cores at $%.2f an hour: %+.0f %% dollars, %+.0f "
             "%% time",
             ESTIMATE_FLEET_BUILDER_SLOTS, ESTIMATE_FLEET_BUILDER_USD_PER_HOUR,
             100 * usd, 100 * s);
    else
        line(columns, "adding", "a builder of %d cores: %+.0f %% time",
             ESTIMATE_FLEET_BUILDER_SLOTS, 100 * s);
}

void forecast_print(const struct forecast *forecast, bool columns)
{
    const struct estimate *estimate = &forecast->estimate;
    char low[LIVE_TEXT_BYTES], likely[LIVE_TEXT_BYTES], high[LIVE_TEXT_BYTES];

    line(columns, "work", "about %s of building and %s of measuring",
         live_text_duration(estimate->build_core_s.likely, low),
         live_text_duration(estimate->measure_gpu_s.likely, high));
    line(columns, "time", "%s to %s, likely %s, with setup%s",
         live_text_duration(estimate->wall_s.low, low),
         live_text_duration(estimate->wall_s.high, high),
         live_text_duration(estimate->wall_s.likely, likely),
         forecast->problem.work.then_s.high > 0 ? " and confirmation" : "");
    print_cost(forecast, columns);
    print_source(forecast, columns);
    if (forecast->run->hosts.n > 1) {
        print_fleet(forecast, ESTIMATE_CHEAPEST, columns);
        print_fleet(forecast, ESTIMATE_FASTEST, columns);
    }
    print_builder(forecast, columns);
}
