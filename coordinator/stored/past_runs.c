#include "coordinator/stored/past_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/row_cells.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/store/whole.h"
#include "coordinator/stored/stored_params.h"

#define OUTCOME_AT(member, kind) ROW_AT(struct past_runs_outcome, member, kind)
static const struct row_column outcome_columns[] = {
    OUTCOME_AT(outcome, CHARS),  OUTCOME_AT(reason, CHARS),
    OUTCOME_AT(median_s, REAL),  OUTCOME_AT(relative_l2, REAL),
    OUTCOME_AT(max_error, REAL), OUTCOME_AT(agreed, BOOL),
    OUTCOME_AT(attempts, INT),   OUTCOME_AT(checked, COUNT),
    OUTCOME_AT(varied, COUNT),
};
static const struct row_shape outcome_shape = ROW_SHAPE(NULL, outcome_columns);

#define BUILD_AT(member, kind) ROW_AT(struct past_runs_build, member, kind)
static const struct row_column build_columns[] = {
    BUILD_AT(artifact, CHARS),    BUILD_AT(build_key, CHARS),
    BUILD_AT(host, CHARS),        BUILD_AT(registers, COUNT),
    BUILD_AT(spill_bytes, COUNT), BUILD_AT(static_smem, COUNT),
    BUILD_AT(row, INT),
};
static const struct row_shape build_shape = ROW_SHAPE(NULL, build_columns);

#define LOSS_AT(member, kind) ROW_AT(struct past_runs_loss, member, kind)
static const struct row_column loss_columns[] = {
    LOSS_AT(config, TEXT),
    LOSS_AT(shape, TEXT),
    LOSS_AT(stage, TEXT),
    LOSS_AT(losses, INT),
};
static const struct row_shape loss_shape = ROW_SHAPE(NULL, loss_columns);

#define SETTLED_AT(member, kind) ROW_AT(struct past_runs_settled, member, kind)
static const struct row_column settled_columns[] = {
    SETTLED_AT(config, TEXT),     SETTLED_AT(shape, TEXT),
    SETTLED_AT(source_key, TEXT), SETTLED_AT(measure_key, TEXT),
    SETTLED_AT(outcome, TEXT),    SETTLED_AT(median_s, REAL),
    SETTLED_AT(measured, BOOL),
};
static const struct row_shape settled_shape = ROW_SHAPE(NULL, settled_columns);

#define CONFIG_AT(member, kind) ROW_AT(struct past_runs_config, member, kind)
static const struct row_column config_columns[] = {
    CONFIG_AT(key, TEXT),      CONFIG_AT(source_key, TEXT),
    CONFIG_AT(params, TEXT),   CONFIG_AT(warnings, TEXT),
    CONFIG_AT(sweep, INT),     CONFIG_AT(point, INT),
    CONFIG_AT(baseline, BOOL),
};
static const struct row_shape config_shape = ROW_SHAPE(NULL, config_columns);

enum {
    SWEEP,
    OUTCOME,
    BUILD,
    LOSSES,
    OPEN_LEASES,
    LEFT_LEASES,
    QUERIES,
};

static const struct {
    const struct row_shape *shape;
    const char *text;
} queries[QUERIES] = {
    [SWEEP] = { &store_rows_sweep,
                "SELECT id, key, name, folder, file, hosts_file, spec, device,"
                " arch, facts, settings, configurations, passed, created_utc"
                " FROM sweep ORDER BY created_utc DESC, id DESC LIMIT 1" },
    [OUTCOME] = { &outcome_shape,
                  "SELECT o.outcome, o.reason, o.median_s, o.attempts,"
                  " r.relative_l2, r.max_error, r.checked, r.varied,"
                  " r.sampling IN ('settled','fixed') AS agreed"
                  " FROM outcome o LEFT JOIN result r ON r.nonce=o.nonce"
                  " WHERE o.config=? AND o.shape=? AND o.source_key=?"
                  " AND o.measure_key=?" },
    [BUILD] = { &build_shape,
                "SELECT artifact, build_key, host, registers, spill_bytes,"
                " static_smem, rowid AS row FROM build"
                " WHERE config=? AND source_key=?"
                " AND outcome='built' ORDER BY received_utc DESC LIMIT 1" },
    /* Runs up to the one that last changed the sweep had other sources. */
    [LOSSES] = { &loss_shape,
                 "SELECT config, shape, stage, count(*) AS losses FROM lease"
                 " WHERE ending='lost' AND round=0"
                 " AND purpose IN ('screen', 'kernel', 'reference')"
                 " AND epoch >= coalesce((SELECT max(epoch)"
                 "  FROM run WHERE epoch <= (SELECT max(created_utc)"
                 "  FROM sweep)), 0) GROUP BY config, shape, stage" },
    [OPEN_LEASES] = { &store_rows_lease,
                      "SELECT epoch, id, config, shape, purpose, stage, round,"
                      " attempt, host, gpu, leased_utc FROM lease"
                      " WHERE ended_utc IS NULL AND epoch < ?" },
    [LEFT_LEASES] = { &store_rows_lease,
                      "SELECT DISTINCT config, shape, purpose, stage, round,"
                      " host FROM lease WHERE epoch < ?"
                      " AND (ending='lost' OR ending='cancelled')" },
};

