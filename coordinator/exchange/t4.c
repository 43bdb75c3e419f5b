#include "coordinator/exchange/t4.h"

#include "common/outcome.h"
#include "coordinator/exchange/exchange_value.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"
#include "coordinator/text/json_out.h"

#define SCHEMA_VERSION "1.0.0"

static void put_times(const struct landscape *landscape,
                      const struct landscape_config *config,
                      struct json_out *out)
{
    json_out_open(out, "times", '{');
    exchange_value_ms(out, "compilation_time", config->compile_s);
    exchange_value_ms(out, "compilation", config->compile_s);
    exchange_value_ms(out, "benchmark", config->bench_s);
    exchange_value_ms(out, "validation", config->verify_s);
    json_out_int(out, "framework", 0);
    json_out_int(out, "search_algorithm", 0);
    if (config->outcome == OUTCOME_CORRECT)
        exchange_value_samples(landscape, config, "runtimes", out);
    json_out_close(out);
}

static void put_measurements(const struct landscape *landscape,
                             const struct landscape_config *config,
                             struct json_out *out)
{
    json_out_open(out, "measurements", '[');
    if (config->outcome == OUTCOME_CORRECT) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "name", "time");
        exchange_value_ms(out, "value", exchange_value_time(landscape, config));
        json_out_text(out, "unit", "ms");
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_result(const struct landscape *landscape, int point,
                       struct json_out *out)
{
    const struct landscape_config *config = &landscape->configs[point];

    json_out_open(out, NULL, '{');
    exchange_value_utc(out, "timestamp", config->recorded_utc);
    json_out_open(out, "configuration", '{');
    exchange_value_params(landscape, point, out);
    json_out_close(out);
    put_times(landscape, config, out);
    json_out_text(out, "invalidity", outcome_name(config->outcome));
    if (config->reason)
        json_out_text(out, LANDSCAPE_REASON, config->reason);
    json_out_int(out, "correctness", config->outcome == OUTCOME_CORRECT);
    put_measurements(landscape, config, out);
    json_out_open(out, "objectives", '[');
    json_out_text(out, NULL, "time");
    json_out_close(out);
    json_out_close(out);
}

void t4_write(const struct landscape *landscape, FILE *to)
{
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "schema_version", SCHEMA_VERSION);
    json_out_open(&out, "metadata", '{');
    json_out_text(&out, "timeunit", "milliseconds");
    json_out_text(&out, "device", landscape->device);
    json_out_text(&out, "device_name", landscape->device);
    json_out_text(&out, "kernel_name", landscape->kernel);
    json_out_close(&out);
    json_out_open(&out, "results", '[');
    for (int i = 0; i < domain_size(landscape->domain); i++)
        put_result(landscape, exchange_value_point(landscape, i), &out);
    json_out_close(&out);
    json_out_close(&out);
}
