/* Derived values of one configuration. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/name.h"
#include "coordinator/space_private.h"

int space_derived_open(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct space_batch batch;

    space_batch_init(&batch, space, RULE_TUNABLE | RULE_DERIVED | RULE_FACT,
                     "a derived value", "");
    for (size_t i = 0; i < spec->n_derived; i++) {
        space_batch_add(&batch, &spec->derived[i].rule);
        space->derived_axes |= space->derived[i].axes;
    }
    return space_eval_open(space, &batch, &space->derive, err);
}

static const char *derived_flaw(const struct value *value)
{
    if (value->kind == VALUE_NULL ||
        (value->kind == VALUE_REAL && !isfinite(value->real)))
        return "it is a macro of the build, so it has a value; x / 0 and facts "
               "that are not known yield NULL";
    return value->kind == VALUE_TEXT ? name_value_flaw(value->text) : NULL;
}

static int keep_derived(struct space *space, size_t i,
                        const struct value *values, struct value *out,
                        struct err *err)
{
    const struct spec_named *named = &space->spec->derived[i];
    const char *flaw = derived_flaw(out);
    char what[SPEC_NAME_MAX + 32];

    if (flaw) {
        snprintf(what, sizeof(what), "derived value '%s'", named->name);
        return space_eval_flaw(space, &named->rule, what, out, values, NULL,
                               flaw, err);
    }
    if (out->kind != VALUE_TEXT)
        return 0;
    free(space->texts[i]);
    space->texts[i] = mem_strdup(out->text);
    out->text = space->texts[i];
    return 0;
}

/* Is the row that was asked for last still that of these values?  Points in
 * order of number differ in the last tunables, which often no derived value
 * names.  Texts may be gone by now. */
static bool is_derived(struct space *space, const struct value *values)
{
    bool same = space->is_derived;

    for (size_t i = 0; i < space->spec->n_axes; i++) {
        if (!(space->derived_axes >> i & 1))
            continue;
        same = same && values[i].kind != VALUE_TEXT &&
               value_equal(&space->derived_from[i], &values[i]);
        space->derived_from[i] = values[i];
    }
    return same;
}

int space_derive(struct space *space, const struct value *values,
                 struct value *derived, struct err *err)
{
    int rc = 0;

    if (!is_derived(space, values))
        rc = space_eval_run(space, &space->derive, values, NULL, 0, err);
    for (size_t i = 0; i < space->spec->n_derived && rc == 0; i++) {
        derived[i] = space_eval_column(&space->derive, i);
        rc = keep_derived(space, i, values, &derived[i], err);
    }
    space->is_derived = rc == 0;
    return rc;
}
