#include "coordinator/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/lattice.h"
#include "coordinator/space_private.h"

static int set_strides(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;

    space->size = 1;
    for (size_t i = spec->n_axes; i-- > 0;) {
        int64_t n = (int64_t)spec->axes[i].n;

        space->stride[i] = space->size;
        if (n > SPACE_POINTS_MAX / space->size)
            return spec_err(spec, spec->tunables_at, err,
                            "gates remove points, but every one is looked at; "
                            "use fewer tunables or fewer values",
                            "there are more than 2^40 configurations");
        space->size *= n;
    }
    return 0;
}

static int check_derived(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    char what[SPEC_NAME_MAX + 32];

    for (size_t i = 0; i < spec->n_derived; i++) {
        struct rule_use use = { .spec = spec,
                                .scopes =
                                    RULE_TUNABLE | RULE_DERIVED | RULE_FACT,
                                .derived = space->derived,
                                .n_derived = i,
                                .what = what,
                                .why = "it is a macro of the build, and a "
                                       "build serves all shapes" };

        snprintf(what, sizeof(what), "derived value '%s'",
                 spec->derived[i].name);
        if (rule_check(&use, &spec->derived[i].rule, &space->derived[i], err) <
                0 ||
            space_parse(space, &spec->derived[i].rule, what, err) < 0)
            return ERR_INPUT;
    }
    return 0;
}

static int check_gate(struct space *space, size_t g, struct err *err)
{
    const struct spec *spec = space->spec;
    const struct spec_gate *gate = &spec->gates[g];
    struct rule_needs *needs = &space->gates[g].needs;
    char what[SPEC_NAME_MAX + 32];
    struct rule_use use = { .spec = spec,
                            .scopes = RULE_TUNABLE | RULE_DERIVED | RULE_VAR |
                                      RULE_FACT,
                            .derived = space->derived,
                            .n_derived = spec->n_derived,
                            .what = what,
                            .why = "gates are looked at before anything is "
                                   "measured" };

    snprintf(what, sizeof(what), "gate '%s'", gate->name);
    if (rule_check(&use, &gate->rule, needs, err) < 0 ||
        space_parse(space, &gate->rule, what, err) < 0)
        return ERR_INPUT;
    if (!needs->names)
        return spec_err_in(spec, &gate->rule, 0, err,
                           "it is the same for every configuration; use a "
                           "tunable, a derived value or a shape variable",
                           "gate '%s' names no tunable", gate->name);
    return 0;
}

static int open_evals(struct space *space, struct err *err)
{
    if (space_derived_open(space, err) < 0 ||
        space_launch_open(space, err) < 0 ||
        space_arguments_open(space, err) < 0 || space_gate_open(space, err) < 0)
        return ERR_INPUT;
    return space_metrics_open(space, err);
}

static void close_evals(struct space *space)
{
    space_eval_close(&space->derive);
    space_eval_close(&space->launch);
    space_eval_close(&space->reference);
    space_eval_close(&space->arguments);
    space_eval_close(&space->scales);
    space_eval_close(&space->floors);
    for (size_t i = 0; i < SPEC_LIST_MAX; i++) {
        space_eval_close(&space->metrics[i]);
        space_eval_close(&space->gates[i].eval);
        free(space->texts[i]);
    }
}

static int open_all(struct space *space, struct err *err)
{
    int rc = set_strides(space, err);

    if (rc == 0)
        rc = fence_open(&space->fence, err);
    if (rc < 0)
        return rc;
    space_add_functions(space);
    rc = space_make_tables(space, err);
    if (rc < 0)
        return rc;
    fence_shut(&space->fence);
    rc = check_derived(space, err);
    for (size_t g = 0; g < space->spec->n_gates && rc == 0; g++)
        rc = check_gate(space, g, err);
    for (size_t g = 0; g < space->spec->n_gates && rc == 0; g++)
        rc = space_try_gate(space, g, err);
    return rc == 0 ? open_evals(space, err) : rc;
}

int space_open(const struct spec *spec, const struct arch_facts *facts,
               const char *device, struct space **out, struct err *err)
{
    struct space *space = mem_new(1, sizeof(*space));
    int rc;

    *out = NULL;
    space->spec = spec;
    space->facts = *facts;
    space->shapes = spec_shapes(spec, device, &space->n_shapes);
    rc = open_all(space, err);
    if (rc < 0)
        space_close(space);
    else
        *out = space;
    return rc;
}

void space_close(struct space *space)
{
    if (!space)
        return;
    sqlite3_finalize(space->points);
    lattice_free(space->lattice);
    for (size_t g = 0; g < SPEC_LIST_MAX; g++)
        free(space->gates[g].hits);
    close_evals(space);
    fence_close(&space->fence);
    free(space);
}

int64_t space_size(const struct space *space)
{
    return space->size;
}

const struct spec_shape *space_shapes(const struct space *space, size_t *n)
{
    *n = space->n_shapes;
    return space->shapes;
}

void space_values(const struct space *space, int64_t number,
                  struct value *values)
{
    for (size_t i = 0; i < space->spec->n_axes; i++) {
        const struct spec_axis *axis = &space->spec->axes[i];

        values[i] = axis->values[number / space->stride[i] % (int64_t)axis->n];
    }
}

int64_t space_number(const struct space *space, const struct value *values)
{
    int64_t number = 0;

    for (size_t i = 0; i < space->spec->n_axes; i++) {
        const struct spec_axis *axis = &space->spec->axes[i];
        size_t j = 0;

        while (j < axis->n && !value_equal(&axis->values[j], &values[i]))
            j++;
        if (j == axis->n)
            return -1;
        number += (int64_t)j * space->stride[i];
    }
    return number;
}
