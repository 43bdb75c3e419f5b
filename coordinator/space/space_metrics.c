/* Metrics of one configuration, and the floors of a shape. */
#include <math.h>
#include <stdio.h>

#include "common/err.h"
#include "coordinator/space/roofline.h"
#include "coordinator/space/space_config.h"
#include "coordinator/space/space_internal.h"

static int open_metric(struct space *space, size_t metric, struct err *err)
{
    const struct spec_named *of = &space->spec->figures.metrics[metric];
    struct space_batch batch;
    char what[SPEC_NAME_MAX + 32];

    snprintf(what, sizeof(what), "metric '%s'", of->name);
    space_batch_init(&batch, space,
                     SQL_RULE_TUNABLE | SQL_RULE_DERIVED | SQL_RULE_VAR |
                         SQL_RULE_FACT | SQL_RULE_TIME,
                     what, "");
    space_batch_add(&batch, &of->rule);
    return space_eval_open(space, &batch, &space->evals.metrics[metric], err);
}

int space_metrics_open(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct space_batch batch;

    for (size_t i = 0; i < spec->figures.n_metrics; i++)
        if (open_metric(space, i, err) < 0)
            return ERR_INPUT;
    space_batch_init(&batch, space, SQL_RULE_VAR | SQL_RULE_FACT, "a floor",
                     "a floor must hold for every configuration of a shape");
    for (size_t i = 0; i < spec->figures.n_floors; i++)
        space_batch_add(&batch, &spec->figures.floors[i].rule);
    return space_eval_open(space, &batch, &space->evals.floors, err);
}

int space_metric(struct space *space, size_t metric, const struct value *values,
                 const struct spec_shape *shape, double time_s, double *out,
                 struct err *err)
{
    int rc = space_eval_run(space, &space->evals.metrics[metric], values, shape,
                            time_s, err);
    struct value value;

    if (rc < 0)
        return rc;
    value = space_eval_column(&space->evals.metrics[metric], 0);
    *out = value_number(&value);
    return 0;
}

int space_floors(struct space *space, const struct spec_shape *shape,
                 double *seconds, struct err *err)
{
    int rc = space_eval_run(space, &space->evals.floors, NULL, shape, 0, err);

    for (size_t i = 0; i < space->spec->figures.n_floors; i++) {
        struct value value;

        seconds[i] = NAN;
        if (rc < 0)
            continue;
        value = space_eval_column(&space->evals.floors, i);
        if (value_number(&value) > 0 && isfinite(value_number(&value)))
            seconds[i] = value_number(&value);
    }
    return rc;
}

int space_floor(struct space *space, const struct spec_shape *shape,
                double *seconds, int *floor_index, struct err *err)
{
    double floors[SPEC_LIST_MAX];
    int rc = space_floors(space, shape, floors, err);
    size_t binds = roofline_binding(floors, space->spec->figures.n_floors);

    *floor_index = binds == ROOFLINE_NONE ? -1 : (int)binds;
    *seconds = binds == ROOFLINE_NONE ? (double)NAN : floors[binds];
    return rc;
}
