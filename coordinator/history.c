#include "coordinator/history.h"

#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/params.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"

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

struct history {
    struct store *store;
    struct sqlite3_stmt *stmts[STATEMENTS];
};

int history_open(struct store *store, struct history **out, struct err *err)
{
    struct history *history = mem_new(1, sizeof(*history));

    history->store = store;
    for (size_t i = 0; i < STATEMENTS; i++) {
        int rc = sql_prepare(store_db(store), statements[i], &history->stmts[i],
                             err);

        if (rc < 0) {
            history_close(history);
            *out = NULL;
            return err_within(err, ERR_STORE, "%s", store_path(store));
        }
    }
    *out = history;
    return 0;
}

void history_close(struct history *history)
{
    if (!history)
        return;
    for (size_t i = 0; i < STATEMENTS; i++)
        sql_free(history->stmts[i]);
    free(history);
}

static int within(struct history *history, int rc, struct err *err)
{
    if (rc < 0)
        return err_within(err, rc, "%s", store_path(history->store));
    return rc;
}

int history_sweep(struct history *history, struct store_sweep *out,
                  int64_t *id_out, struct err *err)
{
    struct sqlite3_stmt *stmt = history->stmts[SWEEP];
    int rc;

    sql_reset(stmt);
    rc = sql_step(stmt, err);
    if (rc <= 0)
        return within(history, rc, err);
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

int history_arch(struct history *history, const struct store_sweep *sweep,
                 char out[HISTORY_ARCH_BYTES], struct err *err)
{
    struct sqlite3_stmt *stmt;
    int rc =
        sql_prepare(store_db(history->store),
                    "SELECT 'sm_' || json_extract(?1, '$.arch')", &stmt, err);

    if (rc < 0)
        return within(history, rc, err);
    rc = sql_start(stmt, err, "s", sweep->facts);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        snprintf(out, HISTORY_ARCH_BYTES, "%s", sql_text(stmt, 0));
    sqlite3_finalize(stmt);
    return rc < 0 ? within(history, rc, err) : 0;
}

bool history_asked(const struct store_sweep *sweep)
{
    const struct param *asked;
    struct params params;
    bool yes;

    if (params_parse(sweep->settings, &params, NULL) < 0)
        return false;
    asked = params_find(&params, "asked");
    yes = asked && asked->number != 0;
    params_fini(&params);
    return yes;
}

int history_outcome(struct history *history, const struct store_outcome *key,
                    struct history_outcome *out, struct err *err)
{
    struct sqlite3_stmt *stmt = history->stmts[OUTCOME];
    int rc = sql_start(stmt, err, "ssss", key->config, key->shape,
                       key->source_key, key->measure_key);

    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc <= 0)
        return within(history, rc, err);
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

int history_build(struct history *history, const char *config,
                  const char *source_key, struct history_build *out,
                  struct err *err)
{
    struct sqlite3_stmt *stmt = history->stmts[BUILD];
    int rc = sql_start(stmt, err, "ss", config, source_key);

    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc <= 0)
        return within(history, rc, err);
    snprintf(out->artifact, sizeof(out->artifact), "%s", sql_text(stmt, 0));
    snprintf(out->build_key, sizeof(out->build_key), "%s", sql_text(stmt, 1));
    snprintf(out->host, sizeof(out->host), "%s", sql_text(stmt, 2));
    out->registers = sql_int(stmt, 3);
    out->spill_bytes = sql_int(stmt, 4);
    out->static_smem = sql_int(stmt, 5);
    sql_reset(stmt);
    return 1;
}

int history_losses(struct history *history, history_loss_fn *fn, void *arg,
                   struct err *err)
{
    struct sqlite3_stmt *stmt = history->stmts[LOSSES];
    int rc;

    while ((rc = sql_step(stmt, err)) == 1) {
        struct history_loss loss = {
            .config = sql_text(stmt, 0),
            .shape = sql_text(stmt, 1),
            .stage = sql_text(stmt, 2),
            .losses = sql_int(stmt, 3),
        };

        fn(arg, &loss);
    }
    return within(history, rc, err);
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

int history_open_leases(struct history *history, int64_t epoch,
                        history_lease_fn *fn, void *arg, struct err *err)
{
    struct sqlite3_stmt *stmt = history->stmts[OPEN_LEASES];
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
    return within(history, rc, err);
}

int history_steps(struct history *history, int64_t sweep, history_step_fn *fn,
                  void *arg, struct err *err)
{
    struct sqlite3_stmt *stmt;
    int rc = sql_prepare(store_db(history->store),
                         "SELECT kind, config, point, rung, time_s, position"
                         " FROM step WHERE sweep=? ORDER BY position",
                         &stmt, err);

    if (rc < 0)
        return within(history, rc, err);
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
    return within(history, rc, err);
}

int history_configs(struct history *history, history_config_fn *fn, void *arg,
                    struct err *err)
{
    struct sqlite3_stmt *stmt;
    int rc = sql_prepare(store_db(history->store),
                         "SELECT key, source_key, params, warnings, sweep,"
                         " point, baseline FROM config",
                         &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        struct history_config config = {
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
    return within(history, rc, err);
}

int history_settled(struct history *history, history_settled_fn *fn, void *arg,
                    struct err *err)
{
    struct sqlite3_stmt *stmt;
    int rc = sql_prepare(store_db(history->store),
                         "SELECT config, shape, source_key, measure_key,"
                         " outcome, median_s, nonce IS NOT NULL FROM outcome",
                         &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        struct history_settled settled = {
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
    return within(history, rc, err);
}
