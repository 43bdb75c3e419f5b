#include "coordinator/store/whole.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/embed.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/checksum.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/tally.h"
#include "coordinator/text/terminal.h"

#define COLUMNS_BYTES_MAX 2048
#define UNREAD "unable to get the page" /* SQLite's words for a failed read */
#define REMEDY                                                              \
    "; 'fa-coord verify' lists what is damaged, 'fa-coord recover' copies " \
    "the rest"

extern const struct embed store_schema[]; /* the newest format first */

const struct whole_table whole_tables[WHOLE_TABLES] = {
    { "owner", "rowid", 0 },
    { "run", "rowid", 1 },
    { "request", "rowid", 1 },
    { "sweep", "rowid", 1 },
    { "gate", "sweep, position", 2 },
    { "shape", "sweep, position", 2 },
    { "config", "key", 1 },
    { "outcome", "config, shape, source_key, measure_key", 4 },
    { "host", "name", 1 },
    { "gpu", "uuid", 1 },
    { "lease", "epoch, id", 2 },
    { "interval", "host, epoch, start_ns", 3 },
    { "event", "rowid", 1 },
    { "build", "rowid", 1 },
    { "result", "rowid", 1 },
    { "tool", "nonce", 1 },
    { "contest", "rowid", 1 },
    { "contestant", "pass, position", 2 },
    { "contest_shape", "pass, position", 2 },
    { "step", "sweep, position", 2 },
    { "held", "host, epoch, start_ns", 3 },
    { "ready", "host, gpu, at_utc", 3 },
    { "acquisition", "id", 1 },
};

char *whole_row_name(const struct whole_table *table,
                     const struct row_cells *row)
{
    char *name = mem_strdup(table->name);

    for (size_t i = 0; i < table->n_key && i < row->n; i++) {
        char *longer = mem_printf("%s %s", name, row_cells_text(row, i));

        free(name);
        name = longer;
    }
    return name;
}

bool whole_row(const struct row_cells *row, size_t first)
{
    size_t at = row_cells_find(row, "checksum");
    const struct sql_value *values = &row->values[first], *stored;
    char sum[HASH_HEX];

    if (at == row->n)
        return false;
    stored = &row->values[at];
    if (stored->type == 'I')
        return stored->integer == checksum_short(values, at - first);
    checksum_row(values, at - first, sum);
    return stored->type == 't' && strcmp(stored->text, sum) == 0;
}

/* ---- the whole database */

int whole_layout(struct sqlite3 *db, struct err *err)
{
    static const char text[] =
        "SELECT checksum_short(group_concat(line)) FROM ("
        "SELECT checksum_row(t.name, t.wr, t.strict, c.cid, c.name, c.type,"
        "  c.\"notnull\", c.dflt_value, c.pk) AS line"
        " FROM pragma_table_list t, pragma_table_info(t.name) c"
        " WHERE t.schema='main' UNION ALL "
        "SELECT checksum_row(t.name, i.name, i.\"unique\", i.partial, c.seqno,"
        "  c.name)"
        " FROM pragma_table_list t, pragma_index_list(t.name) i,"
        "  pragma_index_info(i.name) c"
        " WHERE t.schema='main' ORDER BY 1)";
    struct sqlite3 *newest;
    int64_t is = 0, should = 0;
    int rc = dbfile_newest((const char *)store_schema[0].bytes, &newest, err);

    if (rc == 0)
        rc = sql_number(newest, text, &should, err, "");
    if (rc == 0)
        rc = sql_number(db, text, &is, err, "");
    dbfile_close(newest);
    if (rc < 0)
        return ERR_STORE;
    return is == should
               ? 0
               : err_set(err, ERR_STORE,
                         "its tables or columns have other names" REMEDY);
}

static int check_structure(struct sqlite3 *db, struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(db, "PRAGMA integrity_check(1)", &stmt, err);

    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1 && strstr(sql_text(stmt, 0), UNREAD) && sql_system_error(db)) {
        rc = sql_system_refused(sql_system_error(db), err);
    } else if (rc == 1 && strcmp(sql_text(stmt, 0), "ok") != 0) {
        const char *line =
            strchr(sql_text(stmt, 0), '\n'); /* behind "in ..." */

        line = line ? line + 1 : sql_text(stmt, 0);
        rc = err_set(err, ERR_STORE, "its pages are damaged (%.*s)" REMEDY,
                     (int)strcspn(line, "\n"), line);
    }
    sql_free(stmt);
    return err_only(rc);
}

static int not_whole(const struct whole_table *table,
                     const struct row_cells *row, struct err *err)
{
    char *name = whole_row_name(table, row);

    err_set(err, ERR_STORE, "the row '%.80s' is not as it was written" REMEDY,
            name);
    free(name);
    return ERR_STORE;
}

