#include "coordinator/exchange/kernel_tuner.h"

#include "common/buf.h"
#include "common/outcome.h"
#include "coordinator/exchange/exchange_value.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"
#include "coordinator/text/json_out.h"

#define SCHEMA_VERSION "1.1.0"
#define LIST_BYTES_MAX (1 << 24)

static void put_tunables(const struct landscape *landscape,
                         struct json_out *out)
{
    json_out_open(out, "tune_params_keys", '[');
    for (int t = 0; t < landscape->tunables_n; t++)
        json_out_text(out, NULL, landscape->tunables[t].name);
    json_out_close(out);
    json_out_open(out, "tune_params", '{');
    for (int t = 0; t < landscape->tunables_n; t++) {
        const struct landscape_tunable *tunable = &landscape->tunables[t];
        struct buf list;

        buf_init(&list, LIST_BYTES_MAX);
        for (int i = 0; i < tunable->n; i++) {
            buf_printf(&list, "%s", i ? ", " : "[");
            exchange_value_json(tunable, i, &list);
        }
        buf_printf(&list, "]");
        json_out_raw(out, tunable->name, buf_text(&list));
        buf_fini(&list);
    }
    json_out_close(out);
}

/* Kernel Tuner knows three failures.  It takes results that are wrong, and
 * kernels that take too long, for failures at run time. */
static const char *word_of(enum outcome outcome)
{
    return outcome == OUTCOME_CONSTRAINTS ? "InvalidConfig"
           : outcome == OUTCOME_COMPILE   ? "CompilationFailedConfig"
                                          : "RuntimeFailedConfig";
}

static void put_outcome(const struct landscape *landscape,
                        const struct landscape_config *config,
                        struct json_out *out)
{
    if (config->outcome == OUTCOME_CORRECT) {
        exchange_value_ms(out, "time", exchange_value_time(landscape, config));
        exchange_value_samples(landscape, config, "times", out);
        return;
    }
    json_out_text(out, "time", word_of(config->outcome));
    json_out_text(out, LANDSCAPE_OUTCOME, outcome_name(config->outcome));
    if (config->reason)
        json_out_text(out, LANDSCAPE_REASON, config->reason);
}

/* The key of a configuration: its values, as Python writes them. */
static void open_config(const struct landscape *landscape, int point,
                        struct json_out *out)
{
    const uint16_t *levels = domain_point(landscape->domain, point);
    struct buf key;

    buf_init(&key, LIST_BYTES_MAX);
    for (int t = 0; t < landscape->tunables_n; t++) {
        buf_printf(&key, "%s", t ? "," : "");
        exchange_value_python(&landscape->tunables[t], levels[t], &key);
    }
    json_out_open(out, buf_text(&key), '{');
    buf_fini(&key);
}

static void put_config(const struct landscape *landscape, int point,
                       struct json_out *out)
{
    const struct landscape_config *config = &landscape->configs[point];

    open_config(landscape, point, out);
    exchange_value_params(landscape, point, out);
    put_outcome(landscape, config, out);
    exchange_value_ms(out, "compile_time", config->compile_s);
    exchange_value_ms(out, "verification_time", config->verify_s);
    exchange_value_ms(out, "benchmark_time", config->bench_s);
    json_out_int(out, "strategy_time", 0);
    json_out_int(out, "framework_time", 0);
    exchange_value_utc(out, "timestamp", config->recorded_utc);
    json_out_close(out);
}

void kernel_tuner_write(const struct landscape *landscape, FILE *to)
{
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "schema_version", SCHEMA_VERSION);
    json_out_text(&out, "device_name", landscape->device);
    json_out_text(&out, "kernel_name", landscape->kernel);
    json_out_raw(&out, "problem_size",
                 landscape->problem ? landscape->problem : "[]");
    put_tunables(landscape, &out);
    json_out_text(&out, "objective", "time");
    json_out_open(&out, "cache", '{');
    for (int i = 0; i < domain_size(landscape->domain); i++)
        put_config(landscape, exchange_value_point(landscape, i), &out);
    json_out_close(&out);
    json_out_close(&out);
}
