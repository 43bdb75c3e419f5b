#include "coordinator/store/past_runs.h"

#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/store/stored_params.h"

enum {
    SWEEP,
    OUTCOME,
    BUILD,
    LOSSES,
    OPEN_LEASES,
    STATEMENTS,
};

static const char *const statements[STATEMENTS] = {
    [SWEEP] = "SELECT id, key, name, folder, file, hosts_file, spec, device,"
              " arch, facts, settings, configurations, passed, created_utc"
              " FROM sweep ORDER BY created_utc DESC, id DESC LIMIT 1",
    [OUTCOME] = "SELECT o.outcome, o.reason, o.median_s, o.attempts,"
                " r.relative_l2, r.max_error,"
                " r.sampling IN ('settled','fixed')"
                " FROM outcome o LEFT JOIN result r ON r.nonce=o.nonce"
                " WHERE o.config=? AND o.shape=? AND o.source_key=?"
                " AND o.measure_key=?",
    [BUILD] = "SELECT artifact, build_key, host, registers, spill_bytes,"
              " static_smem FROM build WHERE config=? AND source_key=?"
              " AND outcome='built' ORDER BY received_utc DESC LIMIT 1",
    /* Runs up to the one that last changed the sweep had other sources. */
    [LOSSES] = "SELECT config, shape, stage, count(*) FROM lease"
               " WHERE ending='lost' AND round=0"
               " AND purpose IN ('screen', 'kernel', 'reference')"
               " AND epoch >= coalesce((SELECT max(epoch)"
               "  FROM run WHERE epoch <= (SELECT max(created_utc)"
               "  FROM sweep)), 0) GROUP BY config, shape, stage",
    [OPEN_LEASES] = "SELECT epoch, id, config, shape, purpose, stage, round,"
                    " attempt, host, gpu, leased_utc FROM lease"
                    " WHERE ended_utc IS NULL AND epoch < ?",
};

struct past_runs {
    struct store *store;
    struct sqlite3_stmt *request; /* NULL until it is asked for */
    struct sqlite3_stmt *stmts[STATEMENTS];
};