int whole_row_check(const char *table, const struct row_cells *row,
                    struct err *err)
{
    if (whole_row(row, 0))
        return 0;
    not_whole(&whole_tables[tally_find(table)], row, err);
    if (err)
        terminal_clean(err->text, false); /* it may quote what is damaged */
    return ERR_STORE;
}

static int check_count(const struct whole_table *table,
                       const struct tally_count *is,
                       const struct tally_count *written, struct err *err)
{
    char *misfit;

    if (tally_fits(is, written))
        return 0;
    misfit = tally_misfit(table, is, written);
    err_set(err, ERR_STORE, "%s" REMEDY, misfit);
    free(misfit);
    return ERR_STORE;
}

static int check_table(struct sqlite3 *db, const struct whole_table *table,
                       const struct tally_count *written, struct err *err)
{
    struct tally_count is = { .known = true };
    char *text = mem_printf("SELECT * FROM %s", table->name);
    struct sqlite3_stmt *stmt = NULL;
    struct row_cells row;
    int rc = sql_prepare(db, text, &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        row_cells_read(stmt, &row);
        if (!whole_row(&row, 0))
            rc = not_whole(table, &row, err);
        tally_row(&is, &row);
    }
    sql_free(stmt);
    free(text);
    return rc < 0 ? rc : check_count(table, &is, written, err);
}

static int check_tables(struct sqlite3 *db, struct err *err)
{
    struct tally_count written[WHOLE_TABLES];
    struct err why;
    int rc = tally_read(db, written, &why);

    if (rc < 0)
        return err_set(err, rc, "%s" REMEDY, why.text);
    for (size_t i = 0; i < WHOLE_TABLES && rc == 0; i++)
        rc = check_table(db, &whole_tables[i], &written[i], err);
    return rc;
}

int whole_begin(struct sqlite3 *db, struct err *err)
{
    return sql_run(db, "SAVEPOINT whole", err);
}

void whole_end(struct sqlite3 *db)
{
    (void)sql_run(db, "RELEASE whole", NULL); /* nothing was written */
}

int whole_check(struct sqlite3 *db, struct err *err)
{
    int rc = whole_begin(db, err);

    if (rc == 0)
        rc = whole_layout(db, err);
    if (rc == 0)
        rc = check_structure(db, err);
    if (rc == 0)
        rc = check_tables(db, err);
    whole_end(db);
    if (rc < 0 && err)
        terminal_clean(err->text, false); /* it may quote what is damaged */
    return rc < 0 ? ERR_STORE : 0;
}

/* ---- writing */

/* The columns before the checksum: as they are, and with the new ending. */
static int list_columns(struct sqlite3 *db, const char *table, struct buf *old,
                        struct buf *new, struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(db,
                         "SELECT name FROM pragma_table_info(?)"
                         " WHERE name<>'checksum' ORDER BY cid",
                         &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "s", table);
    while (rc == 0 && (rc = sql_step(stmt, err)) == 1) {
        const char *name = sql_text(stmt, 0);
        bool ending = strcmp(name, "ending") == 0,
             ended = strcmp(name, "ended_utc") == 0;

        buf_printf(old, "%s%s", old->len ? "," : "", name);
        buf_printf(new, "%s%s", new->len ? "," : "",
                   ending  ? "?1"
                   : ended ? "?2"
                           : name);
        rc = 0;
    }
    sql_free(stmt);
    return err_only(rc);
}

static char *update_text(struct sqlite3 *db, const char *table,
                         const char *where, bool ends, struct err *err)
{
    struct buf old, new;
    char *text = NULL;

    buf_init(&old, COLUMNS_BYTES_MAX);
    buf_init(&new, COLUMNS_BYTES_MAX);
    if (list_columns(db, table, &old, &new, err) == 0)
        text = ends ? mem_printf("UPDATE %s SET ending=?1, ended_utc=?2,"
                                 " checksum=tally_swap('%s', checksum,"
                                 " iif(checksum=checksum_short(%s),"
                                 " checksum_short(%s), checksum)) WHERE %s",
                                 table, table, buf_text(&old), buf_text(&new),
                                 where)
                    : mem_printf("UPDATE %s SET checksum=tally_swap('%s',"
                                 " checksum, checksum_short(%s)) WHERE %s",
                                 table, table, buf_text(&old), where);
    buf_fini(&old);
    buf_fini(&new);
    return text;
}

char *whole_seal_text(struct sqlite3 *db, const char *table, const char *where,
                      struct err *err)
{
    return update_text(db, table, where, false, err);
}

char *whole_end_text(struct sqlite3 *db, const char *table, const char *where,
                     struct err *err)
{
    return update_text(db, table, where, true, err);
}
