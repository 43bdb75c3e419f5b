/* Reads the sweeps of several GPU models from their databases. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/gpu_models/gpu_models.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_gpus.h"
#include "coordinator/result/report_objective.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"

#define NAME_MAX_BYTES (1 << 16)

static char *name_of(const struct report_config *config)
{
    struct buf name;

    buf_init(&name, NAME_MAX_BYTES);
    for (size_t i = 0; i < config->params.n; i++)
        buf_printf(&name, "%s%s=%s", i ? " " : "", config->params.items[i].name,
                   config->params.items[i].text);
    return name.bytes ? name.bytes : mem_strdup(config->key);
}

static void take_times(const struct report *report,
                       struct gpu_models_side *side)
{
    int objective = report_objective(report);

    side->times = mem_new(report->n_configs + 1, sizeof(*side->times));
    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];
        struct gpu_models_time *time = &side->times[side->n];

        if (!config->rank)
            continue;
        memcpy(time->key, config->key, sizeof(time->key));
        time->name = name_of(config);
        time->params = mem_strdup(config->json);
        time->seconds = report_objective_time(report, config, objective);
        side->n++;
    }
}

/* Of the winner, if it was compared at the shape where it is one. */
static void take_speedup(const struct conclusion *c,
                         const struct winner *winner,
                         struct gpu_models_side *side)
{
    const struct conclusion_shape *shape = NULL;

    for (size_t i = 0; i < c->n_shapes && !shape; i++)
        if (strcmp(c->shapes[i].name, winner->shape) == 0)
            shape = &c->shapes[i];
    if (c->state != CONCLUSION_DONE || c->emulated || !shape)
        return;
    for (size_t i = 0; i < c->n; i++) {
        const struct speedup *speedup = &shape->findings[i].speedup;

        if (c->entries[i].config != winner->config)
            continue;
        side->baseline = i == 0;
        side->speedup = (struct gpu_models_speedup){ speedup->value,
                                                     speedup->lo, speedup->hi };
    }
}

static void take_winner(const struct report *report,
                        const struct conclusion *conclusion,
                        struct gpu_models_side *side)
{
    struct winner winner;
    struct err err;

    if (winner_find(report, report_objective(report), &winner, &err) != 0) {
        free(side->verdict);
        side->verdict = mem_strdup(err.text);
        return;
    }
    winner_confirm(conclusion, &winner);
    memcpy(side->winner, winner.config->key, sizeof(side->winner));
    free(side->state);
    side->state = mem_strdup(winner.state);
    take_speedup(conclusion, &winner, side);
}

static void replace(char **text, const char *with)
{
    free(*text);
    *text = mem_strdup(with);
}

static int load(struct store *store, struct gpu_models_side *side,
                struct err *err)
{
    struct report *report = NULL;
    struct report_cost *cost = NULL;
    struct conclusion *conclusion = NULL;
    int rc = sql_run(store_db(store), "SAVEPOINT gpu_models", err);

    if (rc == 0)
        rc = report_load(store, &report, err);
    if (rc == 0)
        rc = report_cost_load(store, &cost, err);
    if (rc == 0)
        rc = conclusion_load(store, report, cost, CONFIRMATION_CONFIRM,
                             &conclusion, err);
    if (rc == 0) {
        side->emulated = conclusion->emulated;
        replace(&side->verdict, conclusion->sentence);
        replace(&side->file, report->file.text);
        replace(&side->sweep, report->name);
        replace(&side->gpu, report->sweep.recorded_on
                                ? report->sweep.recorded_on
                            : report->n_gpus ? report->gpus[0].name
                                             : "");
        take_times(report, side);
        take_winner(report, conclusion, side);
    }
    conclusion_free(conclusion);
    report_cost_free(cost);
    report_free(report);
    return rc;
}

int gpu_models_load(const char *const *labels, const char *const *databases,
                    size_t n, struct gpu_models *out, struct err *err)
{
    int unread = 0;

    *out = (struct gpu_models){ mem_new(n, sizeof(*out->sides)), n };
    for (size_t i = 0; i < n; i++) {
        struct gpu_models_side *side = &out->sides[i];
        struct store *store = NULL;
        struct err why;
        int rc;

        *side = (struct gpu_models_side){
            .model = mem_strdup(labels[i]),
            .database = mem_strdup(databases[i]),
            .gpu = mem_strdup(""),
            .file = mem_strdup(""),
            .sweep = mem_strdup(""),
            .verdict = mem_strdup(""),
            .state = mem_strdup("no winner"),
            .speedup = { (double)NAN, (double)NAN, (double)NAN },
        };
        rc = store_open(databases[i], STORE_WHOLE, &store, &why);
        if (rc == 0)
            rc = load(store, side, &why);
        if (rc < 0)
            replace(&side->verdict, why.text);
        if (rc == ERR_STORE && unread == 0) {
            unread = rc;
            *err = why;
        }
        store_close(store);
    }
    return unread;
}

void gpu_models_fini(struct gpu_models *models)
{
    for (size_t i = 0; i < models->n; i++) {
        struct gpu_models_side *side = &models->sides[i];

        for (size_t t = 0; t < side->n; t++) {
            free(side->times[t].name);
            free(side->times[t].params);
        }
        free(side->times);
        free(side->model);
        free(side->database);
        free(side->gpu);
        free(side->file);
        free(side->sweep);
        free(side->verdict);
        free(side->state);
    }
    free(models->sides);
    *models = (struct gpu_models){ 0 };
}
