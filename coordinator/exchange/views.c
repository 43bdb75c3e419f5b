#include "coordinator/exchange/views.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sqlite3.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/exchange/view_gpu_time.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_ready.h"
#include "coordinator/stored/stored_refuted.h"
#include "coordinator/text/decimal.h"

#define QUERY_BYTES_MAX (1 << 16)

#define NOW "(SELECT id FROM sweep ORDER BY created_utc DESC, id DESC LIMIT 1)"

/* If a shape was measured in several ways, the newest is current. */
#define WAYS                                                             \
    " JOIN (SELECT o.shape AS shape, o.measure_key AS measure_key,"      \
    " max(o.settled_utc) FROM outcome o JOIN config c ON c.key=o.config" \
    " AND c.source_key=o.source_key WHERE c.sweep=" NOW " GROUP BY o.shape) w"

#define RESULTS                                           \
    " FROM config c JOIN result r ON r.config=c.key"      \
    " AND r.source_key=c.source_key AND r.counted=1" WAYS \
    " ON w.shape=r.shape AND w.measure_key=r.measure_key" \
    " LEFT JOIN gpu g ON g.uuid=r.gpu" STORED_READY

#define RUN                                                    \
    "c.key AS key, c.baseline AS baseline, r.shape AS shape,"  \
    " r.purpose AS purpose, r.round AS round, r.host AS host," \
    " r.gpu AS gpu, g.name AS gpu_name"

/* 'from' is what follows the columns of the tunables. */
static const struct view {
    const char *name, *columns, *from;
    bool tunables;
} views[] = {
    { "fa_config", "c.key AS key, c.baseline AS baseline",
      " FROM config c WHERE c.sweep=" NOW, true },
    { "fa_outcome",
      "c.key AS key, c.baseline AS baseline, o.shape AS shape,"
      " coalesce(x.outcome, o.outcome) AS outcome,"
      " coalesce(x.reason, o.reason) AS reason,"
      " iif(x.config IS NULL, o.median_s, NULL) AS median_s,"
      " o.attempts AS attempts, o.settled_utc AS settled_utc",
      " FROM config c JOIN outcome o ON o.config=c.key"
      " AND o.source_key=c.source_key" WAYS
      " ON w.shape=o.shape AND w.measure_key=o.measure_key"
      " LEFT JOIN (" STORED_REFUTED
      ") x ON x.config=c.key AND o.outcome='correct'"
      " WHERE c.sweep=" NOW,
      true },
    { "fa_result",
      RUN ", r.outcome AS outcome, r.detail AS reason,"
          " r.relative_l2 AS relative_l2, r.max_error AS max_error,"
          " json_array_length(r.samples) AS samples, r.held_s AS held_s,"
          " r.registers AS registers, r.spill_bytes AS spill_bytes,"
          " r.static_smem AS static_smem, r.received_utc AS received_utc,"
          " y.driver AS driver, y.toolkit AS toolkit, y.boot_id AS boot_id,"
          " y.worker_version AS worker_version",
      RESULTS " WHERE c.sweep=" NOW, true },
    { "fa_sample", RUN ", j.key AS sample, j.value AS seconds",
      RESULTS ", json_each(r.samples) j WHERE r.outcome='correct'"
              " AND c.sweep=" NOW,
      true },
    { "fa_build",
      "c.key AS key, c.baseline AS baseline, b.host AS host,"
      " b.outcome AS outcome, b.detail AS reason, b.seconds AS seconds,"
      " b.cached AS cached, b.registers AS registers,"
      " b.spill_bytes AS spill_bytes, b.static_smem AS static_smem,"
      " b.received_utc AS received_utc",
      " FROM config c JOIN build b ON b.config=c.key"
      " AND b.source_key=c.source_key WHERE c.sweep=" NOW,
      true },
    { "fa_host_time",
      "i.host AS host, i.category AS category, sum(i.ns)/1e9 AS seconds,"
      " iif(count(i.rate)=count(*), sum(i.ns/3.6e12*i.rate), NULL) AS usd",
      " FROM (SELECT t.host AS host, t.category AS category,"
      "  t.end_ns-t.start_ns AS ns, (SELECT x.rate_usd_per_h FROM held x"
      "  WHERE x.host=t.host AND x.epoch=t.epoch AND x.start_ns<=t.start_ns"
      "  ORDER BY x.start_ns DESC LIMIT 1) AS rate FROM interval t"
      " UNION ALL SELECT host, phase, end_ns-start_ns, rate_usd_per_h"
      "  FROM held WHERE phase='proof') i GROUP BY i.host, i.category",
      false },
    { "fa_held",
      "h.host AS host, h.epoch AS run, h.phase AS phase,"
      " h.start_utc AS start_utc, (h.end_ns-h.start_ns)/1e9 AS seconds,"
      " h.rate_usd_per_h AS usd_per_h,"
      " (h.end_ns-h.start_ns)/3.6e12*h.rate_usd_per_h AS usd",
      " FROM held h", false },
    { "fa_gpu_time", view_gpu_time_columns, view_gpu_time_from, false },
};