int past_runs_open(struct store *store, struct past_runs **out, struct err *err)
{
    struct past_runs *past = mem_new(1, sizeof(*past));

    past->store = store;
    for (size_t i = 0; i < STATEMENTS; i++) {
        int rc =
            sql_prepare(store_db(store), statements[i], &past->stmts[i], err);

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
    for (size_t i = 0; i < STATEMENTS; i++)
        sql_free(past->stmts[i]);
    sql_free(past->request);
    free(past);
}

static int within(struct past_runs *past, int rc, struct err *err)
{
    if (rc < 0)
        return err_within(err, rc, "%s", store_path(past->store));
    return rc;
}

int past_runs_sweep(struct past_runs *past, struct store_sweep *out,
                    int64_t *id_out, struct err *err)
{
    struct sqlite3_stmt *stmt = past->stmts[SWEEP];
    int rc;

    sql_reset(stmt);
    rc = sql_step(stmt, err);
    if (rc <= 0)
        return within(past, rc, err);
    *id_out = sql_int(stmt, 0);
    *out = (struct store_sweep){
        .key = sql_text(stmt, 1),
        .name = sql_text(stmt, 2),
        .folder = sql_text(stmt, 3),
        .file = sql_text(stmt, 4),
        .hosts_file = sql_text(stmt, 5),
        .spec = sql_text(stmt, 6),
        .device = sql_text(stmt, 7),
        .arch = sql_text(stmt, 8),
        .facts = sql_text(stmt, 9),
        .settings = sql_text(stmt, 10),
        .configurations = sql_int(stmt, 11),
        .passed = sql_int(stmt, 12),
        .created_utc = sql_int(stmt, 13),
    };
    return 1;
}

/* Databases of older formats are read as they are, without this table. */
static int has_requests(struct past_runs *past, struct err *err)
{
    int64_t n = 0;
    int rc = sql_number(store_db(past->store),
                        "SELECT count(*) FROM sqlite_schema"
                        " WHERE name = 'request'",
                        &n, err);

    return rc < 0 ? rc : n > 0;
}

int past_runs_request(struct past_runs *past, struct store_request *out,
                      struct err *err)
{
    int rc = has_requests(past, err);

    if (rc == 1 && !past->request)
        rc = sql_prepare(store_db(past->store),
                         "SELECT folder, file, hosts_file, device, arch,"
                         " settings FROM request",
                         &past->request, err) < 0
                 ? ERR_STORE
                 : 1;
    if (rc == 1) {
        sql_reset(past->request);
        rc = sql_step(past->request, err);
    }
    if (rc == 1)
        *out = (struct store_request){
            .folder = sql_text(past->request, 0),
            .file = sql_text(past->request, 1),
            .hosts_file = sql_text(past->request, 2),
            .device = sql_text(past->request, 3),
            .arch = sql_text(past->request, 4),
            .settings = sql_text(past->request, 5),
        };
    return within(past, rc, err);
}

int past_runs_arch(struct past_runs *past, const struct store_sweep *sweep,
                   char out[PAST_RUNS_ARCH_BYTES], struct err *err)
{
    struct sqlite3_stmt *stmt;
    int rc =
        sql_prepare(store_db(past->store),
                    "SELECT 'sm_' || json_extract(?1, '$.arch')", &stmt, err);

    if (rc < 0)
        return within(past, rc, err);
    rc = sql_start(stmt, err, "s", sweep->facts);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        snprintf(out, PAST_RUNS_ARCH_BYTES, "%s", sql_text(stmt, 0));
    sqlite3_finalize(stmt);
    return rc < 0 ? within(past, rc, err) : 0;
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

int past_runs_outcome(struct past_runs *past, const struct store_outcome *key,
                      struct past_runs_outcome *out, struct err *err)
{
    struct sqlite3_stmt *stmt = past->stmts[OUTCOME];
    int rc = sql_start(stmt, err, "ssss", key->config, key->shape,
                       key->source_key, key->measure_key);

    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc <= 0)
        return within(past, rc, err);
    snprintf(out->outcome, sizeof(out->outcome), "%s", sql_text(stmt, 0));
    snprintf(out->reason, sizeof(out->reason), "%s", sql_text(stmt, 1));
    out->median_s = sql_real(stmt, 2);
    out->attempts = sql_int(stmt, 3);
    out->relative_l2 = sql_real(stmt, 4);
    out->max_error = sql_real(stmt, 5);
    out->agreed = sql_int(stmt, 6) != 0;
    sql_reset(stmt);
    return 1;
}

int past_runs_build(struct past_runs *past, const char *config,
                    const char *source_key, struct past_runs_build *out,
                    struct err *err)
{
    struct sqlite3_stmt *stmt = past->stmts[BUILD];
    int rc = sql_start(stmt, err, "ss", config, source_key);

    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc <= 0)
        return within(past, rc, err);
    snprintf(out->artifact, sizeof(out->artifact), "%s", sql_text(stmt, 0));
    snprintf(out->build_key, sizeof(out->build_key), "%s", sql_text(stmt, 1));
    snprintf(out->host, sizeof(out->host), "%s", sql_text(stmt, 2));
    out->registers = sql_int(stmt, 3);
    out->spill_bytes = sql_int(stmt, 4);
    out->static_smem = sql_int(stmt, 5);
    sql_reset(stmt);
    return 1;
}

int past_runs_losses(struct past_runs *past, past_runs_loss_fn *fn, void *arg,
                     struct err *err)
{
    struct sqlite3_stmt *stmt = past->stmts[LOSSES];
    int rc;

    while ((rc = sql_step(stmt, err)) == 1) {
        struct past_runs_loss loss = {
            .config = sql_text(stmt, 0),
            .shape = sql_text(stmt, 1),
            .stage = sql_text(stmt, 2),
            .losses = sql_int(stmt, 3),
        };

        fn(arg, &loss);
    }
    return within(past, rc, err);
}

