#include "coordinator/stored/stored_work.h"

#include "common/err.h"
#include "coordinator/store/row.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_rows.h"

static int fault(const struct store *store, int rc, struct err *err)
{
    return err_within(err, rc, "%s", store_path(store));
}

struct cost_row {
    double usd;
};

static const struct row_column cost_columns[] = {
    ROW_AT(struct cost_row, usd, REAL),
};
static const struct row_shape cost_shape = ROW_SHAPE(NULL, cost_columns);

int stored_work_usd(struct store *store, double *out, struct err *err)
{
    static const char text[] =
        "SELECT coalesce(sum((i.end_ns - i.start_ns) / 3.6e12 * "
        "h.rate_usd_per_h), 0) AS usd FROM interval i JOIN host h"
        " ON h.name = i.host";
    struct cost_row row;
    int rc = row_first(store_db(store), text, &cost_shape, &row, err, "");

    if (rc == 1)
        *out = row.usd;
    return fault(store, err_only(rc), err);
}

int stored_work_was_leased(struct store *store, const struct store_lease *lease,
                           struct err *err)
{
    static const char text[] =
        "SELECT 1 FROM lease WHERE epoch = ?1 AND id = ?2 AND host = ?3 AND "
        "config = ?4 AND shape = ?5 AND stage = ?6 AND purpose = ?7 AND "
        "round = ?8 AND gpu = ?9";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "IIsssssIs", lease->epoch, lease->id,
                       lease->host, lease->config, lease->shape, lease->stage,
                       lease->purpose, lease->round, lease->gpu);
    if (rc == 0)
        rc = sql_step(stmt, err);
    sql_free(stmt);
    return fault(store, rc, err);
}

int stored_work_was_built(struct store *store, const struct store_build *build,
                          struct err *err)
{
    static const char text[] =
        "SELECT 1 FROM build WHERE config = ?1 AND artifact = ?2 AND "
        "(?3 = '' OR source_key = ?3) AND purpose = 'kernel' AND "
        "outcome = 'built' LIMIT 1";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "sss", build->config, build->artifact,
                       build->source_key);
    if (rc == 0)
        rc = sql_step(stmt, err);
    sql_free(stmt);
    return fault(store, rc, err);
}

int stored_work_is_correct(struct store *store, const struct store_outcome *key,
                           struct err *err)
{
    static const char text[] =
        "SELECT 1 FROM outcome WHERE config=? AND shape=? AND source_key=?"
        " AND measure_key=? AND outcome='correct'";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "ssss", key->config, key->shape,
                       key->source_key, key->measure_key);
    if (rc == 0)
        rc = sql_step(stmt, err);
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
