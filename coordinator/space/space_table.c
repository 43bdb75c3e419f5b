/* Tables of gates: where each hits, over the tunables that it names.
 *
 * SQLite evaluates a gate once for each combination of its own tunables.  After
 * that, walking and counting only test bits (point_walker.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/points/point_walker.h"
#include "coordinator/space/space_internal.h"
#include "coordinator/space/space_sql.h"
#include "coordinator/space/space_table.h"

/* ---- functions of SQL */

static void set_flaw(struct space *space, size_t gate, int64_t number,
                     sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    bool quoted = sqlite3_value_type(value) == SQLITE_TEXT;

    space->flaw.set = true;
    space->flaw.gate = (int)gate;
    space->flaw.number = number;
    snprintf(space->flaw.value, sizeof(space->flaw.value), "%s%.64s%s",
             quoted ? "'" : "", text ? text : "NULL", quoted ? "'" : "");
}

/* fa_flaw(gate, number, value): a rule yielded neither 0 nor 1. */
static void note_flaw(sqlite3_context *context, int n, sqlite3_value **args)
{
    (void)n;
    set_flaw(sqlite3_user_data(context), (size_t)sqlite3_value_int64(args[0]),
             sqlite3_value_int64(args[1]), args[2]);
    sqlite3_result_error(context, "a rule", -1);
}

static bool in_table(const struct space *space, size_t gate, size_t axis)
{
    return space->gates[gate].needs.axes >> axis & 1 &&
           space->spec->space.axes[axis].n > 1;
}

/* Index of the point in the table of a gate. */
static int64_t place_of(const struct space *space, size_t gate, int64_t number)
{
    int64_t at = 0;

    for (size_t a = 0; a < space->spec->space.n_axes; a++) {
        int64_t n = (int64_t)space->spec->space.axes[a].n;

        if (in_table(space, gate, a))
            at = at * n + number / space->stride[a] % n;
    }
    return at;
}

/* The first point with this index. */
static int64_t number_at(const struct space *space, size_t gate, int64_t at)
{
    int64_t number = 0;

    for (size_t a = space->spec->space.n_axes; a-- > 0;) {
        int64_t n = (int64_t)space->spec->space.axes[a].n;

        if (!in_table(space, gate, a))
            continue;
        number += at % n * space->stride[a];
        at /= n;
    }
    return number;
}

/* fa_hits(value) for all combinations in order, or fa_hits(value, number) for
 * some of them: sets a bit of the table. */
static void take_hit(sqlite3_context *context, int n, sqlite3_value **args)
{
    struct space *space = sqlite3_user_data(context);
    size_t gate = space->filling.gate;
    int64_t at = n == 1 ? space->filling.at++
                        : place_of(space, gate, sqlite3_value_int64(args[1]));
    int type = sqlite3_value_type(args[0]);
    double value = sqlite3_value_double(args[0]);

    if ((type == SQLITE_INTEGER || type == SQLITE_FLOAT) && value == 1) {
        space->gates[gate].hits[at / 64] |= UINT64_C(1) << at % 64;
    } else if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || value != 0) {
        set_flaw(space, gate, number_at(space, gate, at), args[0]);
        sqlite3_result_error(context, "a rule", -1);
    }
}

static void end_hits(sqlite3_context *context)
{
    sqlite3_result_int(context, 0);
}

void space_add_functions(struct space *space)
{
    sqlite3_create_function(space->sandbox.db, "fa_flaw", 3, SQLITE_UTF8, space,
                            note_flaw, NULL, NULL);
    sqlite3_create_function(space->sandbox.db, "fa_hits", -1, SQLITE_UTF8,
                            space, NULL, take_hit, end_hits);
}

/* ---- filling */

static int run_once(struct space *space, const struct buf *sql, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = space_prepare(space, sql, &stmt, err);

    if (rc < 0)
        return rc;
    sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    if (sqlite3_step(stmt) != SQLITE_ROW)
        rc = space_step_err(space, err);
    sqlite3_finalize(stmt);
    return rc;
}

/* Set the bits for one shape, whose text is 'expression'. */
static int fill_shape(struct space *space, size_t gate,
                      const struct buf *expression, struct err *err)
{
    const struct space_gate *of = &space->gates[gate];
    struct buf sql;
    int rc;

    buf_init(&sql, SPACE_SQL_MAX);
    sql.truncated = expression->truncated;
    buf_printf(&sql, "SELECT fa_hits((%s)", buf_text(expression));
    if (of->given) {
        buf_printf(&sql, ",");
        space_sql_number(space, of->needs.axes, &sql);
    }
    buf_printf(&sql, ")");
    space_sql_from(space, of->needs.axes, &sql);
    buf_printf(&sql, " WHERE 1");
    for (size_t g = 0; g < space->spec->space.n_gates; g++)
        if (of->given >> g & 1)
            space_sql_passes(space, g, &sql);
    space->filling.gate = gate;
    space->filling.at = 0;
    rc = run_once(space, &sql, err);
    buf_fini(&sql);
    return rc;
}

