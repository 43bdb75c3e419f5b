/* The queries of a space, as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/space/space_internal.h"
#include "coordinator/space/space_sql.h"

struct binding {
    const struct space *space;
    const struct spec_shape *shape;
};

static void put_fact(const struct space *space, size_t fact, struct buf *out)
{
    int64_t value = gpu_arch_fact(&space->facts, fact);

    if (value == GPU_ARCH_UNKNOWN)
        buf_printf(out, "NULL");
    else
        buf_printf(out, "%" PRId64, value);
}

void space_sql_tunable(const struct space *space, size_t index, struct buf *out)
{
    const struct spec_axis *axis = &space->spec->space.axes[index];

    if (axis->n > 1) {
        buf_printf(out, "t%zu.v", index);
        return;
    }
    buf_printf(out, "(");
    value_sql(&axis->values[0], out);
    buf_printf(out, ")");
}

/* What is known before the tunables: a fact, or the variable of a shape. */
static void put_known(const struct binding *binding, enum sql_rule_scope scope,
                      size_t index, struct buf *out)
{
    if (scope == SQL_RULE_FACT)
        put_fact(binding->space, index, out);
    else
        buf_printf(out, "(%" PRId64 ")", binding->shape->vars[index]);
}

static void put_column(void *arg, enum sql_rule_scope scope, size_t index,
                       struct buf *out)
{
    const struct binding *binding = arg;

    if (scope == SQL_RULE_TUNABLE)
        space_sql_tunable(binding->space, index, out);
    else
        put_known(binding, scope, index, out);
}

static void put_numbered(void *arg, enum sql_rule_scope scope, size_t index,
                         struct buf *out)
{
    if (scope == SQL_RULE_TUNABLE)
        buf_printf(out, "?%zu", 1 + index);
    else
        put_known(arg, scope, index, out);
}

void space_sql_rule(const struct space *space, const char *text,
                    const struct spec_shape *shape, struct buf *out)
{
    struct binding binding = { space, shape };

    sql_rule_expand(space->spec, text, put_column, &binding, out);
}

void space_sql_numbered(const struct space *space, const char *text,
                        const struct spec_shape *shape, struct buf *out)
{
    struct binding binding = { space, shape };

    sql_rule_expand(space->spec, text, put_numbered, &binding, out);
}

static void put_parameter(void *arg, enum sql_rule_scope scope, size_t index,
                          struct buf *out)
{
    const struct binding *binding = arg;
    const struct spec *spec = binding->space->spec;

    if (scope == SQL_RULE_FACT)
        put_fact(binding->space, index, out);
    else if (scope == SQL_RULE_TUNABLE)
        buf_printf(out, "?%zu", 1 + index);
    else if (scope == SQL_RULE_VAR)
        buf_printf(out, "?%zu", 1 + spec->space.n_axes + index);
    else
        buf_printf(out, "?%zu", 1 + spec->space.n_axes + spec->shapes.n_vars);
}

void space_sql_parameters(const struct space *space, const char *text,
                          struct buf *out)
{
    struct binding binding = { space, NULL };

    sql_rule_expand(space->spec, text, put_parameter, &binding, out);
}

void space_sql_from(const struct space *space, uint64_t axes, struct buf *out)
{
    const char *before = " FROM ";

    for (size_t i = 0; i < space->spec->space.n_axes; i++) {
        if (!(axes >> i & 1) || space->spec->space.axes[i].n == 1)
            continue;
        buf_printf(out, "%st%zu", before, i);
        before = " CROSS JOIN ";
    }
}

void space_sql_number(const struct space *space, uint64_t axes, struct buf *out)
{
    const char *before = "";

    for (size_t i = 0; i < space->spec->space.n_axes; i++) {
        if (!(axes >> i & 1) || space->spec->space.axes[i].n == 1)
            continue;
        buf_printf(out, "%st%zu.k", before, i);
        before = "+";
    }
    if (!*before)
        buf_printf(out, "0");
}

/* The expression, wrapped so that it reports an error unless it yields 0 or 1.
 * It is a CASE because WHERE treats NULL and 'text' as false. */
