/* Gates as expressions over whole numbers (int_expr.h).  SQLite evaluates the
 * parts that are of another kind. */
#include "coordinator/space/space_diagram.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/points/int_expr.h"
#include "coordinator/points/int_expr_parse.h"
#include "coordinator/points/point_diagram.h"
#include "coordinator/space/space_internal.h"
#include "coordinator/space/space_sql.h"
#include "coordinator/space/space_table.h"

#define NODES_MAX (1 << 19)

bool space_diagram_helps(const struct space *space, uint64_t axes,
                         uint64_t gates)
{
    for (size_t g = 0; g < space->spec->space.n_gates; g++)
        if (gates >> g & 1 &&
            space_product(space, space->gates[g].needs.axes) > SPACE_TRIAL_MAX)
            return true;
    return space_product(space, axes) > SPACE_DIAGRAM_FROM;
}

/* ---- parts that SQLite evaluates */

/* The text with the columns of the tables for "?N". */
static void put_columns(const struct space *space, const char *text, size_t len,
                        struct buf *out)
{
    bool quoted = false;

    for (size_t i = 0; i < len; i++) {
        char *end;

        quoted ^= text[i] == '\'';
        if (quoted || text[i] != '?') {
            buf_add(out, text + i, 1);
            continue;
        }
        space_sql_tunable(space, strtoul(text + i + 1, &end, 10) - 1, out);
        i = (size_t)(end - text) - 1;
    }
}

static bool read_values(struct space *space, sqlite3_stmt *stmt,
                        int64_t *values, size_t n)
{
    sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (sqlite3_step(stmt) != SQLITE_ROW ||
            sqlite3_column_type(stmt, 0) != SQLITE_INTEGER)
            return false;
        values[i] = sqlite3_column_int64(stmt, 0);
    }
    return sqlite3_step(stmt) == SQLITE_DONE;
}

static bool evaluate(void *arg, const char *text, size_t len, uint64_t axes,
                     int64_t *values, size_t n)
{
    struct space *space = arg;
    sqlite3_stmt *stmt = NULL;
    struct err err;
    struct buf sql;
    bool whole;

    buf_init(&sql, SPACE_SQL_MAX);
    buf_printf(&sql, "SELECT (");
    put_columns(space, text, len, &sql);
    buf_printf(&sql, ")");
    space_sql_from(space, axes, &sql);
    whole = space_prepare(space, &sql, &stmt, &err) == 0 &&
            read_values(space, stmt, values, n);
    sqlite3_finalize(stmt);
    buf_fini(&sql);
    return whole;
}

/* ---- gates */

static void set_nodes(const struct space *space, struct int_expr *expr,
                      int *nodes)
{
    int64_t values[INT_EXPR_LEVELS_MAX];

    for (size_t a = 0; a < space->spec->space.n_axes; a++) {
        const struct spec_axis *axis = &space->spec->space.axes[a];

        nodes[a] = INT_EXPR_NONE;
        if (axis->kind != VALUE_INT && axis->kind != VALUE_BOOL)
            continue;
        for (size_t level = 0; level < axis->n; level++)
            values[level] = axis->values[level].integer;
        nodes[a] = int_expr_table(expr, UINT64_C(1) << a, values);
    }
}

/* Where a gate does not hit, for one shape. */
static int pass_shape(const struct space *space, struct int_expr *expr,
                      size_t gate, const struct spec_shape *shape,
                      const struct int_expr_parse_use *use)
{
    struct buf text;
    int64_t low, high;
    int hit = INT_EXPR_NONE;

    buf_init(&text, SPACE_SQL_MAX);
    space_sql_numbered(space, space->spec->space.gates[gate].rule.text, shape,
                       &text);
    if (!text.truncated)
        hit = int_expr_parse(expr, buf_text(&text),
                             space->gates[gate].needs.axes, use);
    buf_fini(&text);
    if (hit < 0)
        return INT_EXPR_NONE;
    int_expr_bounds(expr, hit, &low, &high);
    return low >= 0 && high <= 1 ? int_expr_not(expr, hit) : INT_EXPR_NONE;
}

static int pass_gates(struct space *space, struct int_expr *expr,
                      uint64_t gates)
{
    int nodes[INT_EXPR_AXES_MAX];
    const struct int_expr_parse_use use = { nodes, evaluate, space };
    int pass = int_expr_constant(expr, 1);

    set_nodes(space, expr, nodes);
    for (size_t g = 0; g < space->spec->space.n_gates; g++) {
        size_t shapes = space->gates[g].needs.vars ? space->n_shapes : 1;

        for (size_t s = 0; pass >= 0 && gates >> g & 1 && s < shapes; s++)
            pass = int_expr_and(
                expr, pass,
                pass_shape(space, expr, g, &space->shapes[s], &use));
    }
    return pass;
}

struct point_diagram *space_diagram_new(struct space *space, uint64_t gates)
{
    size_t sizes[SPEC_AXES_MAX];
    struct point_diagram *diagram = NULL;
    struct int_expr *expr;
    int pass;

    for (size_t a = 0; a < space->spec->space.n_axes; a++)
        sizes[a] = space->spec->space.axes[a].n;
    expr = int_expr_new(sizes, space->spec->space.n_axes, NODES_MAX);
    pass = pass_gates(space, expr, gates);
    if (pass >= 0)
        diagram = point_diagram_new(expr, pass);
    int_expr_free(expr);
    return diagram;
}
