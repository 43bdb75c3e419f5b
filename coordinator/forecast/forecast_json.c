#include <math.h>

#include "common/buf.h"
#include "coordinator/estimate/estimate_fleet.h"
#include "coordinator/forecast/forecast.h"
#include "coordinator/tasks/run.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/value.h"

#define TEXT_MAX 8192

static void put_counts(struct json_out *out, const struct forecast *forecast,
                       const int *counts)
{
    json_out_open(out, "hosts", '[');
    for (size_t i = 0; i < forecast->n; i++) {
        if (counts[i] == 0)
            continue;
        json_out_open(out, NULL, '{');
        json_out_text(out, "like", forecast->machines[i].name);
        json_out_int(out, "count", counts[i]);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_fleet(struct json_out *out, const struct forecast *forecast,
                      const char *key, enum estimate_goal goal)
{
    struct estimate_fleet fleet;

    if (!estimate_fleet_choose(&forecast->problem, goal, &fleet)) {
        json_out_null(out, key);
        return;
    }
    json_out_open(out, key, '{');
    json_out_real(out, "wall_s", fleet.estimate.wall_s.likely);
    json_out_real(out, "usd", fleet.estimate.usd.likely);
    put_counts(out, forecast, fleet.counts);
    json_out_close(out);
}

static void put_builder(struct json_out *out, const struct forecast *forecast)
{
    struct estimate with;

    if (!estimate_fleet_add_builder(&forecast->problem, forecast->counts,
                                    &with)) {
        json_out_null(out, "one_more_builder");
        return;
    }
    json_out_open(out, "one_more_builder", '{');
    json_out_int(out, "slots", ESTIMATE_FLEET_BUILDER_SLOTS);
    json_out_real(out, "usd_per_hour", ESTIMATE_FLEET_BUILDER_USD_PER_HOUR);
    json_out_real(out, "wall_s", with.wall_s.likely);
    json_out_real(out, "usd", with.usd.likely);
    json_out_close(out);
}

void forecast_put(const struct forecast *forecast, struct json_out *out)
{
    const struct estimate *estimate = &forecast->estimate;
    const struct estimate_times *times = &forecast->problem.times;

    json_out_real(out, "build_core_s", estimate->build_core_s.likely);
    json_out_real(out, "measure_gpu_s", estimate->measure_gpu_s.likely);
    json_out_real(out, "wall_s", estimate->wall_s.likely);
    json_out_interval(out, "wall_range_s", estimate->wall_s.low,
                      estimate->wall_s.high);
    json_out_real(out, "usd", estimate->usd.likely);
    json_out_interval(out, "usd_range", estimate->usd.low, estimate->usd.high);
    json_out_text(out, "from", estimate_source_text(times->source));
    if (forecast->learnt_from)
        json_out_text(out, "learnt_from", forecast->learnt_from);
    else
        json_out_null(out, "learnt_from");
    json_out_int(out, "builds_timed", (int64_t)times->build.n);
    json_out_int(out, "measurements_timed", (int64_t)times->measure.n);
    json_out_int(out, "settled", forecast->settled);
    put_counts(out, forecast, forecast->counts);
    put_fleet(out, forecast, "cheapest", ESTIMATE_CHEAPEST);
    put_fleet(out, forecast, "fastest", ESTIMATE_FASTEST);
    put_builder(out, forecast);
}

/* JSON has no NaN. */
static void put_range(struct buf *text, const char *name,
                      const struct estimate_range *range)
{
    if (isfinite(range->low) && isfinite(range->high))
        buf_printf(text,
                   "\"%s_low\": %.6g, \"%s_likely\": %.6g, "
                   "\"%s_high\": %.6g, ",
                   name, range->low, name, range->likely, name, range->high);
}

char *forecast_text(const struct forecast *forecast)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    buf_printf(&text, "{");
    put_range(&text, "wall_s", &forecast->estimate.wall_s);
    put_range(&text, "usd", &forecast->estimate.usd);
    buf_printf(&text, "\"from\": ");
    value_quote(estimate_source_text(forecast->problem.times.source), &text);
    buf_printf(&text, "}");
    return text.bytes;
}
