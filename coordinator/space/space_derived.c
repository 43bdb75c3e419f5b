/* Derived values of one configuration. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/space/space_config.h"
#include "coordinator/space/space_internal.h"
#include "coordinator/source/identifier.h"

int space_derived_open(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct space_batch batch;

    space_batch_init(&batch, space,
                     SQL_RULE_TUNABLE | SQL_RULE_DERIVED | SQL_RULE_FACT,
                     "a derived value", "");
    for (size_t i = 0; i < spec->space.n_derived; i++) {
        space_batch_add(&batch, &spec->space.derived[i].rule);
        space->last.axes |= space->derived[i].axes;
    }
    return space_eval_open(space, &batch, &space->evals.derived, err);
}

static const char *derived_flaw(const struct value *value)
{
    if (value->kind == VALUE_NULL ||
        (value->kind == VALUE_REAL && !isfinite(value->real)))
        return "a derived value is a macro of the build and cannot be NULL; x "
               "/ 0 and unknown facts yield NULL";
    return value->kind == VALUE_TEXT ? identifier_value_flaw(value->text)
                                     : NULL;
}

static int keep_derived(struct space *space, size_t i,
                        const struct value *values, struct value *out,
                        struct err *err)
{
    const struct spec_named *named = &space->spec->space.derived[i];
    const char *flaw = derived_flaw(out);
    char what[SPEC_NAME_MAX + 32];

    if (flaw) {
        snprintf(what, sizeof(what), "derived value '%s'", named->name);
        return space_eval_flaw(space, &named->rule, what, out, values, NULL,
                               flaw, err);
    }
    if (out->kind != VALUE_TEXT)
        return 0;
    free(space->last.texts[i]);
    space->last.texts[i] = mem_strdup(out->text);
    out->text = space->last.texts[i];
    return 0;
}

/* Does the row of the last query still belong to these values?  Points in order
 * of number differ in the last tunables, which derived values often do not
 * name.  Texts may have been freed by now. */
static bool is_derived(struct space *space, const struct value *values)
{
    bool same = space->last.holds;

    for (size_t i = 0; i < space->spec->space.n_axes; i++) {
        if (!(space->last.axes >> i & 1))
            continue;
        same = same && values[i].kind != VALUE_TEXT &&
               value_equal(&space->last.from[i], &values[i]);
        space->last.from[i] = values[i];
    }
    return same;
}

int space_derive(struct space *space, const struct value *values,
                 struct value *derived, struct err *err)
{
    int rc = 0;

    if (!is_derived(space, values))
        rc = space_eval_run(space, &space->evals.derived, values, NULL, 0, err);
    for (size_t i = 0; i < space->spec->space.n_derived && rc == 0; i++) {
        derived[i] = space_eval_column(&space->evals.derived, i);
        rc = keep_derived(space, i, values, &derived[i], err);
    }
    space->last.holds = rc == 0;
    return rc;
}