struct past_runs {
    struct store *store;
    struct row_query request;       /* not prepared until it is asked for */
    struct sqlite3_stmt *build_row; /* likewise: all columns of a build */
    struct row_query queries[QUERIES];
};

int past_runs_open(struct store *store, struct past_runs **out, struct err *err)
{
    struct past_runs *past = mem_new(1, sizeof(*past));

    past->store = store;
    for (size_t i = 0; i < QUERIES; i++) {
        int rc = row_prepare(store_db(store), queries[i].text, queries[i].shape,
                             &past->queries[i], err);

        if (rc < 0) {
            past_runs_close(past);
            *out = NULL;
            return err_within(err, ERR_STORE, "%s", store_path(store));
        }
    }
    *out = past;
    return 0;
}

void past_runs_close(struct past_runs *past)
{
    if (!past)
        return;
    for (size_t i = 0; i < QUERIES; i++)
        row_close(&past->queries[i]);
    row_close(&past->request);
    sql_free(past->build_row);
    free(past);
}

static int within(struct past_runs *past, int rc, struct err *err)
{
    return err_within(err, rc, "%s", store_path(past->store));
}

int past_runs_sweep(struct past_runs *past, struct store_sweep *out,
                    struct err *err)
{
    int rc = row_start(&past->queries[SWEEP], err, "");

    if (rc == 0)
        rc = row_next(&past->queries[SWEEP], out, err);
    return within(past, rc, err);
}

/* Databases of older formats are read as they are, without this table. */
static int has_requests(struct past_runs *past, struct err *err)
{
    int64_t n = 0;
    int rc = sql_number(store_db(past->store),
                        "SELECT count(*) FROM sqlite_schema"
                        " WHERE name = 'request'",
                        &n, err, "");

    return rc == 0 ? n > 0 : rc;
}

int past_runs_request(struct past_runs *past, struct store_request *out,
                      struct err *err)
{
    int rc = has_requests(past, err);

    if (rc == 1 && !past->request.stmt)
        rc = row_prepare(store_db(past->store),
                         "SELECT folder, file, hosts_file, device, arch,"
                         " settings FROM request",
                         &store_rows_request, &past->request, err) < 0
                 ? ERR_STORE
                 : 1;
    if (rc == 1)
        rc = row_start(&past->request, err, "") < 0 ? ERR_STORE : 1;
    if (rc == 1)
        rc = row_next(&past->request, out, err);
    return within(past, rc, err);
}

struct arch_row {
    char arch[PAST_RUNS_ARCH_BYTES];
};

static const struct row_column arch_columns[] = {
    ROW_AT(struct arch_row, arch, CHARS),
};
static const struct row_shape arch_shape = ROW_SHAPE(NULL, arch_columns);

int past_runs_arch(struct past_runs *past, const struct store_sweep *sweep,
                   char out[PAST_RUNS_ARCH_BYTES], struct err *err)
{
    struct arch_row row;
    int rc = row_first(store_db(past->store),
                       "SELECT 'sm_' || json_extract(?1, '$.arch') AS arch",
                       &arch_shape, &row, err, "s", sweep->facts);

    if (rc == 1)
        memcpy(out, row.arch, sizeof(row.arch));
    return within(past, err_only(rc), err);
}

bool past_runs_asked(const struct store_sweep *sweep)
{
    const struct stored_param *asked;
    struct stored_params params;
    bool yes;

    if (stored_params_parse(sweep->settings, &params, NULL) < 0)
        return false;
    asked = stored_params_find(&params, "asked");
    yes = asked && asked->number != 0;
    stored_params_fini(&params);
    return yes;
}

/* The first row of a query that was started with 'rc'. */
static int first(struct past_runs *past, int query, int rc, void *out,
                 struct err *err)
{
    if (rc == 0)
        rc = row_next(&past->queries[query], out, err);
    if (rc == 1)
        sql_reset(past->queries[query].stmt);
    return within(past, rc, err);
}

int past_runs_outcome(struct past_runs *past, const struct store_outcome *key,
                      struct past_runs_outcome *out, struct err *err)
{
    int rc = row_start(&past->queries[OUTCOME], err, "ssss", key->config,
                       key->shape, key->source_key, key->measure_key);

    return first(past, OUTCOME, rc, out, err);
}

/* A sweep may run for days after its database was read to the end. */
static int check_build(struct past_runs *past, int64_t row, struct err *err)
{
    struct row_cells cells;
    int rc = past->build_row ? 0
                             : sql_prepare(store_db(past->store),
                                           "SELECT * FROM build WHERE rowid=?",
                                           &past->build_row, err);

    if (rc == 0)
        rc = sql_start(past->build_row, err, "I", row);
    if (rc == 0)
        rc = sql_step(past->build_row, err);
    if (rc == 1) {
        row_cells_read(past->build_row, &cells);
        rc = whole_row_check("build", &cells, err) < 0 ? ERR_STORE : 1;
    }
    if (past->build_row)
        sql_reset(past->build_row);
    return rc;
}

