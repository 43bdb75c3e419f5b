/* How many points each gate rejects.
 *
 * Two tunables are joined if a gate names both.  Groups of joined tunables are
 * independent: the number of points that pass is the product over the groups.
 * Each group is counted over its own tunables, by a point walker, a diagram or
 * a query. So a count costs as much as its largest group.
 */
#include "common/buf.h"
#include "common/err.h"
#include "coordinator/points/point_diagram.h"
#include "coordinator/points/point_walker.h"
#include "coordinator/space/space_config.h"
#include "coordinator/space/space_diagram.h"
#include "coordinator/space/space_internal.h"
#include "coordinator/space/space_sql.h"
#include "coordinator/space/space_table.h"

static int count_by_query(struct space *space, uint64_t axes, uint64_t gates,
                          int64_t *out, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    struct buf sql;
    int rc;

    buf_init(&sql, SPACE_SQL_MAX);
    buf_printf(&sql, "SELECT count(*) AS points");
    space_sql_from(space, axes, &sql);
    buf_printf(&sql, " WHERE 1");
    for (size_t g = 0; g < space->spec->space.n_gates; g++)
        if (gates >> g & 1)
            space_sql_passes(space, g, &sql);
    rc = space_prepare(space, &sql, &stmt, err);
    buf_fini(&sql);
    if (rc < 0)
        return rc;
    sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, sql_sandbox_column(stmt, "points"));
    else
        rc = space_step_err(space, err);
    sqlite3_finalize(stmt);
    return rc;
}

static int count_in_lattice(struct space *space, uint64_t axes, uint64_t gates,
                            int64_t *out, struct err *err)
{
    struct point_walker *walker = space_lattice(space, axes, gates, 0);
    int rc = 0;

    *out = 0;
    sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    while (rc == 0 && point_walker_count(walker, out) == POINT_WALKER_LATER)
        if (sql_sandbox_is_late(&space->sandbox))
            rc = space_late_err(space, err);
    point_walker_free(walker);
    return rc;
}

/* With the fastest of the three. */
static int count_any(struct space *space, uint64_t axes, uint64_t gates,
                     int64_t *out, struct err *err)
{
    if (space_diagram_helps(space, axes, gates)) {
        struct point_diagram *diagram = space_diagram_new(space, gates);

        if (diagram) {
            *out = point_diagram_count(diagram) /
                   (space->size / space_product(space, axes));
            point_diagram_free(diagram);
            return 0;
        }
    }
    if (space_fill_tables(space, true, err) < 0)
        return ERR_INPUT;
    return ((gates & ~space_tables(space)) == 0
                ? count_in_lattice
                : count_by_query)(space, axes, gates, out, err);
}

/* Values that are no number: NULL, a text (texts sort after all numbers), or
 * infinity. */
static void add_flaw(const char *expression, struct buf *out)
{
    buf_printf(out,
               "((%s) IS NULL OR (%s) >= '' OR abs(%s) > 1.7976931348623157e308"
               ")",
               expression, expression, expression);
}

static bool derives_numbers(struct space *space, size_t i)
{
    const struct spec_rule *rule = &space->spec->space.derived[i].rule;
    uint64_t axes = space->derived[i].axes;
    sqlite3_stmt *stmt = NULL;
    struct buf expression, sql;
    struct err err;
    bool numbers;

    if (space_product(space, axes) > SPACE_TRIAL_MAX)
        return false;
    buf_init(&expression, SPACE_SQL_MAX);
    buf_init(&sql, SPACE_SQL_MAX);
    space_sql_rule(space, rule->text, NULL, &expression);
    sql.truncated = expression.truncated;
    buf_printf(&sql, "SELECT 1");
    space_sql_from(space, axes, &sql);
    buf_printf(&sql, " WHERE ");
    add_flaw(buf_text(&expression), &sql);
    numbers = space_prepare(space, &sql, &stmt, &err) == 0;
    sql_sandbox_start_clock(&space->sandbox, SPACE_SECONDS_MAX);
    numbers = numbers && sqlite3_step(stmt) == SQLITE_DONE;
    sqlite3_finalize(stmt);
    buf_fini(&expression);
    buf_fini(&sql);
    return numbers;
}

bool space_derives_numbers(struct space *space)
{
    bool numbers = true;

    for (size_t i = 0; numbers && i < space->spec->space.n_derived; i++)
        numbers = derives_numbers(space, i);
    return numbers;
}

/* A set of gates joined by tunables, and these tunables. */
struct group {
    uint64_t axes, gates;
    int64_t passes;
};

/* The previous counts: most groups do not change when a gate is added. */
struct counts {
    struct space *space;
    struct group known[SPEC_LIST_MAX];
    size_t n, next;
};