#define VIEWS (sizeof(views) / sizeof(views[0]))
#define SAMPLES 3 /* the index of fa_sample */

static const char *const reserved[] = {
    "key",      "baseline", "shape",          "outcome",      "reason",
    "median_s", "attempts", "settled_utc",    "purpose",      "round",
    "host",     "gpu",      "gpu_name",       "relative_l2",  "max_error",
    "samples",  "held_s",   "registers",      "spill_bytes",  "static_smem",
    "sample",   "seconds",  "cached",         "received_utc", "driver",
    "toolkit",  "boot_id",  "worker_version",
};

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strcasecmp(name, reserved[i]) == 0)
            return true;
    return false;
}

/* A column for each tunable.  A database that was changed may have any name
 * here, so it is quoted as JSON path, text and identifier. */
static int put_tunables(struct store *store, struct buf *out, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(
        store_db(store),
        "SELECT key FROM json_each((SELECT params FROM config WHERE sweep=" NOW
        " ORDER BY baseline DESC, point LIMIT 1))",
        &stmt, err);
    int step = rc == 0 ? SQLITE_ROW : SQLITE_DONE;
    size_t n = 0;

    while (step == SQLITE_ROW && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        char *column =
            sqlite3_mprintf(", json_extract(c.params,'$.\"%q\"') AS \"%w%s\"",
                            name, name, is_reserved(name) ? "_" : "");

        if (!column)
            abort();
        buf_str(out, column);
        sqlite3_free(column);
        n++;
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = sql_refused(store_db(store), err);
    sql_free(stmt);
    if (rc == 0 && n == 0)
        rc = err_set(err, ERR_INPUT, "%s has no configuration",
                     store_path(store));
    return rc;
}

static void put_query(const struct view *view, const char *tunables,
                      struct buf *out)
{
    buf_str(out, "SELECT ");
    buf_str(out, view->columns);
    buf_str(out, view->tunables ? tunables : "");
    buf_str(out, view->from);
}

int views_script(struct store *store, FILE *to, struct err *err)
{
    struct buf tunables, query;
    int rc;

    buf_init(&tunables, QUERY_BYTES_MAX);
    rc = put_tunables(store, &tunables, err);
    for (size_t i = 0; rc == 0 && i < VIEWS; i++) {
        buf_init(&query, 2 * QUERY_BYTES_MAX);
        put_query(&views[i], buf_text(&tunables), &query);
        fprintf(to,
                "DROP VIEW IF EXISTS temp.%s;\nCREATE TEMP VIEW %s AS %s;\n",
                views[i].name, views[i].name, buf_text(&query));
        buf_fini(&query);
    }
    buf_fini(&tunables);
    return rc;
}

/* ---- CSV */

/* SQLite would write reals with 15 digits, which is not all of them. */
static void put_cell(FILE *to, sqlite3_stmt *stmt, int column)
{
    char real[DECIMAL_BYTES];
    const char *text;
    bool quote;

    if (sqlite3_column_type(stmt, column) == SQLITE_FLOAT) {
        decimal_text(sqlite3_column_double(stmt, column), real);
        fputs(real, to);
        return;
    }
    text = (const char *)sqlite3_column_text(stmt, column);
    quote = text && strpbrk(text, ",\"\r\n");
    fputs(quote ? "\"" : "", to);
    for (; text && *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputs(quote ? "\"" : "", to);
}

static void put_row(FILE *to, sqlite3_stmt *stmt, bool heading)
{
    int n = sqlite3_column_count(stmt);

    for (int i = 0; i < n; i++) {
        fputs(i ? "," : "", to);
        if (heading)
            fputs(sqlite3_column_name(stmt, i), to);
        else
            put_cell(to, stmt, i);
    }
    fputc('\n', to);
}

int views_csv(struct store *store, FILE *to, struct err *err)
{
    struct buf tunables, query;
    sqlite3_stmt *stmt = NULL;
    int step = SQLITE_DONE, rc;

    buf_init(&tunables, QUERY_BYTES_MAX);
    buf_init(&query, 2 * QUERY_BYTES_MAX);
    rc = put_tunables(store, &tunables, err);
    if (rc == 0) {
        put_query(&views[SAMPLES], buf_text(&tunables), &query);
        buf_str(&query, " ORDER BY key, r.shape, r.purpose, round, r.nonce,"
                        " sample");
        rc = sql_prepare(store_db(store), buf_text(&query), &stmt, err);
    }
    if (rc == 0) {
        put_row(to, stmt, true);
        while ((step = sqlite3_step(stmt)) == SQLITE_ROW)
            put_row(to, stmt, false);
        if (step != SQLITE_DONE)
            rc = sql_refused(store_db(store), err);
    }
    sql_free(stmt);
    buf_fini(&tunables);
    buf_fini(&query);
    return rc;
}
