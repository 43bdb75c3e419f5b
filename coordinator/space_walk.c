/* The points of a space, one after the other. */
#include "common/err.h"
#include "coordinator/lattice.h"
#include "coordinator/replay.h"
#include "coordinator/space_private.h"

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

/* The table of a gate of many tunables may have to wait until here. */
static int begin_walk(struct space *space, struct err *err)
{
    uint64_t rejecting = space_gates(space, false);
    uint64_t warning = space_gates(space, true);

    if (space_fill_tables(space, false, err) < 0)
        return ERR_INPUT;
    if ((rejecting | warning) != space_tables(space))
        return prepare_points(space, err);
    space->lattice = space_lattice(space, UINT64_MAX, rejecting, warning);
    return 0;
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

static int next_in_lattice(struct space *space, struct space_point *out,
                           struct err *err)
{
    enum lattice_step step;

    if (!space->walking)
        fence_start_clock(&space->fence, SPACE_SECONDS_MAX);
    space->walking = true;
    while ((step = lattice_next(space->lattice, &out->number, &out->warned)) ==
           LATTICE_LATER)
        if (fence_is_late(&space->fence))
            return space_late_err(space, err);
    space->walking = step == LATTICE_POINT;
    return step == LATTICE_POINT;
}

static int next_by_query(struct space *space, struct space_point *out,
                         struct err *err)
{
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

int space_next(struct space *space, struct space_point *out, struct err *err)
{
    if (space->spec->replay)
        return next_recorded(space, out);
    if (!space->lattice && !space->points && begin_walk(space, err) < 0)
        return ERR_INPUT;
    return space->lattice ? next_in_lattice(space, out, err)
                          : next_by_query(space, out, err);
}