static int count_group(struct counts *counts, struct group *group,
                       struct err *err)
{
    int rc;

    for (size_t i = 0; i < counts->n; i++) {
        if (counts->known[i].gates == group->gates) {
            group->passes = counts->known[i].passes;
            return 0;
        }
    }
    rc = count_any(counts->space, group->axes, group->gates, &group->passes,
                   err);
    if (rc < 0)
        return rc;
    counts->known[counts->next] = *group;
    counts->next = (counts->next + 1) % SPEC_LIST_MAX;
    if (counts->n < SPEC_LIST_MAX)
        counts->n++;
    return 0;
}

/* Gates that share a tunable end up in one group.  Each round merges the groups
 * that a gate touches into a new group. */
static size_t make_groups(const struct space *space, uint64_t gates,
                          struct group groups[SPEC_LIST_MAX])
{
    size_t n = 0;

    for (size_t g = 0; g < space->spec->space.n_gates; g++) {
        struct group merged = { space->gates[g].needs.axes, UINT64_C(1) << g,
                                0 };
        size_t kept = 0;

        if (!(gates >> g & 1))
            continue;
        for (size_t i = 0; i < n; i++) {
            if (groups[i].axes & merged.axes) {
                merged.axes |= groups[i].axes;
                merged.gates |= groups[i].gates;
            } else {
                groups[kept++] = groups[i];
            }
        }
        groups[kept++] = merged;
        n = kept;
    }
    return n;
}

/* The number of points of the whole space that pass these gates. */
static int count(struct counts *counts, uint64_t gates, int64_t *out,
                 struct err *err)
{
    struct group groups[SPEC_LIST_MAX];
    size_t n = make_groups(counts->space, gates, groups);

    *out = counts->space->size;
    for (size_t i = 0; i < n && *out; i++) {
        if (count_group(counts, &groups[i], err) < 0)
            return ERR_INPUT;
        *out = *out / space_product(counts->space, groups[i].axes) *
               groups[i].passes;
    }
    return 0;
}

static int count_rejects(struct counts *counts, struct space_gate_count *gates,
                         uint64_t *all, int64_t *passed, struct err *err)
{
    const struct spec *spec = counts->space->spec;
    int64_t left, alone;

    *all = 0;
    *passed = counts->space->size;
    for (size_t g = 0; g < spec->space.n_gates; g++) {
        gates[g] = (struct space_gate_count){ 0 };
        if (spec->space.gates[g].warns)
            continue;
        *all |= UINT64_C(1) << g;
        if (count(counts, UINT64_C(1) << g, &alone, err) < 0 ||
            count(counts, *all, &left, err) < 0)
            return ERR_INPUT;
        gates[g].rejected_alone = counts->space->size - alone;
        gates[g].rejected_first = *passed - left;
        *passed = left;
    }
    return 0;
}

int space_count(struct space *space, struct space_gate_count *gates,
                int64_t *passed, struct err *err)
{
    struct counts counts = { .space = space };
    uint64_t all;
    int64_t left;

    if (space->only) {
        *passed = (int64_t)space->only->n;
        return 0;
    }
    if (count_rejects(&counts, gates, &all, passed, err) < 0)
        return ERR_INPUT;
    for (size_t g = 0; g < space->spec->space.n_gates; g++) {
        if (!space->spec->space.gates[g].warns)
            continue;
        if (count(&counts, all | UINT64_C(1) << g, &left, err) < 0)
            return ERR_INPUT;
        gates[g].warned = *passed - left;
    }
    return 0;
}

int space_empty_err(const struct space *space,
                    const struct space_gate_count *gates, struct err *err)
{
    const struct spec *spec = space->spec;
    char size[SPACE_NUMBER_BYTES], first[SPACE_NUMBER_BYTES];
    char left[SPACE_NUMBER_BYTES];
    size_t last = 0;

    space_number_text(space->size, size);
    for (size_t g = 0; g < spec->space.n_gates; g++) {
        if (gates[g].rejected_alone == space->size)
            return spec_err(spec, spec->space.gates[g].at, err,
                            spec->space.gates[g].why,
                            "gate '%s' rejects all %s configurations; without "
                            "the other gates, it still leaves 0",
                            spec->space.gates[g].name, size);
        if (gates[g].rejected_first)
            last = g;
    }
    space_number_text(gates[last].rejected_first, first);
    space_number_text(space->size - gates[last].rejected_alone, left);
    return spec_err(spec, spec->space.gates[last].at, err,
                    spec->space.gates[last].why,
                    "the gates reject all %s configurations: '%s' rejects the "
                    "last %s; without the other gates, it leaves %s",
                    size, spec->space.gates[last].name, first, left);
}
