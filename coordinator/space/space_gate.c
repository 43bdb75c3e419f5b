/* Evaluates gates for one configuration, which need not be a point. */
#include <stdio.h>

#include "common/err.h"
#include "coordinator/space/space_internal.h"

int space_gate_open(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct space_batch batch;

    for (size_t g = 0; g < spec->space.n_gates; g++) {
        space_batch_init(&batch, space,
                         SQL_RULE_TUNABLE | SQL_RULE_DERIVED | SQL_RULE_VAR |
                             SQL_RULE_FACT,
                         "a gate", "");
        space_batch_add(&batch, &spec->space.gates[g].rule);
        if (space_eval_open(space, &batch, &space->gates[g].eval, err) < 0)
            return ERR_INPUT;
    }
    return 0;
}

/* Does the gate hit for any of these shapes? */
static int hits(struct space *space, size_t g, const struct value *values,
                const struct spec_shape *shapes, size_t n_shapes,
                struct err *err)
{
    const struct spec_gate *gate = &space->spec->space.gates[g];
    size_t n = space->gates[g].needs.vars ? n_shapes : 1;
    char what[SPEC_NAME_MAX + 32];

    snprintf(what, sizeof(what), "gate '%s'", gate->name);
    for (size_t s = 0; s < n; s++) {
        struct value value;

        if (space_eval_run(space, &space->gates[g].eval, values, &shapes[s], 0,
                           err) < 0)
            return ERR_INPUT;
        value = space_eval_column(&space->gates[g].eval, 0);
        if (value_number(&value) == 1)
            return 1;
        if (value_number(&value) != 0)
            return space_eval_flaw(space, &gate->rule, what, &value, values,
                                   &shapes[s], "a rule yields 0 or 1", err);
    }
    return 0;
}

static int rejected(struct space *space, const struct value *values,
                    const struct spec_shape *shapes, size_t n, struct err *err)
{
    for (size_t g = 0; !space->only && g < space->spec->space.n_gates; g++) {
        int rc = space->spec->space.gates[g].warns
                     ? 0
                     : hits(space, g, values, shapes, n, err);

        if (rc != 0)
            return rc < 0 ? SPACE_ERROR : (int)g;
    }
    return SPACE_PASSES;
}

int space_rejected_by(struct space *space, const struct value *values,
                      struct err *err)
{
    return rejected(space, values, space->shapes, space->n_shapes, err);
}

int space_rejected_at(struct space *space, const struct value *values,
                      const struct spec_shape *shape, struct err *err)
{
    return rejected(space, values, shape, 1, err);
}

int space_warned_by(struct space *space, const struct value *values,
                    uint64_t *out, struct err *err)
{
    *out = 0;
    for (size_t g = 0; !space->only && g < space->spec->space.n_gates; g++) {
        int rc =
            space->spec->space.gates[g].warns
                ? hits(space, g, values, space->shapes, space->n_shapes, err)
                : 0;

        if (rc < 0)
            return rc;
        *out |= (uint64_t)rc << g;
    }
    return 0;
}