static void add_checked(const struct space *space, size_t gate,
                        const char *expression, const char *if_0,
                        const char *if_1, struct buf *out)
{
    buf_printf(out, "CASE (%s) WHEN 0 THEN %s WHEN 1 THEN %s ELSE fa_flaw(%zu,",
               expression, if_0, if_1, gate);
    space_sql_number(space, space->gates[gate].needs.axes, out);
    buf_printf(out, ",(%s)) END", expression);
}

bool space_sql_gate(const struct space *space, size_t gate, size_t shape,
                    struct buf *out)
{
    const char *text = space->spec->space.gates[gate].rule.text;
    struct buf before;
    bool differs = true;

    space_sql_rule(space, text, &space->shapes[shape], out);
    if (shape == 0)
        return true;
    if (!space->gates[gate].needs.vars)
        return false;
    buf_init(&before, SPACE_SQL_MAX);
    space_sql_rule(space, text, &space->shapes[shape - 1], &before);
    differs = strcmp(buf_text(out), buf_text(&before)) != 0;
    buf_fini(&before);
    return differs;
}

/* Call 'add' for each distinct text that a gate has over the shapes. */
static void each_shape(const struct space *space, size_t gate, struct buf *out,
                       void (*add)(const struct space *, size_t, const char *,
                                   struct buf *))
{
    struct buf one;

    buf_init(&one, SPACE_SQL_MAX);
    for (size_t s = 0; s < space->n_shapes; s++) {
        buf_clear(&one);
        if (!space_sql_gate(space, gate, s, &one))
            continue;
        out->truncated |= one.truncated;
        add(space, gate, buf_text(&one), out);
    }
    buf_fini(&one);
}

static void add_pass(const struct space *space, size_t gate,
                     const char *expression, struct buf *out)
{
    buf_printf(out, " AND ");
    if (space->gates[gate].trusted)
        buf_printf(out, "NOT (%s)", expression);
    else
        add_checked(space, gate, expression, "1", "0", out);
}

void space_sql_passes(const struct space *space, size_t gate, struct buf *out)
{
    each_shape(space, gate, out, add_pass);
}

static void add_warning(const struct space *space, size_t gate,
                        const char *expression, struct buf *out)
{
    char bit[24];

    snprintf(bit, sizeof(bit), "(1<<%zu)", gate);
    buf_printf(out, "|");
    add_checked(space, gate, expression, "0", bit, out);
}

void space_sql_warned(const struct space *space, size_t gate, struct buf *out)
{
    each_shape(space, gate, out, add_warning);
}

/* ---- tables */

static void add_table(const struct space *space, size_t i, struct buf *sql)
{
    const struct spec_axis *axis = &space->spec->space.axes[i];

    buf_printf(sql, "CREATE TABLE t%zu(k INTEGER PRIMARY KEY, v);", i);
    for (size_t j = 0; j < axis->n; j++) {
        buf_printf(sql, "INSERT INTO t%zu VALUES(%" PRId64 ",", i,
                   (int64_t)j * space->stride[i]);
        value_sql(&axis->values[j], sql);
        buf_printf(sql, ");");
    }
}

/* A table with every name as a column, so that SQLite can parse rules. */
static void add_names(const struct spec *spec, struct buf *sql)
{
    buf_printf(sql, "CREATE TABLE names(time_s");
    for (size_t i = 0; i < spec->space.n_axes; i++)
        buf_printf(sql, ",\"%s\"", spec->space.axes[i].name);
    for (size_t i = 0; i < spec->space.n_derived; i++)
        buf_printf(sql, ",\"%s\"", spec->space.derived[i].name);
    for (size_t i = 0; i < spec->shapes.n_vars; i++)
        buf_printf(sql, ",\"%s\"", spec->shapes.vars[i]);
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++)
        buf_printf(sql, ",\"%s\"", gpu_arch_fact_name(i));
    buf_printf(sql, ");");
}

