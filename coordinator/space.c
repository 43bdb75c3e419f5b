#include "coordinator/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/replay.h"
#include "coordinator/space_private.h"

/* SQL: fa_flaw(gate, number, value) - a rule yielded neither 0 nor 1. */
static void note_flaw(sqlite3_context *context, int n, sqlite3_value **args)
{
    struct space *space = sqlite3_user_data(context);
    const char *text = (const char *)sqlite3_value_text(args[2]);
    bool quoted = sqlite3_value_type(args[2]) == SQLITE_TEXT;

    (void)n;
    space->flaw.set = true;
    space->flaw.gate = sqlite3_value_int(args[0]);
    space->flaw.number = sqlite3_value_int64(args[1]);
    snprintf(space->flaw.value, sizeof(space->flaw.value), "%s%.64s%s",
             quoted ? "'" : "", text ? text : "NULL", quoted ? "'" : "");
    sqlite3_result_error(context, "a rule", -1);
}

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

/* Once a gate is seen to be sound, the query over the points can have its plain
 * expression, which SQLite compiles to a jump. */
static int try_gate(struct space *space, size_t g, struct err *err)
{
    struct space_gate *gate = &space->gates[g];
    size_t n = gate->needs.vars ? space->n_shapes : 1;

    if (space_product(space, gate->needs.axes) > SPACE_TRIAL_MAX / (int64_t)n)
        return 0;
    if (space_count_passes(space, gate->needs.axes, UINT64_C(1) << g,
                           &gate->passes, err) < 0)
        return ERR_INPUT;
    gate->trusted = true;
    return 0;
}

/* The last tunables, when no gate names them, pass in all combinations; their
 * points follow each other in number, so the query leaves them out. */
static void set_run(struct space *space)
{
    const struct spec *spec = space->spec;
    uint64_t named = 0;
    size_t n = spec->n_axes;

    for (size_t g = 0; g < spec->n_gates; g++)
        named |= space->gates[g].needs.axes;
    while (n > 0 && !(named >> (n - 1) & 1))
        n--;
    space->run = n ? space->stride[n - 1] : space->size;
    space->gated = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static int prepare_points(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct buf sql;
    int rc;

    set_run(space);
    buf_init(&sql, SPACE_SQL_MAX);
    buf_printf(&sql, "SELECT ");
    space_sql_number(space, space->gated, &sql);
    buf_printf(&sql, ",0");
    for (size_t g = 0; g < spec->n_gates; g++)
        if (spec->gates[g].warns)
            space_sql_warned(space, g, &sql);
    space_sql_from(space, space->gated, &sql);
    buf_printf(&sql, " WHERE 1");
    for (size_t g = 0; g < spec->n_gates; g++)
        if (!spec->gates[g].warns)
            space_sql_passes(space, g, &sql);
    rc = space_prepare(space, &sql, &space->points, err);
    buf_fini(&sql);
    return rc;
}

static int open_all(struct space *space, struct err *err)
{
    int rc = set_strides(space, err);

    if (rc == 0)
        rc = fence_open(&space->fence, err);
    if (rc < 0)
        return rc;
    sqlite3_create_function(space->fence.db, "fa_flaw", 3, SQLITE_UTF8, space,
                            note_flaw, NULL, NULL);
    rc = space_make_tables(space, err);
    if (rc < 0)
        return rc;
    fence_shut(&space->fence);
    rc = check_derived(space, err);
    for (size_t g = 0; g < space->spec->n_gates && rc == 0; g++)
        rc = check_gate(space, g, err);
    for (size_t g = 0; g < space->spec->n_gates && rc == 0; g++)
        rc = try_gate(space, g, err);
    if (rc == 0)
        rc = space_eval_open(space, err);
    return rc == 0 ? prepare_points(space, err) : rc;
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
    space_eval_close(space);
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

static int next_row(struct space *space, struct err *err)
{
    int rc;

    if (!space->walking)
        fence_start_clock(&space->fence, SPACE_SECONDS_MAX);
    space->walking = true;
    rc = sqlite3_step(space->points);
    if (rc == SQLITE_ROW) {
        space->next.number = sqlite3_column_int64(space->points, 0);
        space->next.warned = (uint64_t)sqlite3_column_int64(space->points, 1);
        space->left = space->run;
        return 1;
    }
    space->walking = false;
    rc = rc == SQLITE_DONE ? 0 : space_step_err(space, err);
    sqlite3_reset(space->points);
    return rc;
}

/* In a replay what is recorded passes, and nothing else does. */
static int next_recorded(struct space *space, struct space_point *out)
{
    const struct replay *replay = space->spec->replay;
    struct value values[SPEC_AXES_MAX];

    if (space->recorded_at == replay_size(replay)) {
        space->recorded_at = 0;
        return 0;
    }
    replay_values(replay, space->recorded_at++, values);
    *out = (struct space_point){ .number = space_number(space, values) };
    return 1;
}

int space_next(struct space *space, struct space_point *out, struct err *err)
{
    if (space->spec->replay)
        return next_recorded(space, out);
    if (space->left == 0) {
        int rc = next_row(space, err);

        if (rc <= 0)
            return rc;
    }
    *out = space->next;
    space->next.number++;
    space->left--;
    return 1;
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
