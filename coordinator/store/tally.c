#include "coordinator/store/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/checksum.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/sql/sql.h"

#define SUM_DIGITS 16 /* of the 32 of a long checksum */

struct tally {
    struct sqlite3 *db;
    bool started;
    bool swapped;                             /* by the statement that runs */
    struct sqlite3_stmt *update;              /* NULL: not prepared */
    struct tally_count written[WHOLE_TABLES]; /* as committed */
    struct tally_count now[WHOLE_TABLES];     /* in this transaction */
};

/* ---- counting */

size_t tally_find(const char *name)
{
    size_t i = 0;

    while (i < WHOLE_TABLES && strcmp(whole_tables[i].name, name) != 0)
        i++;
    return i;
}

static uint64_t digits_value(const char *text, size_t len)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < len && i < SUM_DIGITS; i++) {
        unsigned c = (unsigned char)text[i];

        sum = sum << 4 | ((c & 0xf) + (c >= 'a' ? 9 : 0));
    }
    return sum;
}

static uint64_t value_of(const struct sql_value *checksum)
{
    return checksum->type == 'I'   ? (uint64_t)checksum->integer
           : checksum->type == 't' ? digits_value(checksum->text, checksum->len)
                                   : 0;
}

static void add(struct tally_count *count, const struct sql_value *checksum)
{
    count->rows++;
    count->sum += value_of(checksum);
}

void tally_row(struct tally_count *count, const struct row_cells *row)
{
    size_t at = row_cells_find(row, "checksum");

    if (at < row->n)
        add(count, &row->values[at]);
    else
        count->rows++;
}

bool tally_fits(const struct tally_count *is, const struct tally_count *written)
{
    return !is->known || !written->known ||
           (is->rows == written->rows && is->sum == written->sum);
}

char *tally_misfit(const struct whole_table *table,
                   const struct tally_count *is,
                   const struct tally_count *written)
{
    if (is->rows < written->rows)
        return mem_printf("table '%s': %" PRId64 " of %" PRId64
                          " rows are missing",
                          table->name, written->rows - is->rows, written->rows);
    if (is->rows > written->rows)
        return mem_printf("table '%s': %" PRId64 " rows, and %" PRId64
                          " were written",
                          table->name, is->rows, written->rows);
    return mem_printf("table '%s': its rows are not those that were written",
                      table->name);
}

/* ---- what is stored */

static int check_row(const struct row_cells *row,
                     struct tally_count out[WHOLE_TABLES],
                     bool seen[WHOLE_TABLES], struct err *err)
{
    const struct sql_value *values = row->values;
    const char *name = row_cells_text(row, row_cells_find(row, "name"));
    size_t i = tally_find(name);

    if (!whole_row(row, 0) || i == WHOLE_TABLES)
        return err_set(err, ERR_STORE,
                       "the row 'tally %.80s' is not as it was written", name);
    seen[i] = true;
    if (values[1].type == 'I' && values[2].type == 'I')
        out[i] = (struct tally_count){ true, values[1].integer,
                                       (uint64_t)values[2].integer };
    return 0;
}

int tally_read(struct sqlite3 *db, struct tally_count out[WHOLE_TABLES],
               struct err *err)
{
    bool seen[WHOLE_TABLES] = { false };
    struct sqlite3_stmt *stmt = NULL;
    struct row_cells row;
    int rc = sql_prepare(
        db, "SELECT name, row_count, checksum_sum, checksum FROM tally", &stmt,
        err);

    memset(out, 0, WHOLE_TABLES * sizeof(*out));
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        row_cells_read(stmt, &row);
        rc = check_row(&row, out, seen, err);
    }
    sql_free(stmt);
    for (size_t i = 0; i < WHOLE_TABLES && rc == 0; i++)
        if (!seen[i])
            rc = err_set(err, ERR_STORE, "the row 'tally %s' is missing",
                         whole_tables[i].name);
    return rc < 0 ? ERR_STORE : 0;
}

/* ---- the writer's connection */

/* tally_swap(table, old, new): a row gets another checksum; returns the new
 * one, for a SET. */
static void swap(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct tally *tally = sqlite3_user_data(context);
    size_t i = tally_find((const char *)sqlite3_value_text(values[0]));
    struct sql_value old = sql_value_of(values[1]),
                     new = sql_value_of(values[2]);

    (void)n; /* as registered: 3 */
    tally->now[i].sum += value_of(&new) - value_of(&old);
    tally->swapped = true;
    sqlite3_result_value(context, values[2]);
}

/* tally_goes(table, old): a row is deleted. */
static void goes(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct tally *tally = sqlite3_user_data(context);
    size_t i = tally_find((const char *)sqlite3_value_text(values[0]));
    struct sql_value old = sql_value_of(values[1]);

    (void)context;
    (void)n; /* as registered: 2 */
    tally->now[i].rows--;
    tally->now[i].sum -= value_of(&old);
}