static int fill(struct space *space, size_t gate, struct err *err)
{
    struct space_gate *of = &space->gates[gate];
    int64_t n = space_product(space, of->needs.axes);
    struct buf expression;
    int rc = 0;

    free(of->hits);
    of->hits = mem_new(point_walker_words(n), sizeof(*of->hits));
    buf_init(&expression, SPACE_SQL_MAX);
    for (size_t s = 0; rc == 0 && s < space->n_shapes; s++) {
        buf_clear(&expression);
        if (space_sql_gate(space, gate, s, &expression))
            rc = fill_shape(space, gate, &expression, err);
    }
    buf_fini(&expression);
    if (rc < 0) {
        free(of->hits);
        of->hits = NULL;
    }
    return rc;
}

int space_try_gate(struct space *space, size_t gate, struct err *err)
{
    struct space_gate *of = &space->gates[gate];
    int64_t n = of->needs.vars ? (int64_t)space->n_shapes : 1;

    if (space_product(space, of->needs.axes) > SPACE_TRIAL_MAX / n)
        return 0;
    if (fill(space, gate, err) < 0)
        return ERR_INPUT;
    of->trusted = true;
    return 0;
}

/* Gates that save this one much of its table: they reject, and name only
 * tunables that it names too.  Of gates with a 'given' of their own, only
 * earlier ones are used: otherwise each of two gates might skip what only the
 * other rejects. */
static uint64_t given_for(const struct space *space, size_t gate)
{
    uint64_t given = 0;

    for (size_t g = 0; g < space->spec->space.n_gates; g++) {
        const struct space_gate *other = &space->gates[g];

        if (g != gate && !space->spec->space.gates[g].warns && other->hits &&
            !(other->needs.axes & ~space->gates[gate].needs.axes) &&
            (other->trusted || g < gate))
            given |= UINT64_C(1) << g;
    }
    return given;
}

int space_fill_tables(struct space *space, bool whole, struct err *err)
{
    for (size_t g = 0; g < space->spec->space.n_gates; g++) {
        struct space_gate *gate = &space->gates[g];

        if ((gate->hits && !(whole && gate->given)) ||
            space_product(space, gate->needs.axes) > SPACE_TABLE_MAX)
            continue;
        gate->given = whole ? 0 : given_for(space, g);
        if (fill(space, g, err) < 0)
            return ERR_INPUT;
        gate->trusted = gate->given == 0;
    }
    return 0;
}

/* ---- reading */

uint64_t space_gates(const struct space *space, bool warning)
{
    uint64_t gates = 0;

    for (size_t g = 0; g < space->spec->space.n_gates; g++)
        if (space->spec->space.gates[g].warns == warning)
            gates |= UINT64_C(1) << g;
    return gates;
}

uint64_t space_tables(const struct space *space)
{
    uint64_t gates = 0;

    for (size_t g = 0; g < space->spec->space.n_gates; g++)
        if (space->gates[g].hits)
            gates |= UINT64_C(1) << g;
    return gates;
}

struct point_walker *space_lattice(const struct space *space, uint64_t axes,
                                   uint64_t rejecting, uint64_t warning)
{
    struct point_walker_rule rules[SPEC_LIST_MAX] = { { 0, NULL } };
    size_t sizes[SPEC_AXES_MAX];

    for (size_t a = 0; a < space->spec->space.n_axes; a++)
        sizes[a] = axes >> a & 1 ? space->spec->space.axes[a].n : 1;
    for (size_t g = 0; g < space->spec->space.n_gates; g++)
        rules[g] = (struct point_walker_rule){ space->gates[g].needs.axes,
                                               space->gates[g].hits };
    return point_walker_new(sizes, space->spec->space.n_axes, rules, rejecting,
                            warning);
}

int space_warned_at(struct space *space, int64_t number, uint64_t *out,
                    struct err *err)
{
    uint64_t warning = space_gates(space, true);

    *out = 0;
    if (space->only)
        return 0;
    if (warning & ~space_tables(space)) {
        struct value values[SPEC_AXES_MAX];

        space_values(space, number, values);
        return space_warned_by(space, values, out, err);
    }
    for (size_t g = 0; g < space->spec->space.n_gates; g++) {
        int64_t at;

        if (!(warning >> g & 1))
            continue;
        at = place_of(space, g, number);
        *out |= (space->gates[g].hits[at / 64] >> at % 64 & 1) << g;
    }
    return 0;
}
