#include "coordinator/inspect/recover.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config/config_stored.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/damaged_rows.h"
#include "coordinator/store/store.h"
#include "coordinator/store/tally.h"
#include "coordinator/store/whole.h"

/* What remains refers to rows that are there.  A sweep, a run or a host that is
 * lost is made again, without its facts, so that what rests on it is kept. Such
 * a sweep is the newest, so that no report takes an older one for it. */
static const char *const mends[] = {
    "INSERT OR IGNORE INTO sweep(id, key, name, folder, file, hosts_file, spec,"
    " device, arch, facts, configurations, passed, settings, created_utc)"
    " SELECT sweep, 'lost ' || sweep, '', '', '', '', '', coalesce((SELECT"
    " device FROM request), 'cuda'), '', '{}', 0, 0, '{}', max((SELECT"
    " coalesce(max(epoch), 0) FROM run), (SELECT coalesce(max(created_utc), 0)"
    " + 1 FROM sweep)) FROM (SELECT sweep FROM gate UNION SELECT sweep FROM"
    " shape UNION SELECT sweep FROM config UNION SELECT sweep FROM contest "
    "UNION"
    " SELECT sweep FROM step)",
    "INSERT OR IGNORE INTO run(epoch, pid, machine, version, command)"
    " SELECT epoch, 0, '', '', '' FROM lease UNION"
    " SELECT epoch, 0, '', '', '' FROM interval UNION"
    " SELECT epoch, 0, '', '', '' FROM build UNION"
    " SELECT epoch, 0, '', '', '' FROM tool",
    "INSERT OR IGNORE INTO host(name, position) SELECT DISTINCT host, 0"
    " FROM lease",
    "INSERT INTO owner(id) SELECT lower(hex(randomblob(16)))"
    " WHERE NOT EXISTS (SELECT 1 FROM owner)",
    "UPDATE interval SET lease = NULL, checksum = 0 WHERE lease IS NOT NULL "
    "AND NOT EXISTS"
    " (SELECT 1 FROM lease l WHERE l.epoch = interval.epoch AND"
    " l.id = interval.lease)",
};
/* Where those rows are; they have no checksum yet. */
static const char *const mended[] = { "sweep", "run",     "host",
                                      "owner", "outcome", "interval" };
static const char without_evidence[] =
    "DELETE FROM outcome WHERE nonce IS NOT NULL AND NOT EXISTS (SELECT 1"
    " FROM result r WHERE r.nonce = outcome.nonce AND (r.outcome = 'correct')"
    " = (outcome.outcome = 'correct')) AND NOT EXISTS (SELECT 1 FROM build b"
    " WHERE b.nonce = outcome.nonce)";
static const char *const drops[] = {
    "DELETE FROM outcome WHERE config NOT IN (SELECT key FROM config)",
    without_evidence,
    "DELETE FROM interval WHERE end_ns < start_ns",
    "DELETE FROM held WHERE end_ns < start_ns",
    "DELETE FROM step WHERE config NOT IN (SELECT key FROM config)",
    "DELETE FROM contestant WHERE pass NOT IN (SELECT pass FROM contest)",
    "DELETE FROM contestant WHERE config NOT IN (SELECT key FROM config)",
    "DELETE FROM contest_shape WHERE pass NOT IN (SELECT pass FROM contest)",
};

/* An outcome that is lost, from the newest counted result that is there, so
 * that it is not measured again. */
static const char remake[] =
    "INSERT INTO outcome(config, shape, source_key, measure_key, outcome,"
    " reason, nonce, median_s, attempts, settled_utc)"
    " SELECT r.config, r.shape, r.source_key, r.measure_key, r.outcome,"
    " r.detail, r.nonce, iif(r.outcome = 'correct', (SELECT avg(value) FROM"
    " (SELECT value, row_number() OVER (ORDER BY value) AS k, count(*) OVER ()"
    " AS n FROM json_each(r.samples)) WHERE k IN ((n + 1) / 2, (n + 2) / 2)),"
    " NULL), r.attempt, r.received_utc FROM result r WHERE r.counted = 1"
    " AND r.purpose = 'screen' AND r.config IN (SELECT key FROM config)"
    " AND NOT EXISTS (SELECT 1 FROM outcome o WHERE o.config = r.config AND"
    " o.shape = r.shape AND o.source_key = r.source_key AND"
    " o.measure_key = r.measure_key) AND NOT EXISTS (SELECT 1 FROM result n"
    " WHERE n.counted = 1 AND n.purpose = 'screen' AND n.config = r.config AND"
    " n.shape = r.shape AND n.source_key = r.source_key AND"
    " n.measure_key = r.measure_key AND n.round > r.round)";

struct copying {
    struct store *from, *to;
    const struct whole_table *table;
    struct recover_table *count;
    struct tally_count is;       /* of what was read */
    struct sqlite3_stmt *insert; /* NULL: no row has been read yet */
};

/* The first column is the rowid, or nothing of interest. */
static bool holds(const struct copying *c, const struct row_cells *row)
{
    char key[HASH_HEX];

    if (!whole_row(row, 1))
        return false;
    return strcmp(c->table->name, "config") != 0 ||
           (config_stored_key(
                row_cells_text(row, row_cells_find(row, "params")), key) &&
            strcmp(row_cells_text(row, row_cells_find(row, "key")), key) == 0);
}

static int prepare_insert(struct copying *c, size_t columns, struct err *err)
{
    char marks[2 * SQL_VALUES_MAX];
    char *text;
    int rc;

    for (size_t i = 0; i < columns; i++) {
        marks[2 * i] = '?';
        marks[2 * i + 1] = i + 1 < columns ? ',' : '\0';
    }
    text = mem_printf("INSERT OR IGNORE INTO %s VALUES(%s)", c->table->name,
                      marks);
    rc = sql_prepare(store_db(c->to), text, &c->insert, err);
    free(text);
    return rc;
}