int space_make_tables(struct space *space, struct err *err)
{
    struct buf sql;
    int rc = 0;

    buf_init(&sql, SPACE_SQL_MAX);
    add_names(space->spec, &sql);
    rc = sql_sandbox_run(&space->sandbox, buf_text(&sql), err);
    for (size_t i = 0; i < space->spec->space.n_axes && rc == 0; i++) {
        if (space->spec->space.axes[i].n == 1)
            continue;
        buf_clear(&sql);
        add_table(space, i, &sql);
        rc = sql_sandbox_run(&space->sandbox, buf_text(&sql), err);
    }
    buf_fini(&sql);
    return rc;
}

int space_parse(struct space *space, const struct spec_rule *rule,
                const char *what, struct err *err)
{
    static const char front[] = "SELECT 1 FROM names WHERE (\n";
    sqlite3_stmt *stmt = NULL;
    struct err reason;
    struct buf sql;
    int offset, rc;

    buf_init(&sql, SPACE_SQL_MAX);
    buf_printf(&sql, "%s%s\n) IS 0", front, rule->text);
    rc = sql_sandbox_prepare(&space->sandbox, buf_text(&sql), &stmt, &offset,
                             &reason);
    sqlite3_finalize(stmt);
    buf_fini(&sql);
    if (rc == 0)
        return 0;
    offset -= (int)sizeof(front) - 1;
    if (offset >= (int)strlen(rule->text))
        return spec_err_in(space->spec, rule, strlen(rule->text), err,
                           "rules are SQL expressions (docs/sweep-file.md)",
                           "%s: the rule ends where a value is missing", what);
    return spec_err_in(space->spec, rule, offset > 0 ? (size_t)offset : 0, err,
                       "rules are SQL expressions (docs/sweep-file.md)",
                       "%s: %.150s", what, reason.text);
}

int space_prepare(struct space *space, const struct buf *sql,
                  sqlite3_stmt **out, struct err *err)
{
    struct err reason;
    int offset;

    if (sql->truncated)
        return err_set(err, ERR_INPUT,
                       "%s: the rules are longer than 1 MiB once derived "
                       "values and shapes are put in",
                       space->spec->file.path);
    if (sql_sandbox_prepare(&space->sandbox, buf_text(sql), out, &offset,
                            &reason) < 0)
        return err_set(err, ERR_INPUT, "%s: the rules together: %s",
                       space->spec->file.path, reason.text);
    return 0;
}

static int flaw_err(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    const struct spec_gate *gate = &spec->space.gates[space->flaw.gate];
    uint64_t axes = space->gates[space->flaw.gate].needs.axes;
    struct value values[SPEC_AXES_MAX];
    struct buf point;
    int rc;

    buf_init(&point, 160);
    space_values(space, space->flaw.number, values);
    for (size_t i = 0; i < spec->space.n_axes; i++) {
        if (!(axes >> i & 1))
            continue;
        buf_printf(&point, "%s%s=", point.len ? " " : " for ",
                   spec->space.axes[i].name);
        value_text(&values[i], &point);
    }
    rc = spec_err_in(spec, &gate->rule, 0, err,
                     strcmp(space->flaw.value, "NULL") == 0
                         ? "a rule must yield 0 or 1; x / 0, x % 0 and unknown "
                           "facts yield NULL"
                         : "a rule must yield 0 or 1; write a comparison",
                     "gate '%s' yields %s%s", gate->name, space->flaw.value,
                     buf_text(&point));
    buf_fini(&point);
    space->flaw.set = false;
    return rc;
}

int space_late_err(const struct space *space, struct err *err)
{
    return spec_err(space->spec, space->spec->space.axes_at, err,
                    "use fewer values, or gates that depend on few tunables, "
                    "best on those listed first",
                    "it takes more than %d s to enumerate the configurations",
                    SPACE_SECONDS_MAX);
}

int space_step_err(struct space *space, struct err *err)
{
    if (space->flaw.set)
        return flaw_err(space, err);
    if (sqlite3_errcode(space->sandbox.db) == SQLITE_INTERRUPT)
        return space_late_err(space, err);
    if (sqlite3_errcode(space->sandbox.db) == SQLITE_NOMEM)
        mem_exhausted();
    return err_set(err, ERR_INPUT, "%s: %s", space->spec->file.path,
                   sqlite3_errmsg(space->sandbox.db));
}
