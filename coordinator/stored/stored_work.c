#include "coordinator/stored/stored_work.h"

#include "common/err.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/store_rows.h"
#include "coordinator/store/whole.h"

static int fault(const struct store *store, int rc, struct err *err)
{
    return err_within(err, rc, "%s", store_path(store));
}

/* The first row of a query of all columns of that table: 1, or 0 without one,
 * and ERR_STORE if it is not as it was written. */
static int step_whole(struct sqlite3_stmt *stmt, const char *table,
                      struct err *err)
{
    struct row_cells row;
    int rc = sql_step(stmt, err);

    if (rc != 1)
        return rc;
    row_cells_read(stmt, &row);
    return whole_row_check(table, &row, err) < 0 ? ERR_STORE : 1;
}

int stored_work_held(struct store *store, stored_work_held_fn *fn, void *arg,
                     struct err *err)
{
    static const char text[] =
        "SELECT host, epoch, start_ns, end_ns, start_utc, rate_usd_per_h,"
        " phase FROM held ORDER BY host, epoch, start_ns";
    struct row_query query;
    struct store_held row;
    int rc = row_open(store_db(store), text, &store_rows_held, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, err_only(rc), err);
}

static const struct row_column gpu_columns[] = {
    ROW_AT(struct stored_work_gpu, host, CHARS),
    ROW_AT(struct stored_work_gpu, name, CHARS),
    ROW_AT(struct stored_work_gpu, facts, CHARS),
};
static const struct row_shape gpu_shape = ROW_SHAPE(NULL, gpu_columns);

int stored_work_gpu(struct store *store, struct stored_work_gpu *out,
                    struct err *err)
{
    static const char text[] =
        "SELECT g.host, g.name, g.facts FROM gpu g"
        " LEFT JOIN host h ON h.name=g.host"
        " WHERE NOT EXISTS(SELECT 1 FROM sweep WHERE device='cpu')"
        " ORDER BY h.position IS NULL, h.position, g.position LIMIT 1";
    int rc = row_first(store_db(store), text, &gpu_shape, out, err, "");

    return fault(store, rc, err);
}

int stored_work_last_interval(struct store *store, const char *host,
                              int64_t epoch, int64_t *end_ns, struct err *err)
{
    int rc = sql_number(store_db(store),
                        "SELECT max(end_ns) FROM interval WHERE host=? AND"
                        " epoch=?",
                        end_ns, err, "sI", host, epoch);

    return fault(store, rc, err);
}

int stored_work_run_at(struct store *store, int64_t utc, int64_t *epoch,
                       struct err *err)
{
    int rc =
        sql_number(store_db(store), "SELECT max(epoch) FROM run WHERE epoch<=?",
                   epoch, err, "I", utc);

    return fault(store, rc, err);
}

int stored_work_first_run(struct store *store, int64_t *utc, struct err *err)
{
    int rc =
        sql_number(store_db(store), "SELECT min(epoch) FROM run", utc, err, "");

    return fault(store, rc, err);
}

struct pace_row {
    double build_s, measurement_s;
};

static const struct row_column pace_columns[] = {
    ROW_AT(struct pace_row, build_s, REAL),
    ROW_AT(struct pace_row, measurement_s, REAL),
};
static const struct row_shape pace_shape = ROW_SHAPE(NULL, pace_columns);

int stored_work_pace(struct store *store, double *build_s,
                     double *measurement_s, struct err *err)
{
    static const char text[] =
        "SELECT (SELECT avg(seconds) FROM (SELECT seconds FROM build"
        "  WHERE purpose='kernel' AND outcome='built' AND cached=0"
        "  ORDER BY rowid DESC LIMIT 256)) AS build_s,"
        " (SELECT sum(end_ns - start_ns) / 1e9 FROM interval"
        "  WHERE category='measuring') / (SELECT count(*) FROM lease"
        "  WHERE stage='measure' AND ending='done') AS measurement_s";
    struct pace_row row = { 0 };
    int rc = row_first(store_db(store), text, &pace_shape, &row, err, "");

    *build_s = row.build_s;
    *measurement_s = row.measurement_s;
    return fault(store, err_only(rc), err);
}

int stored_work_was_leased(struct store *store, const struct store_lease *lease,
                           struct err *err)
{
    static const char text[] =
        "SELECT * FROM lease WHERE epoch = ?1 AND id = ?2 AND host = ?3 AND "
        "config = ?4 AND shape = ?5 AND stage = ?6 AND purpose = ?7 AND "
        "round = ?8 AND gpu = ?9";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "IIsssssIs", lease->epoch, lease->id,
                       lease->host, lease->config, lease->shape, lease->stage,
                       lease->purpose, lease->round, lease->gpu);
    if (rc == 0)
        rc = step_whole(stmt, "lease", err);
    sql_free(stmt);
    return fault(store, rc, err);
}

int stored_work_was_built(struct store *store, const struct store_build *build,
                          struct err *err)
{
    static const char text[] =
        "SELECT * FROM build WHERE config = ?1 AND artifact = ?2 AND "
        "(?3 = '' OR source_key = ?3) AND purpose = 'kernel' AND "
        "outcome = 'built' LIMIT 1";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "sss", build->config, build->artifact,
                       build->source_key);
    if (rc == 0)
        rc = step_whole(stmt, "build", err);
    sql_free(stmt);
    return fault(store, rc, err);
}

int stored_work_is_correct(struct store *store, const struct store_outcome *key,
                           struct err *err)
{
    static const char text[] =
        "SELECT * FROM outcome WHERE config=? AND shape=? AND source_key=?"
        " AND measure_key=? AND outcome='correct'";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "ssss", key->config, key->shape,
                       key->source_key, key->measure_key);
    if (rc == 0)
        rc = step_whole(stmt, "outcome", err);
    sql_free(stmt);
    return fault(store, rc, err);
}

int stored_work_outcomes(struct store *store, int64_t *out, struct err *err)
{
    return fault(store,
                 sql_number(store_db(store), "SELECT count(*) FROM outcome",
                            out, err, ""),
                 err);
}
