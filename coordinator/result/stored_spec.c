#include "coordinator/result/stored_spec.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/replay/replay.h"
#include "coordinator/result/report.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stored/stored_params.h"

int stored_spec_facts(const struct report *report, struct gpu_arch_facts *out,
                      struct err *err)
{
    return gpu_arch_parse(report->sweep.facts, out, err);
}

int stored_spec_open(const struct report *report, struct stored_spec *out,
                     struct err *err)
{
    struct gpu_arch_facts facts;
    int rc;

    *out = (struct stored_spec){ NULL, NULL, NULL };
    rc = gpu_arch_parse(report->sweep.facts, &facts, err);
    if (rc == 0)
        rc = spec_parse(report->file.folder, report->file.name,
                        report->file.text, strlen(report->file.text),
                        &out->spec, err);
    if (rc == 0)
        rc = space_open(out->spec, &facts, report->device,
                        replay_points(out->spec->replay), &out->space, err);
    if (rc < 0) {
        stored_spec_close(out);
        err_within(err, rc, "the stored sweep");
        return rc;
    }
    assert(out->spec);
    out->values = mem_new(out->spec->space.n_axes, sizeof(*out->values));
    return 0;
}

void stored_spec_close(struct stored_spec *stored)
{
    free(stored->values);
    space_close(stored->space);
    spec_free(stored->spec);
    *stored = (struct stored_spec){ NULL, NULL, NULL };
}

int stored_spec_values(struct stored_spec *stored,
                       const struct stored_params *params, struct err *err)
{
    for (size_t i = 0; i < stored->spec->space.n_axes; i++) {
        const struct spec_axis *axis = &stored->spec->space.axes[i];
        const struct stored_param *param =
            stored_params_find_at(params, i, axis->name);

        if (!param)
            return err_set(err, ERR_STORE,
                           "a stored configuration has no value for '%s'",
                           axis->name);
        stored->values[i] = (struct value){
            .kind = axis->kind,
            .integer = (int64_t)param->number,
            .real = param->number,
            .text = param->text,
        };
    }
    return 0;
}

/* The stored variables of a shape, which need not be in the sweep file's list
 * for the device. */
static int stored_spec_vars(const struct stored_spec *stored, const char *json,
                            int64_t *vars, struct err *err)
{
    const struct spec *spec = stored->spec;
    struct stored_params params;
    int rc = stored_params_parse(json, &params, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < spec->shapes.n_vars && rc == 0; i++) {
        const struct stored_param *param =
            stored_params_find(&params, spec->shapes.vars[i]);

        if (param)
            vars[i] = (int64_t)param->number;
        else
            rc = err_set(err, ERR_STORE, "a stored shape has no value for '%s'",
                         spec->shapes.vars[i]);
    }
    stored_params_fini(&params);
    return rc;
}

/* 'shapes' get the names and variables of the report. */
static int config_metrics(struct stored_spec *stored,
                          const struct report *report,
                          const struct spec_shape *shapes,
                          struct report_config *config, struct err *err)
{
    int rc = stored_spec_values(stored, &config->params, err);

    for (size_t s = 0; s < report->n_shapes; s++) {
        struct report_cell *cell = &config->cells[s];

        cell->metrics = mem_new(report->n_metrics, sizeof(double));
        for (size_t m = 0; m < report->n_metrics; m++) {
            cell->metrics[m] = (double)NAN;
            if (rc == 0 && shapes && cell->n_samples)
                rc = space_metric(stored->space, m, stored->values, &shapes[s],
                                  cell->summary.median, &cell->metrics[m], err);
        }
    }
    return rc;
}

/* One allocation: the shapes, then their variables. */
static int spec_read_shapes(const struct stored_spec *stored,
                            const struct report *report,
                            struct spec_shape **out, struct err *err)
{
    struct spec_shape *shapes =
        mem_new(report->n_shapes + 1,
                sizeof(*shapes) + SPEC_VARS_MAX * sizeof(int64_t));
    int64_t *vars = (int64_t *)(shapes + report->n_shapes);
    int rc = 0;

    for (size_t s = 0; rc == 0 && s < report->n_shapes; s++) {
        shapes[s].name = report->shapes[s].name;
        shapes[s].vars = vars;
        rc = stored_spec_vars(stored, report->shapes[s].vars, vars, err);
        vars += SPEC_VARS_MAX;
    }
    if (rc < 0) {
        free(shapes);
        shapes = NULL;
    }
    *out = shapes;
    return rc;
}

struct stored_metrics {
    struct stored_spec stored;
    struct spec_shape *shapes; /* NULL: they cannot be read */
};

int stored_spec_metrics_open(struct report *report, struct stored_metrics **out,
                             struct err *err)
{
    struct stored_metrics *metrics = mem_new(1, sizeof(*metrics));
    struct stored_spec *stored = &metrics->stored;
    int rc = stored_spec_open(report, stored, err);

    *out = NULL;
    if (rc < 0) {
        free(metrics);
        return rc;
    }
    *out = metrics;
    assert(stored->spec);
    report->n_metrics = stored->spec->figures.n_metrics;
    report->metrics = mem_new(report->n_metrics + 1, sizeof(*report->metrics));
    for (size_t m = 0; m < report->n_metrics; m++) {
        report->metrics[m].name =
            mem_strdup(stored->spec->figures.metrics[m].name);
        report->metrics[m].unit =
            mem_strdup(stored->spec->figures.metrics[m].unit);
    }
    rc = spec_read_shapes(stored, report, &metrics->shapes, err);
    for (size_t i = 0; rc == 0 && i < report->n_shapes; i++)
        rc = roofline_of(stored->space, stored->spec, &metrics->shapes[i],
                         &report->shapes[i].roofline, err);
    return rc;
}

int stored_spec_metrics_of(struct stored_metrics *metrics, struct report *part,
                           struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < part->n_configs; i++) {
        struct err later;
        int one = config_metrics(&metrics->stored, part, metrics->shapes,
                                 &part->configs[i], rc == 0 ? err : &later);

        if (rc == 0)
            rc = one; /* continue: the others still get their (empty) metrics */
    }
    return rc;
}

void stored_spec_metrics_close(struct stored_metrics *metrics)
{
    if (!metrics)
        return;
    free(metrics->shapes);
    stored_spec_close(&metrics->stored);
    free(metrics);
}

int stored_spec_metrics(struct report *report, struct err *err)
{
    struct stored_metrics *metrics;
    struct err later;
    int rc = stored_spec_metrics_open(report, &metrics, err), of = 0;

    if (metrics)
        of = stored_spec_metrics_of(metrics, report, rc == 0 ? err : &later);
    stored_spec_metrics_close(metrics);
    return rc < 0 ? rc : of;
}
