#include "coordinator/exchange/nvbench.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/buf.h"
#include "common/outcome.h"
#include "coordinator/exchange/exchange_value.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"
#include "coordinator/stats/stats.h"
#include "coordinator/text/decimal.h"
#include "coordinator/text/json_out.h"

#define LIST_BYTES_MAX (1 << 20)

/* int64, float64 or string; a bool is 0 or 1. */
static const char *type_of(const struct landscape_tunable *tunable)
{
    if (!tunable->ordered)
        return "string";
    for (int i = 0; i < tunable->n; i++)
        if (strpbrk(tunable->texts[i], ".eE"))
            return "float64";
    return "int64";
}

static void put_level(const struct landscape_tunable *tunable, int level,
                      const char *key, struct json_out *out)
{
    struct buf text;

    buf_init(&text, LIST_BYTES_MAX);
    exchange_value_python(tunable, level, &text);
    json_out_text(out, key, buf_text(&text));
    buf_fini(&text);
}

static void put_axes(const struct landscape *landscape, struct json_out *out)
{
    json_out_open(out, "axes", '[');
    for (int t = 0; t < landscape->tunables_n; t++) {
        const struct landscape_tunable *tunable = &landscape->tunables[t];

        json_out_open(out, NULL, '{');
        json_out_text(out, "name", tunable->name);
        json_out_text(out, "type", type_of(tunable));
        json_out_text(out, "flags", "");
        json_out_open(out, "values", '[');
        for (int i = 0; i < tunable->n; i++) {
            json_out_open(out, NULL, '{');
            put_level(tunable, i, "input_string", out);
            json_out_text(out, "description", "");
            put_level(tunable, i, "value", out);
            json_out_close(out);
        }
        json_out_close(out);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_summary(const char *tag, const char *name, const char *hint,
                        const char *type, double number, struct json_out *out)
{
    char text[DECIMAL_BYTES];

    decimal_repr(number, text);
    if (strcmp(type, "int64") == 0)
        text[strcspn(text, ".")] = '\0';
    json_out_open(out, NULL, '{');
    json_out_text(out, "tag", tag);
    json_out_text(out, "name", name);
    json_out_text(out, "hint", hint);
    json_out_open(out, "data", '[');
    json_out_open(out, NULL, '{');
    json_out_text(out, "name", "value");
    json_out_text(out, "type", type);
    json_out_text(out, "value", text);
    json_out_close(out);
    json_out_close(out);
    json_out_close(out);
}

/* nvbench's noise is the standard deviation over the mean. */
static void put_summaries(const struct landscape *landscape,
                          const struct landscape_config *config,
                          struct json_out *out)
{
    const double *samples = config->samples_n > 0
                                ? &landscape->samples[config->sample_at]
                                : &config->time_s;
    int n = config->samples_n > 0 ? config->samples_n : 1;
    double mean = exchange_value_time(landscape, config), squares = 0;
    double least = samples[0], most = samples[0], sd;
    struct summary times;

    for (int i = 0; i < n; i++) {
        squares += (samples[i] - mean) * (samples[i] - mean);
        least = fmin(least, samples[i]);
        most = fmax(most, samples[i]);
    }
    sd = n > 1 ? sqrt(squares / (n - 1)) : 0;
    stats_summary(samples, (size_t)n, &times);
    put_summary("nv/cold/sample_size", "Samples", "sample_size", "int64", n,
                out);
    put_summary("nv/cold/time/gpu/min", "Min GPU Time", "duration", "float64",
                least, out);
    put_summary("nv/cold/time/gpu/max", "Max GPU Time", "duration", "float64",
                most, out);
    put_summary("nv/cold/time/gpu/mean", "GPU Time", "duration", "float64",
                mean, out);
    put_summary("nv/cold/time/gpu/median", "Median GPU Time", "duration",
                "float64", times.median, out);
    put_summary("nv/cold/time/gpu/stdev/absolute", "Noise", "duration",
                "float64", sd, out);
    put_summary("nv/cold/time/gpu/stdev/relative", "Noise", "percentage",
                "float64", sd / mean, out);
}

static void put_name(const struct landscape *landscape, int point,
                     struct json_out *out)
{
    const uint16_t *levels = domain_point(landscape->domain, point);
    struct buf name;

    buf_init(&name, LIST_BYTES_MAX);
    buf_printf(&name, "Device=0");
    for (int t = 0; t < landscape->tunables_n; t++) {
        buf_printf(&name, " %s=", landscape->tunables[t].name);
        exchange_value_python(&landscape->tunables[t], levels[t], &name);
    }
    json_out_text(out, "name", buf_text(&name));
    buf_fini(&name);
}

static void put_state(const struct landscape *landscape, int point,
                      struct json_out *out)
{
    const struct landscape_config *config = &landscape->configs[point];
    const uint16_t *levels = domain_point(landscape->domain, point);
    bool timed = config->outcome == OUTCOME_CORRECT;

    json_out_open(out, NULL, '{');
    put_name(landscape, point, out);
    json_out_int(out, "device", 0);
    json_out_int(out, "type_config_index", 0);
    json_out_open(out, "axis_values", '[');
    for (int t = 0; t < landscape->tunables_n; t++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "name", landscape->tunables[t].name);
        json_out_text(out, "type", type_of(&landscape->tunables[t]));
        put_level(&landscape->tunables[t], levels[t], "value", out);
        json_out_close(out);
    }
    json_out_close(out);
    json_out_open(out, "summaries", '[');
    if (timed)
        put_summaries(landscape, config, out);
    json_out_close(out);
    json_out_bool(out, "is_skipped", !timed);
    if (!timed)
        json_out_text(out, "skip_reason",
                      config->reason && *config->reason
                          ? config->reason
                          : outcome_name(config->outcome));
    json_out_close(out);
}

static void put_version(const char *name, struct json_out *out)
{
    json_out_open(out, name, '{');
    json_out_int(out, "major", 1);
    json_out_int(out, "minor", 0);
    json_out_int(out, "patch", 0);
    json_out_text(out, "string", "1.0.0");
    json_out_close(out);
}

void nvbench_write(const struct landscape *landscape, FILE *to)
{
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_open(&out, "meta", '{');
    json_out_text(&out, "program", "fa-coord " FA_VERSION);
    json_out_open(&out, "version", '{');
    put_version("json", &out);
    json_out_close(&out);
    json_out_close(&out);
    json_out_open(&out, "devices", '[');
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "id", 0);
    json_out_text(&out, "name", landscape->device);
    json_out_close(&out);
    json_out_close(&out);
    json_out_open(&out, "benchmarks", '[');
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "index", 0);
    json_out_text(&out, "name", landscape->kernel);
    json_out_raw(&out, "devices", "[0]");
    put_axes(landscape, &out);
    json_out_open(&out, "states", '[');
    for (int i = 0; i < domain_size(landscape->domain); i++)
        put_state(landscape, exchange_value_point(landscape, i), &out);
    json_out_close(&out);
    json_out_close(&out);
    json_out_close(&out);
    json_out_close(&out);
}
