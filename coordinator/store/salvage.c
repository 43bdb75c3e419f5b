#include "coordinator/store/salvage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/damaged_rows.h"

#define TEXT_MAX (1 << 14) /* names of all columns of a table */

struct table {
    char *name;
    struct buf columns, key; /* "a, b" */
    bool has_rowid, names_rowid;
    struct sqlite3_stmt *insert;
    bool lost; /* some rows */
};

static int take_row(void *arg, const struct row_cells *row, struct err *err)
{
    struct table *table = arg;
    size_t skip = table->has_rowid && !table->names_rowid ? 0 : 1;
    struct err refused;

    (void)err; /* a row that its table refuses is lost, and no more */
    if (sql_exec_values(table->insert, &row->values[skip], row->n - skip,
                        &refused) < 0)
        table->lost = true;
    return 0;
}

static void add_name(struct buf *names, const char *name)
{
    buf_printf(names, "%s%s", names->len ? ", " : "", name);
}

/* A table without rowid has a primary key, in whose order it is. */
static int describe(struct sqlite3 *db, struct table *table, struct err *err)
{
    char *probe = mem_printf("SELECT rowid FROM %s", table->name);
    struct sqlite3_stmt *stmt = NULL;
    struct err none;
    int rc, keys = 0;

    table->has_rowid = sql_prepare(db, probe, &stmt, &none) == 0;
    sql_free(stmt);
    free(probe);
    stmt = NULL;
    rc = sql_prepare(db,
                     "SELECT name, pk > 0, type = 'INTEGER' FROM"
                     " pragma_table_info(?1) ORDER BY pk = 0, pk, cid",
                     &stmt, err);
    if (rc == 0)
        rc = sql_start(stmt, err, "s", table->name);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        add_name(&table->columns, sql_text(stmt, 0));
        if (!sql_int(stmt, 1))
            continue;
        table->names_rowid =
            table->has_rowid && sql_int(stmt, 2) && ++keys == 1;
        if (!table->has_rowid)
            add_name(&table->key, sql_text(stmt, 0));
    }
    if (table->has_rowid)
        add_name(&table->key, "rowid");
    sql_free(stmt);
    return rc;
}

static int prepare_insert(struct sqlite3 *db, struct table *table,
                          struct err *err)
{
    bool rowid = table->has_rowid && !table->names_rowid;
    struct buf marks;
    char *text;
    int rc;

    buf_init(&marks, TEXT_MAX);
    add_name(&marks, "?");
    for (const char *c = buf_text(&table->columns); *c; c++)
        if (*c == ',')
            add_name(&marks, "?");
    text =
        mem_printf("INSERT OR IGNORE INTO %s(%s%s) VALUES(%s%s)", table->name,
                   rowid ? "rowid, " : "", buf_text(&table->columns),
                   rowid ? "?, " : "", buf_text(&marks));
    rc = sql_prepare(db, text, &table->insert, err);
    free(text);
    buf_fini(&marks);
    return rc;
}

static int copy_table(struct sqlite3 *from, struct sqlite3 *to,
                      struct table *table, struct err *err)
{
    char *empty = mem_printf("DELETE FROM %s", table->name);
    int rc = sql_run(to, empty, err);

    free(empty);
    if (rc == 0)
        rc = describe(to, table, err);
    if (rc == 0)
        rc = prepare_insert(to, table, err);
    if (rc == 0) {
        const struct damaged_rows rows = { table->name,
                                           buf_text(&table->columns),
                                           buf_text(&table->key) };

        rc = damaged_rows_read(from, &rows, take_row, table, err);
        table->lost = table->lost || rc == 0;
    }
    sql_free(table->insert);
    return err_only(rc);
}

static int copy_named(struct sqlite3 *from, struct sqlite3 *to,
                      const char *name, struct buf *lost, struct err *err)
{
    struct table table = { .name = mem_strdup(name) };
    int rc;

    buf_init(&table.columns, TEXT_MAX);
    buf_init(&table.key, TEXT_MAX);
    rc = copy_table(from, to, &table, err);
    if (rc == 0 && table.lost)
        buf_printf(lost, " %s ", name);
    buf_fini(&table.columns);
    buf_fini(&table.key);
    free(table.name);
    return rc;
}

int salvage(struct sqlite3 *from, struct sqlite3 *to, struct buf *lost,
            struct err *err)
{
    struct sqlite3_stmt *names = NULL;
    int rc = sql_prepare(to,
                         "SELECT name FROM sqlite_schema WHERE type = 'table'"
                         " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
                         &names, err);

    if (rc == 0)
        rc = sql_run(to, "BEGIN", err);
    while (rc >= 0 && (rc = sql_step(names, err)) == 1)
        rc = copy_named(from, to, sql_text(names, 0), lost, err);
    sql_free(names);
    return rc < 0 ? rc : sql_run(to, "COMMIT", err);
}
