#include "coordinator/store/damaged_rows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/sql/sql.h"

#define JUMPS_MAX 40 /* doublings: past any rowid */

struct reading {
    struct sqlite3 *db;
    const struct damaged_rows *rows;
    damaged_rows_fn *fn;
    void *arg;
    int64_t last; /* rowid of the row that was read last */
};

bool damaged_rows_have_rowid(const struct damaged_rows *rows)
{
    return strcmp(rows->key, "rowid") == 0;
}

/* 1: to its end; 0: up to what cannot be read; or the error of 'fn'. */
static int read_range(struct reading *r, const char *where, const char *order,
                      int64_t bound, struct err *err)
{
    char *text = mem_printf("SELECT %s, %s FROM %s NOT INDEXED%s ORDER BY %s",
                            damaged_rows_have_rowid(r->rows) ? "rowid" : "0",
                            r->rows->columns, r->rows->table, where, order);
    struct sqlite3_stmt *stmt = NULL;
    struct row_cells row;
    struct err unreadable;
    int rc = sql_prepare(r->db, text, &stmt, &unreadable), ours = 0;

    if (rc == 0)
        rc = *where ? sql_start(stmt, &unreadable, "I", bound) : 0;
    while (rc >= 0 && ours == 0 && (rc = sql_step(stmt, &unreadable)) == 1) {
        row_cells_read(stmt, &row);
        r->last = row.values[0].integer;
        ours = r->fn(r->arg, &row, err);
    }
    sql_free(stmt);
    free(text);
    return ours < 0 ? ours : rc == 0;
}

/* Behind the damage: pages are found through those above them.  Where rows can
 * be read again, those before them may be readable, too. */
static int read_behind(struct reading *r, struct err *err)
{
    int64_t from = r->last;
    int rc = 0;

    for (int i = 0; i < JUMPS_MAX && rc == 0 && r->last == from; i++) {
        int64_t at = from + (INT64_C(1) << i);

        rc = read_range(r, " WHERE rowid > ?", "rowid", at, err);
        if (rc >= 0 && r->last != from) {
            int64_t last = r->last;
            int before =
                read_range(r, " WHERE rowid <= ?", "rowid DESC", at, err);

            r->last = last;
            rc = before < 0 ? before : rc;
        }
    }
    return rc == 0 && r->last != from ? read_behind(r, err) : rc;
}

/* "a, b" becomes "a DESC, b DESC"; for the caller to free. */
static char *backwards(const char *key)
{
    char *text = mem_new(6 * strlen(key) + sizeof(" DESC"), 1), *out = text;

    for (; *key; key++) {
        if (*key == ',')
            out = stpcpy(out, " DESC");
        *out++ = *key;
    }
    stpcpy(out, " DESC");
    return text;
}

int damaged_rows_read(struct sqlite3 *db, const struct damaged_rows *rows,
                      damaged_rows_fn *fn, void *arg, struct err *err)
{
    struct reading r = { .db = db, .rows = rows, .fn = fn, .arg = arg };
    int rc = read_range(&r, "", rows->key, 0, err);

    if (rc != 0)
        return rc;
    if (damaged_rows_have_rowid(rows))
        rc = read_behind(&r, err);
    if (rc >= 0) {
        char *order = backwards(rows->key);

        rc = read_range(&r, "", order, 0, err);
        free(order);
    }
    return rc < 0 ? rc : 0;
}
