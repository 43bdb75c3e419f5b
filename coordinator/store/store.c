#include "coordinator/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/embed.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/dblock.h"
#include "coordinator/store/store_internal.h"
#include "coordinator/store/tally.h"
#include "coordinator/store/whole.h"

/* schema/schema.sql, which makes a new database, and the steps that bring an
 * older one to the same format, in order: one step a format */
extern const struct embed store_schema[];

#define FORMATS 12
#define READABLE                                              \
    12 /* from here on, the newest format's queries work, and \
        * tables have its checksums */

#define ARRAY_BYTES_MAX (1 << 20) /* one JSON array of a result */
#define LOST_BYTES_MAX (1 << 14)  /* names of all tables */

int store_open(const char *path, enum store_mode mode, struct store **out,
               struct err *err)
{
    const char *texts[FORMATS];
    struct dbfile_steps steps = { (const char *)store_schema[0].bytes, texts,
                                  FORMATS, READABLE, tally_fill };
    struct store *store = mem_new(1, sizeof(*store));
    int rc = 0;

    for (size_t i = 0; i < FORMATS; i++)
        texts[i] = (const char *)store_schema[i + 1].bytes;
    store->path = mem_strdup(path);
    store->lock = -1;
    buf_init(&store->lost, LOST_BYTES_MAX);
    for (size_t i = 0; i < STORE_ARRAYS; i++)
        buf_init(&store->json[i], ARRAY_BYTES_MAX);
    if (mode == STORE_READ || mode == STORE_WHOLE || mode == STORE_DAMAGED) {
        rc = dbfile_read(path, steps,
                         mode == STORE_DAMAGED ? &store->lost : NULL,
                         &store->db, err);
        if (rc == 0 && mode == STORE_WHOLE)
            rc = err_within(err, whole_check(store->db, err), "%s", path);
    } else {
        rc = dbfile_check(path, mode == STORE_CREATE, err);
        if (rc == 0)
            rc = store->lock = dblock_take(path, err);
        if (rc >= 0)
            rc = dbfile_write(path, steps, mode == STORE_CREATE, &store->db,
                              err);
        if (rc == 0)
            store->tally = tally_new(store->db);
    }
    if (rc < 0) {
        store_close(store);
        *out = NULL;
        return rc;
    }
    *out = store;
    return 0;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < STORE_STATEMENTS; i++)
        sql_free(store->stmts[i]);
    sql_free(store->begin);
    sql_free(store->commit);
    for (size_t i = 0; i < STORE_ARRAYS; i++)
        buf_fini(&store->json[i]);
    buf_fini(&store->lost);
    tally_free(store->tally);
    if (store->lock >= 0 && store->db)
        dbfile_settle(store->db);
    dbfile_close(store->db);
    dblock_release(store->lock);
    free(store->path);
    free(store);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

const char *store_lost(const struct store *store)
{
    return buf_text(&store->lost);
}

struct sqlite3 *store_db(struct store *store)
{
    return store->db;
}

/* SQLite may have rolled back already, so a later COMMIT must not pretend. */
int store_fail(struct store *store, const char *doing, struct err *err)
{
    err_within(err, ERR_STORE, "%s: %s", store->path, doing);
    if ((sqlite3_errcode(store->db) & 0xff) == SQLITE_FULL)
        err_set(err, ERR_STORE,
                "%s: the disk is full; no stored result is lost; free some "
                "disk space and run the same command again",
                store->path);
    store->failed = true;
    store->why = *err;
    return ERR_STORE;
}

/* Run a statement that is needed again. */
static int run(struct store *store, struct sqlite3_stmt **stmt,
               const char *text, struct err *err)
{
    int rc = *stmt ? 0 : sql_prepare(store->db, text, stmt, err);

    return rc < 0 ? rc : err_only(sql_exec_values(*stmt, NULL, 0, err));
}

int store_begin(struct store *store, struct err *err)
{
    struct err here;

    if (store->failed)
        return err_set(err, ERR_STORE, "%s", store->why.text);
    if (!sqlite3_get_autocommit(store->db))
        return 0;
    if (tally_start(store->tally, &here) == 0 &&
        run(store, &store->begin, "BEGIN IMMEDIATE", &here) == 0)
        return 0;
    store_fail(store, "begin", &here);
    return err_set(err, ERR_STORE, "%s", here.text);
}

/* The rows would go to a file that nobody finds again, or that another process
 * writes to as well. */
static int check_place(struct store *store, struct err *err)
{
    int has_moved = 0;

    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (!has_moved)
        return store->lock < 0 ? 0
                               : dblock_renew(store->path, &store->lock, err);
    return err_set(err, ERR_STORE,
                   "%s was deleted, moved or replaced while it was written "
                   "to; if it was moved, move it back, and 'fa-coord resume' "
                   "continues with it",
                   store->path);
}

int store_commit(struct store *store, struct err *err)
{
    struct err here;

    if (store->failed)
        return err_set(err, ERR_STORE, "%s", store->why.text);
    if (sqlite3_get_autocommit(store->db))
        return 0;
    if (check_place(store, err) < 0) {
        store->failed = true;
        store->why = *err;
        return ERR_STORE;
    }
    if (tally_write(store->tally, &here) < 0 ||
        run(store, &store->commit, "COMMIT", &here) < 0) {
        store_fail(store, "commit", &here);
        return err_set(err, ERR_STORE, "%s", here.text);
    }
    tally_committed(store->tally);
    store->pending = 0;
    return 0;
}

void store_rollback(struct store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        (void)sql_run(store->db, "ROLLBACK", NULL); /* else it happened */
    tally_rolled_back(store->tally);
    store->pending = 0;
    store->failed = false;
}

int store_count(struct store *store, struct err *err)
{
    return err_within(err, tally_count(store->tally, err), "%s", store->path);
}

int store_next_epoch(struct store *store, int64_t now_utc, int64_t *out,
                     struct err *err)
{
    int64_t last;
    int rc = sql_number(store->db,
                        "SELECT max(coalesce((SELECT max(epoch) FROM run), 0),"
                        " coalesce((SELECT max(created_utc) FROM sweep), 0))",
                        &last, err, "");

    if (rc < 0)
        return err_within(err, ERR_STORE, "%s", store->path);
    *out = now_utc > last ? now_utc : last + 1;
    return 0;
}

struct owner_row {
    char id[HASH_HEX];
};

static const struct row_column owner_columns[] = {
    ROW_AT(struct owner_row, id, CHARS),
};
static const struct row_shape owner_shape = ROW_SHAPE(NULL, owner_columns);

int store_owner(struct store *store, char out[HASH_HEX], struct err *err)
{
    struct owner_row row = { "" };
    int rc = row_first(store->db, "SELECT id FROM owner", &owner_shape, &row,
                       err, "");

    if (rc < 0)
        return err_within(err, ERR_STORE, "%s", store->path);
    memcpy(out, row.id, sizeof(row.id));
    return rc == 1 && hash_is_hex(out)
               ? 0
               : err_set(err, ERR_STORE, "%s: its name is missing from 'owner'",
                         store->path);
}

int store_pending(const struct store *store)
{
    return store->pending;
}

int64_t store_repeats(const struct store *store)
{
    return store->repeats;
}