static int add_function(struct tally *tally, const char *name, int n,
                        void (*function)(sqlite3_context *, int,
                                         sqlite3_value **),
                        struct err *err)
{
    if (sqlite3_create_function_v2(tally->db, name, n,
                                   SQLITE_UTF8 | SQLITE_DIRECTONLY, tally,
                                   function, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return sql_refused(tally->db, err);
}

/* 'recursive_triggers' lets REPLACE tell of the row that it deletes. */
static int add_triggers(struct tally *tally, struct err *err)
{
    int rc =
        sql_run(tally->db,
                "PRAGMA temp_store=MEMORY; PRAGMA recursive_triggers=ON", err);

    if (rc == 0)
        rc = add_function(tally, "tally_swap", 3, swap, err);
    if (rc == 0)
        rc = add_function(tally, "tally_goes", 2, goes, err);
    for (size_t i = 0; i < WHOLE_TABLES && rc == 0; i++) {
        const char *name = whole_tables[i].name;
        char *text = mem_printf(
            "CREATE TEMP TRIGGER %s_goes AFTER DELETE ON main.%s BEGIN"
            " SELECT tally_goes('%s', OLD.checksum); END",
            name, name, name);

        rc = sql_run(tally->db, text, err);
        free(text);
    }
    return rc;
}

void tally_expect(struct tally *tally)
{
    tally->swapped = false;
}

void tally_comes(struct tally *tally, size_t table,
                 const struct sql_value *checksum)
{
    if (tally->swapped)
        return;
    add(&tally->now[table], checksum);
}

static int count_table(struct sqlite3 *db, const struct whole_table *table,
                       struct tally_count *out, struct err *err)
{
    char *text = mem_printf("SELECT checksum FROM %s", table->name);
    struct sqlite3_stmt *stmt = NULL;
    struct row_cells row;
    int rc = sql_prepare(db, text, &stmt, err);

    *out = (struct tally_count){ .known = true };
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        row_cells_read(stmt, &row);
        tally_row(out, &row);
    }
    sql_free(stmt);
    free(text);
    return rc;
}

static int write_row(struct tally *tally, size_t i, struct err *err)
{
    struct sql_value values[SQL_VALUES_MAX];
    size_t n = sql_values(values, "sII", whole_tables[i].name,
                          tally->now[i].rows, (int64_t)tally->now[i].sum);
    int rc = 0;

    values[n] =
        (struct sql_value){ .type = 'I', .integer = checksum_short(values, n) };
    if (!tally->update)
        rc = sql_prepare(tally->db,
                         "UPDATE tally SET row_count=?2, checksum_sum=?3,"
                         " checksum=?4 WHERE name=?1",
                         &tally->update, err);
    return rc < 0 ? rc : sql_exec_values(tally->update, values, n + 1, err);
}

int tally_count(struct tally *tally, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < WHOLE_TABLES && rc == 0; i++)
        rc = count_table(tally->db, &whole_tables[i], &tally->now[i], err);
    return rc;
}

int tally_fill(struct sqlite3 *db, struct err *err)
{
    struct tally tally = { .db = db };
    int64_t uncounted;
    int rc = 0;

    for (size_t i = 0; i < WHOLE_TABLES && rc >= 0; i++) {
        rc = sql_number(db,
                        "SELECT count(*) FROM tally WHERE name=?1 AND"
                        " row_count IS NULL",
                        &uncounted, err, "s", whole_tables[i].name);
        if (rc == 0 && uncounted)
            rc = count_table(db, &whole_tables[i], &tally.now[i], err);
        if (rc == 0 && tally.now[i].known)
            rc = write_row(&tally, i, err);
    }
    sql_free(tally.update);
    return err_only(rc);
}

struct tally *tally_new(struct sqlite3 *db)
{
    struct tally *tally = mem_new(1, sizeof(*tally));

    tally->db = db;
    return tally;
}

int tally_start(struct tally *tally, struct err *err)
{
    int rc;

    if (tally->started)
        return 0;
    if (tally_read(tally->db, tally->written, NULL) < 0)
        memset(tally->written, 0, sizeof(tally->written));
    tally_rolled_back(tally);
    rc = add_triggers(tally, err);
    tally->started = rc == 0;
    return rc;
}

void tally_free(struct tally *tally)
{
    if (!tally)
        return;
    sql_free(tally->update);
    free(tally);
}

int tally_write(struct tally *tally, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < WHOLE_TABLES && rc >= 0; i++)
        if (tally->now[i].known &&
            (!tally->written[i].known ||
             !tally_fits(&tally->now[i], &tally->written[i])))
            rc = write_row(tally, i, err);
    return err_only(rc);
}

void tally_committed(struct tally *tally)
{
    memcpy(tally->written, tally->now, sizeof(tally->written));
}

void tally_rolled_back(struct tally *tally)
{
    memcpy(tally->now, tally->written, sizeof(tally->now));
}
