#include "coordinator/space/space.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/points/point_diagram.h"
#include "coordinator/points/point_walker.h"
#include "coordinator/space/space_internal.h"
#include "coordinator/space/space_sql.h"
#include "coordinator/space/space_table.h"

static int check_derived(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    char what[SPEC_NAME_MAX + 32];

    for (size_t i = 0; i < spec->space.n_derived; i++) {
        struct sql_rule_use use = {
            .spec = spec,
            .scopes = SQL_RULE_TUNABLE | SQL_RULE_DERIVED | SQL_RULE_FACT,
            .derived = space->derived,
            .n_derived = i,
            .what = what,
            .why = "a derived value is a macro of the build, and one build "
                   "serves all shapes"
        };

        snprintf(what, sizeof(what), "derived value '%s'",
                 spec->space.derived[i].name);
        if (sql_rule_check(&use, &spec->space.derived[i].rule,
                           &space->derived[i], err) < 0 ||
            space_parse(space, &spec->space.derived[i].rule, what, err) < 0)
            return ERR_INPUT;
    }
    return 0;
}

static int check_gate(struct space *space, size_t g, struct err *err)
{
    const struct spec *spec = space->spec;
    const struct spec_gate *gate = &spec->space.gates[g];
    struct sql_rule_needs *needs = &space->gates[g].needs;
    char what[SPEC_NAME_MAX + 32];
    struct sql_rule_use use = {
        .spec = spec,
        .scopes =
            SQL_RULE_TUNABLE | SQL_RULE_DERIVED | SQL_RULE_VAR | SQL_RULE_FACT,
        .derived = space->derived,
        .n_derived = spec->space.n_derived,
        .what = what,
        .why = "gates are evaluated before anything is measured"
    };

    snprintf(what, sizeof(what), "gate '%s'", gate->name);
    if (sql_rule_check(&use, &gate->rule, needs, err) < 0 ||
        space_parse(space, &gate->rule, what, err) < 0)
        return ERR_INPUT;
    if (!needs->names)
        return spec_err_in(spec, &gate->rule, 0, err,
                           "the rule is the same for every configuration; use "
                           "a tunable, a derived value or a shape variable",
                           "gate '%s' does not depend on a tunable",
                           gate->name);
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
    space_eval_close(&space->evals.derived);
    space_eval_close(&space->evals.launch);
    space_eval_close(&space->evals.reference);
    space_eval_close(&space->evals.arguments);
    space_eval_close(&space->evals.fills);
    space_eval_close(&space->evals.floors);
    for (size_t i = 0; i < SPEC_LIST_MAX; i++) {
        space_eval_close(&space->evals.metrics[i]);
        space_eval_close(&space->gates[i].eval);
        free(space->last.texts[i]);
    }
}

static int open_all(struct space *space, struct err *err)
{
    int rc = space_number_open(space, err);

    if (rc == 0)
        rc = sql_sandbox_open(&space->sandbox, err);
    if (rc < 0)
        return rc;
    space_add_functions(space);
    rc = space_make_tables(space, err);
    if (rc < 0)
        return rc;
    sql_sandbox_shut(&space->sandbox);
    rc = check_derived(space, err);
    for (size_t g = 0; g < space->spec->space.n_gates && rc == 0; g++)
        rc = check_gate(space, g, err);
    for (size_t g = 0; g < space->spec->space.n_gates && rc == 0; g++)
        rc = space_try_gate(space, g, err);
    return rc == 0 ? open_evals(space, err) : rc;
}

int space_open(const struct spec *spec, const struct gpu_arch_facts *facts,
               const char *device, const struct space_only *only,
               struct space **out, struct err *err)
{
    struct space *space = mem_new(1, sizeof(*space));
    int rc;

    *out = NULL;
    space->spec = spec;
    space->only = only;
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
    sqlite3_finalize(space->walk.points);
    point_walker_free(space->walk.walker);
    point_diagram_free(space->walk.diagram);
    for (size_t g = 0; g < SPEC_LIST_MAX; g++)
        free(space->gates[g].hits);
    close_evals(space);
    sql_sandbox_close(&space->sandbox);
    free(space);
}

const struct spec_shape *space_shapes(const struct space *space, size_t *n)
{
    *n = space->n_shapes;
    return space->shapes;
}
