/* Walks the points of a space. */
#include "common/buf.h"
#include "common/err.h"
#include "coordinator/points/point_diagram.h"
#include "coordinator/points/point_walker.h"
#include "coordinator/space/space_diagram.h"
#include "coordinator/space/space_internal.h"
#include "coordinator/space/space_sql.h"
#include "coordinator/space/space_table.h"

/* If no gate names the last tunables, all their combinations pass.  Their
 * points are consecutive, so the query leaves these tunables out. */
static void set_run(struct space *space)
{
    const struct spec *spec = space->spec;
    uint64_t named = 0;
    size_t n = spec->space.n_axes;

    for (size_t g = 0; g < spec->space.n_gates; g++)
        named |= space->gates[g].needs.axes;
    while (n > 0 && !(named >> (n - 1) & 1))
        n--;
    space->walk.run = n ? space->stride[n - 1] : space->size;
    space->walk.gated = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static int prepare_points(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct buf sql;
    int rc;

    set_run(space);
    buf_init(&sql, SPACE_SQL_MAX);
    buf_printf(&sql, "SELECT ");
    space_sql_number(space, space->walk.gated, &sql);
    buf_printf(&sql, " AS number,(0");
    for (size_t g = 0; g < spec->space.n_gates; g++)
        if (spec->space.gates[g].warns)
            space_sql_warned(space, g, &sql);
    buf_printf(&sql, ") AS warned");
    space_sql_from(space, space->walk.gated, &sql);
    buf_printf(&sql, " WHERE 1");
    for (size_t g = 0; g < spec->space.n_gates; g++)
        if (!spec->space.gates[g].warns)
            space_sql_passes(space, g, &sql);
    rc = space_prepare(space, &sql, &space->walk.points, err);
    buf_fini(&sql);
    if (rc < 0)
        return rc;
    space->walk.number_at = sql_sandbox_column(space->walk.points, "number");
    space->walk.warned_at = sql_sandbox_column(space->walk.points, "warned");
    return 0;
}

/* Points between two looks at the clock. */
#define LOOKS 4096

/* Make the diagram of all gates that reject, once; false if there is none. */
static bool has_diagram(struct space *space)
{
    if (!space->walk.tried)
        space->walk.diagram =
            space_diagram_new(space, space_gates(space, false));
    space->walk.tried = true;
    return space->walk.diagram;
}

/* A gate that has no table. */
static bool is_large(const struct space *space, uint64_t gates)
{
    for (size_t g = 0; g < space->spec->space.n_gates; g++)
        if (gates >> g & 1 &&
            space_product(space, space->gates[g].needs.axes) > SPACE_TABLE_MAX)
            return true;
    return false;
}

/* The table of a gate of many tunables may have to be made here. */
static int begin_walk(struct space *space, struct err *err)
{
    uint64_t rejecting = space_gates(space, false);
    uint64_t warning = space_gates(space, true);

    if ((is_large(space, rejecting | warning) ||
         space->size > SPACE_DIAGRAM_FROM) &&
        has_diagram(space)) {
        space->walk.by_diagram = true;
        return 0;
    }
    if (space_fill_tables(space, false, err) < 0)
        return ERR_INPUT;
    if ((rejecting | warning) != space_tables(space))
        return prepare_points(space, err);
    space->walk.walker = space_lattice(space, UINT64_MAX, rejecting, warning);
    return 0;
}

static int next_row(struct space *space, struct err *err)
{
    struct space_walk *walk = &space->walk;
    int rc;

    if (!walk->begun)
        sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    walk->begun = true;
    rc = sqlite3_step(walk->points);
    if (rc == SQLITE_ROW) {
        walk->next.number = sqlite3_column_int64(walk->points, walk->number_at);
        walk->next.warned =
            (uint64_t)sqlite3_column_int64(walk->points, walk->warned_at);
        walk->left = walk->run;
        return 1;
    }
    walk->begun = false;
    rc = rc == SQLITE_DONE ? 0 : space_step_err(space, err);
    sqlite3_reset(walk->points);
    return rc;
}

static int next_of_only(struct space *space, struct space_point *out)
{
    const struct space_only *only = space->only;
    const struct value *values;

    if (space->walk.only_at == only->n) {
        space->walk.only_at = 0;
        return 0;
    }
    values = only->values + space->walk.only_at++ * space->spec->space.n_axes;
    *out = (struct space_point){ .number = space_number(space, values) };
    return 1;
}

static int next_in_lattice(struct space *space, struct space_point *out,
                           struct err *err)
{
    enum point_walker_step step;

    if (!space->walk.begun)
        sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    space->walk.begun = true;
    while ((step = point_walker_next(space->walk.walker, &out->number,
                                     &out->warned)) == POINT_WALKER_LATER)
        if (sql_sandbox_is_late(&space->sandbox))
            return space_late_err(space, err);
    space->walk.begun = step == POINT_WALKER_POINT;
    return step == POINT_WALKER_POINT;
}

static int next_in_diagram(struct space *space, struct space_point *out,
                           struct err *err)
{
    struct space_walk *walk = &space->walk;

    if (walk->rank == point_diagram_count(walk->diagram)) {
        walk->rank = 0;
        return 0;
    }
    if (walk->rank == 0)
        sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    else if (walk->rank % LOOKS == 0 && sql_sandbox_is_late(&space->sandbox))
        return space_late_err(space, err);
    out->number = point_diagram_at(walk->diagram, walk->rank++);
    return space_warned_at(space, out->number, &out->warned, err) < 0
               ? ERR_INPUT
               : 1;
}

int space_at(struct space *space, int64_t rank, struct space_point *out,
             struct err *err)
{
    if (space->only || !has_diagram(space))
        return spec_err(space->spec, space->spec->space.axes_at, err,
                        "use fewer values, or gates of whole numbers "
                        "(docs/sweep-file.md, section 5)",
                        "there are too many configurations to list them");
    out->number = point_diagram_at(space->walk.diagram, rank);
    return space_warned_at(space, out->number, &out->warned, err);
}

static int next_by_query(struct space *space, struct space_point *out,
                         struct err *err)
{
    if (space->walk.left == 0) {
        int rc = next_row(space, err);

        if (rc <= 0)
            return rc;
    }
    *out = space->walk.next;
    space->walk.next.number++;
    space->walk.left--;
    return 1;
}

int space_next(struct space *space, struct space_point *out, struct err *err)
{
    if (space->only)
        return next_of_only(space, out);
    if (!space->walk.walker && !space->walk.points && !space->walk.by_diagram &&
        begin_walk(space, err) < 0)
        return ERR_INPUT;
    return space->walk.walker   ? next_in_lattice(space, out, err)
           : space->walk.points ? next_by_query(space, out, err)
                                : next_in_diagram(space, out, err);
}