static struct store_lease lease_copy(struct sqlite3_stmt *stmt)
{
    return (struct store_lease){
        .epoch = sql_int(stmt, 0),
        .id = sql_int(stmt, 1),
        .config = mem_strdup(sql_text(stmt, 2)),
        .shape = mem_strdup(sql_text(stmt, 3)),
        .purpose = mem_strdup(sql_text(stmt, 4)),
        .stage = mem_strdup(sql_text(stmt, 5)),
        .round = sql_int(stmt, 6),
        .attempt = sql_int(stmt, 7),
        .host = mem_strdup(sql_text(stmt, 8)),
        .gpu = mem_strdup(sql_text(stmt, 9)),
        .leased_utc = sql_int(stmt, 10),
    };
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

int past_runs_open_leases(struct past_runs *past, int64_t epoch,
                          past_runs_lease_fn *fn, void *arg, struct err *err)
{
    struct sqlite3_stmt *stmt = past->stmts[OPEN_LEASES];
    struct store_lease *leases = NULL;
    size_t n = 0;
    int rc = sql_start(stmt, err, "I", epoch);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        leases = mem_grow(leases, n + 1, sizeof(*leases));
        leases[n++] = lease_copy(stmt);
    }
    for (size_t i = 0; i < n; i++) {
        if (rc == 0)
            fn(arg, &leases[i]);
        lease_free(&leases[i]);
    }
    free(leases);
    return within(past, rc, err);
}

int past_runs_steps(struct past_runs *past, int64_t sweep,
                    past_runs_step_fn *fn, void *arg, struct err *err)
{
    struct sqlite3_stmt *stmt;
    int rc = sql_prepare(store_db(past->store),
                         "SELECT kind, config, point, rung, time_s, position"
                         " FROM step WHERE sweep=? ORDER BY position",
                         &stmt, err);

    if (rc < 0)
        return within(past, rc, err);
    rc = sql_start(stmt, err, "I", sweep);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        struct store_step step = {
            .sweep = sweep,
            .kind = sql_text(stmt, 0),
            .config = sql_text(stmt, 1),
            .point = sql_int(stmt, 2),
            .rung = sql_int(stmt, 3),
            .time_s = sql_real(stmt, 4),
            .position = sql_int(stmt, 5),
        };

        fn(arg, &step);
    }
    sql_free(stmt);
    return within(past, rc, err);
}

int past_runs_configs(struct past_runs *past, past_runs_config_fn *fn,
                      void *arg, struct err *err)
{
    struct sqlite3_stmt *stmt;
    int rc = sql_prepare(store_db(past->store),
                         "SELECT key, source_key, params, warnings, sweep,"
                         " point, baseline FROM config",
                         &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        struct past_runs_config config = {
            .key = sql_text(stmt, 0),
            .source_key = sql_text(stmt, 1),
            .params = sql_text(stmt, 2),
            .warnings = sql_text(stmt, 3),
            .sweep = sql_int(stmt, 4),
            .point = sql_int(stmt, 5),
            .baseline = sql_int(stmt, 6) != 0,
        };

        fn(arg, &config);
    }
    sql_free(stmt);
    return within(past, rc, err);
}

int past_runs_settled(struct past_runs *past, past_runs_settled_fn *fn,
                      void *arg, struct err *err)
{
    struct sqlite3_stmt *stmt;
    int rc = sql_prepare(store_db(past->store),
                         "SELECT config, shape, source_key, measure_key,"
                         " outcome, median_s, nonce IS NOT NULL FROM outcome",
                         &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        struct past_runs_settled settled = {
            .config = sql_text(stmt, 0),
            .shape = sql_text(stmt, 1),
            .source_key = sql_text(stmt, 2),
            .measure_key = sql_text(stmt, 3),
            .outcome = sql_text(stmt, 4),
            .median_s = sql_real(stmt, 5),
            .measured = sql_int(stmt, 6) != 0,
        };

        fn(arg, &settled);
    }
    sql_free(stmt);
    return within(past, rc, err);
}
