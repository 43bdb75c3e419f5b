/* The sweeps of several GPU models for programs. */
#include <stddef.h>

#include "common/buf.h"
#include "coordinator/gpu_models/gpu_models.h"
#include "coordinator/text/json_out.h"

#define TEXT_MAX (1 << 16)

static void put_costs(const struct gpu_models *models, const char *key,
                      struct json_out *out)
{
    json_out_open(out, "cost", '{');
    for (size_t i = 0; i < models->n; i++)
        json_out_real(out, models->sides[i].model,
                      gpu_models_cost(&models->sides[i], key));
    json_out_close(out);
}

static void put_config(const struct gpu_models *models, const char *name,
                       const struct gpu_models_time *config,
                       struct json_out *out)
{
    if (!config) {
        json_out_null(out, name);
        return;
    }
    json_out_open(out, name, '{');
    json_out_text(out, "key", config->key);
    json_out_raw(out, "config", config->params);
    put_costs(models, config->key, out);
    json_out_close(out);
}

static void put_side(const struct gpu_models *models,
                     const struct gpu_models_side *side, struct json_out *out)
{
    json_out_open(out, NULL, '{');
    json_out_text(out, "model", side->model);
    json_out_text(out, "gpu", side->gpu);
    json_out_text(out, "database", side->database);
    json_out_int(out, "correct", (int64_t)side->n);
    json_out_text(out, "state", side->state);
    json_out_text(out, "verdict", side->verdict);
    json_out_bool(out, "baseline_wins", side->baseline);
    json_out_real(out, "speedup", side->speedup.value);
    json_out_interval(out, "speedup_ci_95", side->speedup.lo, side->speedup.hi);
    put_config(models, "winner", gpu_models_winner(side), out);
    json_out_close(out);
}

void gpu_models_json(const struct gpu_models *models, struct json_out *out)
{
    struct gpu_models_common common;
    struct buf text;

    buf_init(&text, TEXT_MAX);
    gpu_models_sentence(models, &text);
    json_out_text(out, "answer", buf_text(&text));
    buf_fini(&text);
    json_out_bool(out, "same_sweep_file", gpu_models_same_file(models));
    json_out_open(out, "models", '[');
    for (size_t i = 0; i < models->n; i++)
        put_side(models, &models->sides[i], out);
    json_out_close(out);
    gpu_models_common(models, &common);
    put_config(models, "best_for_all", common.config, out);
}
