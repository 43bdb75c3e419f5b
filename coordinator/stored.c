#include "coordinator/stored.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/params.h"
#include "coordinator/report.h"

/* The JSON object of facts, as the lines that arch_facts_read() takes. */
static int read_facts(const char *json, struct arch_facts *out, struct err *err)
{
    struct params params;
    struct texts lines = { NULL, 0 };
    char **texts;
    int rc = params_parse(json, &params, err);

    if (rc < 0)
        return rc;
    texts = mem_new(params.n + 1, sizeof(*texts));
    for (size_t i = 0; i < params.n; i++)
        if (params.items[i].type == PARAM_INTEGER)
            texts[lines.n++] =
                mem_printf("%s %s", params.items[i].name, params.items[i].text);
    lines.items = (const char *const *)texts;
    rc = arch_facts_read(&lines, out, err);
    for (size_t i = 0; i < lines.n; i++)
        free(texts[i]);
    free(texts);
    params_fini(&params);
    return rc;
}

int stored_facts(const struct report *report, struct arch_facts *out,
                 struct err *err)
{
    return read_facts(report->facts, out, err);
}

int stored_open(const struct report *report, struct stored *out,
                struct err *err)
{
    struct arch_facts facts;
    int rc;

    *out = (struct stored){ NULL, NULL, NULL };
    rc = read_facts(report->facts, &facts, err);
    if (rc == 0)
        rc = spec_parse(report->folder, report->file, report->spec,
                        strlen(report->spec), &out->spec, err);
    if (rc == 0)
        rc = space_open(out->spec, &facts, report->device, &out->space, err);
    if (rc < 0) {
        stored_close(out);
        err_within(err, rc, "the stored sweep");
        return rc;
    }
    assert(out->spec);
    out->values = mem_new(out->spec->n_axes, sizeof(*out->values));
    return 0;
}

void stored_close(struct stored *stored)
{
    free(stored->values);
    space_close(stored->space);
    spec_free(stored->spec);
    *stored = (struct stored){ NULL, NULL, NULL };
}

int stored_values(struct stored *stored, const struct params *params,
                  struct err *err)
{
    for (size_t i = 0; i < stored->spec->n_axes; i++) {
        const struct spec_axis *axis = &stored->spec->axes[i];
        const struct param *param = params_find_at(params, i, axis->name);

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

/* The variables of a shape as they are stored: it need not be one of those
 * that the sweep file has for the device. */
static int stored_vars(const struct stored *stored, const char *json,
                       int64_t *vars, struct err *err)
{
    const struct spec *spec = stored->spec;
    struct params params;
    int rc = params_parse(json, &params, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < spec->n_vars && rc == 0; i++) {
        const struct param *param = params_find(&params, spec->vars[i]);

        if (param)
            vars[i] = (int64_t)param->number;
        else
            rc = err_set(err, ERR_STORE, "a stored shape has no value for '%s'",
                         spec->vars[i]);
    }
    params_fini(&params);
    return rc;
}

/* 'shapes' have the report's names and variables. */
static int config_metrics(struct stored *stored, const struct report *report,
                          const struct spec_shape *shapes,
                          struct report_config *config, struct err *err)
{
    int rc = stored_values(stored, &config->params, err);

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

/* One block: the shapes, then their variables. */
static int read_shapes(const struct stored *stored, const struct report *report,
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
        rc = stored_vars(stored, report->shapes[s].vars, vars, err);
        vars += SPEC_VARS_MAX;
    }
    if (rc < 0) {
        free(shapes);
        shapes = NULL;
    }
    *out = shapes;
    return rc;
}

int report_metrics(struct report *report, struct err *err)
{
    struct spec_shape *shapes;
    struct stored stored;
    int rc = stored_open(report, &stored, err);

    if (rc < 0)
        return rc;
    assert(stored.spec);
    report->n_metrics = stored.spec->n_metrics;
    report->metrics = mem_new(report->n_metrics + 1, sizeof(*report->metrics));
    for (size_t m = 0; m < report->n_metrics; m++) {
        report->metrics[m].name = mem_strdup(stored.spec->metrics[m].name);
        report->metrics[m].unit = mem_strdup(stored.spec->metrics[m].unit);
    }
    rc = read_shapes(&stored, report, &shapes, err);
    for (size_t i = 0; rc == 0 && i < report->n_shapes; i++)
        rc = roofline_of(stored.space, stored.spec, &shapes[i],
                         &report->shapes[i].roofline, err);
    for (size_t i = 0; i < report->n_configs; i++) {
        int one =
            config_metrics(&stored, report, shapes, &report->configs[i], err);

        if (rc == 0)
            rc = one; /* the others still get their (empty) metrics */
    }
    free(shapes);
    stored_close(&stored);
    return rc;
}