int past_runs_build(struct past_runs *past, const char *config,
                    const char *source_key, struct past_runs_build *out,
                    struct err *err)
{
    int rc = row_start(&past->queries[BUILD], err, "ss", config, source_key);

    rc = first(past, BUILD, rc, out, err);
    return rc == 1 ? within(past, check_build(past, out->row, err), err) : rc;
}

int past_runs_built_on(struct past_runs *past, const char *host,
                       struct err *err)
{
    int64_t has = 0;
    int rc = sql_number(store_db(past->store),
                        "SELECT EXISTS(SELECT 1 FROM build WHERE host=?"
                        " AND outcome='built')",
                        &has, err, "s", host);

    return within(past, rc == 0 ? has > 0 : rc, err);
}

int past_runs_losses(struct past_runs *past, past_runs_loss_fn *fn, void *arg,
                     struct err *err)
{
    struct row_query *query = &past->queries[LOSSES];
    struct past_runs_loss loss;
    int rc = row_start(query, err, "");

    while (rc >= 0 && (rc = row_next(query, &loss, err)) == 1)
        fn(arg, &loss);
    return within(past, rc, err);
}

static struct store_lease lease_copy(const struct store_lease *row)
{
    struct store_lease copy = *row;

    copy.config = mem_strdup(row->config);
    copy.shape = mem_strdup(row->shape);
    copy.purpose = mem_strdup(row->purpose);
    copy.stage = mem_strdup(row->stage);
    copy.host = mem_strdup(row->host);
    copy.gpu = mem_strdup(row->gpu);
    return copy;
}

static void lease_free(struct store_lease *lease)
{
    free((char *)lease->config);
    free((char *)lease->shape);
    free((char *)lease->purpose);
    free((char *)lease->stage);
    free((char *)lease->host);
    free((char *)lease->gpu);
}

static int tell_leases(struct past_runs *past, struct row_query *query,
                       int64_t epoch, past_runs_lease_fn *fn, void *arg,
                       struct err *err)
{
    struct store_lease *leases = NULL, row;
    size_t n = 0;
    int rc = row_start(query, err, "I", epoch);

    while (rc >= 0 && (rc = row_next(query, &row, err)) == 1) {
        leases = mem_grow(leases, n + 1, sizeof(*leases));
        leases[n++] = lease_copy(&row);
    }
    for (size_t i = 0; i < n; i++) {
        if (rc == 0)
            fn(arg, &leases[i]);
        lease_free(&leases[i]);
    }
    free(leases);
    return within(past, rc, err);
}

int past_runs_open_leases(struct past_runs *past, int64_t epoch,
                          past_runs_lease_fn *fn, void *arg, struct err *err)
{
    return tell_leases(past, &past->queries[OPEN_LEASES], epoch, fn, arg, err);
}

int past_runs_left_leases(struct past_runs *past, int64_t epoch,
                          past_runs_lease_fn *fn, void *arg, struct err *err)
{
    return tell_leases(past, &past->queries[LEFT_LEASES], epoch, fn, arg, err);
}

int past_runs_steps(struct past_runs *past, int64_t sweep,
                    past_runs_step_fn *fn, void *arg, struct err *err)
{
    static const char text[] =
        "SELECT sweep, position, kind, config, point, rung, time_s FROM step"
        " WHERE sweep=? ORDER BY position";
    struct row_query query;
    struct store_step step;
    int rc = row_open(store_db(past->store), text, &store_rows_step, &query,
                      err, "I", sweep);

    while (rc >= 0 && (rc = row_next(&query, &step, err)) == 1)
        fn(arg, &step);
    row_close(&query);
    return within(past, rc, err);
}

int past_runs_configs(struct past_runs *past, past_runs_config_fn *fn,
                      void *arg, struct err *err)
{
    static const char text[] = "SELECT key, source_key, params, warnings,"
                               " sweep, point, baseline FROM config";
    struct row_query query;
    struct past_runs_config config;
    int rc =
        row_open(store_db(past->store), text, &config_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &config, err)) == 1)
        fn(arg, &config);
    row_close(&query);
    return within(past, rc, err);
}

int past_runs_settled(struct past_runs *past, past_runs_settled_fn *fn,
                      void *arg, struct err *err)
{
    static const char text[] =
        "SELECT config, shape, source_key, measure_key, outcome, median_s,"
        " nonce IS NOT NULL AS measured FROM outcome";
    struct row_query query;
    struct past_runs_settled settled;
    int rc =
        row_open(store_db(past->store), text, &settled_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &settled, err)) == 1)
        fn(arg, &settled);
    row_close(&query);
    return within(past, rc, err);
}
