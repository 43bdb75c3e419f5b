#include "coordinator/gpu_models/gpu_models.h"

#include <math.h>
#include <string.h>

#include "common/buf.h"

const struct gpu_models_time *
gpu_models_find(const struct gpu_models_side *side, const char *key)
{
    for (size_t i = 0; i < side->n; i++)
        if (strcmp(side->times[i].key, key) == 0)
            return &side->times[i];
    return NULL;
}

const struct gpu_models_time *
gpu_models_winner(const struct gpu_models_side *side)
{
    return side->winner[0] ? gpu_models_find(side, side->winner) : NULL;
}

double gpu_models_cost(const struct gpu_models_side *side, const char *key)
{
    const struct gpu_models_time *winner = gpu_models_winner(side);
    const struct gpu_models_time *time = gpu_models_find(side, key);

    if (side->emulated || !winner || !time)
        return (double)NAN;
    return time->seconds / winner->seconds - 1;
}

/* The highest cost of a configuration, and where.  False unless every model has
 * one. */
static bool highest(const struct gpu_models *models, const char *key,
                    struct gpu_models_common *out)
{
    out->cost = -INFINITY;
    for (size_t i = 0; i < models->n; i++) {
        double cost = gpu_models_cost(&models->sides[i], key);

        if (isnan(cost))
            return false;
        if (cost > out->cost) {
            out->cost = cost;
            out->at = i;
        }
    }
    return models->n > 0;
}

void gpu_models_common(const struct gpu_models *models,
                       struct gpu_models_common *out)
{
    *out = (struct gpu_models_common){ .cost = INFINITY };
    for (size_t i = 0; models->n > 0 && i < models->sides[0].n; i++) {
        struct gpu_models_common this = { .config =
                                              &models->sides[0].times[i] };

        if (highest(models, this.config->key, &this) && this.cost < out->cost)
            *out = this;
    }
}

bool gpu_models_same_file(const struct gpu_models *models)
{
    const char *first = NULL;

    for (size_t i = 0; i < models->n; i++) {
        const char *file = models->sides[i].file;

        if (!file[0])
            continue;
        if (first && strcmp(first, file) != 0)
            return false;
        first = file;
    }
    return true;
}

static void put_side(const struct gpu_models_side *side, struct buf *out)
{
    const struct gpu_models_time *winner = gpu_models_winner(side);

    buf_printf(out, "%s: ", side->model);
    if (!winner || side->emulated)
        buf_printf(out, "no winner");
    else if (side->baseline)
        buf_printf(out, "the baseline, %s", winner->name);
    else if (isnan(side->speedup.value))
        buf_printf(out, "%s, not confirmed", winner->name);
    else
        buf_printf(out, "%s, %.3gx", winner->name, side->speedup.value);
    buf_printf(out, "; ");
}

void gpu_models_sentence(const struct gpu_models *models, struct buf *out)
{
    const char *all = models->n == 2 ? "both" : "all";
    struct gpu_models_common common;
    bool emulated = false;

    for (size_t i = 0; i < models->n; i++) {
        put_side(&models->sides[i], out);
        emulated = emulated || models->sides[i].emulated;
    }
    gpu_models_common(models, &common);
    if (!common.config && emulated)
        buf_printf(out, "emulated times are not compared");
    else if (!common.config)
        buf_printf(out, "no configuration has times on %s", all);
    else if (common.cost < 0.0005)
        buf_printf(out, "%s on %s costs nothing", common.config->name, all);
    else
        buf_printf(out, "%s on %s costs %.2g %% on %s", common.config->name,
                   all, 100 * common.cost, models->sides[common.at].model);
}