/* Only an error of the copy ends it. */
static int take_row(void *arg, const struct row_cells *row, struct err *err)
{
    struct copying *c = arg;
    struct err refused;
    int rc = c->insert ? 0 : prepare_insert(c, row->n - 1, err);

    if (rc < 0)
        return rc;
    tally_row(&c->is, row);
    if (!holds(c, row)) {
        c->count->dropped++;
        return 0;
    }
    rc = sql_exec_values(c->insert, &row->values[1], row->n - 1, &refused);
    c->count->kept += rc > 0;
    c->count->dropped += rc < 0; /* a value of another type */
    return 0;
}

/* Ranges that were read around damage may overlap, so there only rows that were
 * copied are counted. */
static void compare_count(struct copying *c, const struct tally_count *written)
{
    struct recover_table *count = c->count;
    int64_t rows = count->damaged ? count->kept + count->dropped : c->is.rows;

    if (!written->known)
        return;
    count->missing = written->rows > rows ? written->rows - rows : 0;
    if (count->damaged)
        return;
    count->surplus = rows > written->rows ? rows - written->rows : 0;
    count->others = rows == written->rows && count->dropped == 0 &&
                    c->is.sum != written->sum;
}

/* Rows of it that an older format had. */
static bool was_lost(const struct copying *c)
{
    char *name = mem_printf(" %s ", c->table->name);
    bool was = strstr(store_lost(c->from), name) != NULL;

    free(name);
    return was;
}

static int copy_table(struct copying *c, const struct tally_count *written,
                      struct err *err)
{
    const struct damaged_rows rows = { c->table->name, "*", c->table->key };
    int rc = damaged_rows_read(store_db(c->from), &rows, take_row, c, err);

    c->count->damaged = rc == 0 || was_lost(c);
    compare_count(c, written);
    sql_free(c->insert);
    return err_only(rc);
}

static int run_all(struct store *to, const char *const *texts, size_t n,
                   int64_t *changes, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc >= 0; i++) {
        struct sqlite3_stmt *stmt = NULL;

        rc = sql_prepare(store_db(to), texts[i], &stmt, err);
        if (rc == 0)
            rc = sql_exec_values(stmt, NULL, 0, err);
        *changes += rc > 0 ? rc : 0;
        sql_free(stmt);
    }
    return err_only(rc);
}

bool recover_table_is_hurt(const struct recover_table *table)
{
    return table->dropped > 0 || table->damaged || table->missing > 0 ||
           table->surplus > 0 || table->others;
}

bool recover_is_hurt(const struct recover *recover)
{
    bool hurt = recover->orphans > 0 || recover->uncounted;

    for (size_t i = 0; i < RECOVER_TABLES; i++)
        hurt = hurt || recover_table_is_hurt(&recover->tables[i]);
    return hurt;
}

static int copy_all(struct store *from, struct store *to, struct recover *out,
                    struct err *err)
{
    struct tally_count written[RECOVER_TABLES];
    int rc = 0;

    if (tally_read(store_db(from), written, NULL) < 0) {
        memset(written, 0, sizeof(written));
        out->uncounted = true;
    }
    for (size_t i = 0; i < RECOVER_TABLES && rc == 0; i++) {
        struct copying c = { .from = from,
                             .to = to,
                             .table = &whole_tables[i],
                             .count = &out->tables[i] };

        out->tables[i].name = whole_tables[i].name;
        rc = copy_table(&c, &written[i], err);
    }
    return rc;
}

static int seal_mended(struct store *to, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof(mended) / sizeof(mended[0]) && rc == 0; i++) {
        char *text =
            whole_seal_text(store_db(to), mended[i], "checksum = 0", err);

        rc = text ? sql_run(store_db(to), text, err) : ERR_STORE;
        free(text);
    }
    return rc;
}

/* In this order: what is dropped would be in the way of what is made again. */
static int tidy(struct store *to, struct recover *out, struct err *err)
{
    bool outcomes_lost = false;
    int64_t made = 0;
    int rc = run_all(to, mends, sizeof(mends) / sizeof(mends[0]), &made, err);

    for (size_t i = 0; i < RECOVER_TABLES; i++)
        if (strcmp(out->tables[i].name, "outcome") == 0)
            outcomes_lost = recover_table_is_hurt(&out->tables[i]);
    if (rc == 0)
        rc = run_all(to, drops, sizeof(drops) / sizeof(drops[0]), &out->orphans,
                     err);
    if (rc == 0 && outcomes_lost)
        rc = sql_run(store_db(to), remake, err);
    return rc == 0 ? seal_mended(to, err) : rc;
}

int recover_run(struct store *from, struct store *to, struct recover *out,
                struct err *err)
{
    int rc = sql_run(store_db(to), "PRAGMA foreign_keys=OFF", err);
    struct err unread;

    (void)whole_begin(store_db(from), &unread); /* else the copy says so */
    *out = (struct recover){ .orphans = 0 };
    if (rc == 0)
        rc = store_begin(to, err);
    if (rc == 0)
        rc = sql_run(store_db(to), "DELETE FROM owner", err);
    if (rc == 0)
        rc = copy_all(from, to, out, err);
    whole_end(store_db(from));
    if (rc == 0)
        rc = tidy(to, out, err);
    if (rc == 0)
        rc = store_count(to, err);
    return rc < 0 ? rc : store_commit(to, err);
}
