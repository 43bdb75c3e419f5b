#include "coordinator/store/stored_contest.h"

#include <stdio.h>

#include "common/err.h"
#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"

static int fault(const struct store *store, int rc, struct err *err)
{
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(store)) : rc;
}

int stored_contest_last(struct store *store, int64_t *pass_out, struct err *err)
{
    return sql_number(store_db(store),
                      "SELECT coalesce(max(pass), 0) FROM contest", pass_out,
                      err);
}

int stored_contest_source(struct store *store, const char *config,
                          char source_key_out[HASH_HEX], struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc =
        sql_prepare(store_db(store),
                    "SELECT source_key FROM config WHERE key=?", &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "s", config);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        snprintf(source_key_out, HASH_HEX, "%s", sql_text(stmt, 0));
    sql_free(stmt);
    return fault(store, rc, err);
}

static void tell_contest(struct sqlite3_stmt *stmt, stored_contest_fn *fn,
                         void *arg)
{
    fn(arg, &(struct stored_contest){
                .row = { .pass = sql_int(stmt, 0),
                         .sweep = sql_int(stmt, 1),
                         .kind = sql_text(stmt, 2),
                         .seed = sql_int(stmt, 3),
                         .blocks = sql_int(stmt, 4),
                         .samples = sql_int(stmt, 5),
                         .alpha = sql_real(stmt, 6),
                         .floor = sql_real(stmt, 7),
                         .target = sql_real(stmt, 8),
                         .possible = sql_int(stmt, 9),
                         .cut = sql_real(stmt, 10),
                         .proof_hours = sql_real(stmt, 11),
                         .proof_usd = sql_real(stmt, 12),
                         .started_utc = sql_int(stmt, 13) },
                .ended = !sql_is_null(stmt, 14),
                .ending = sql_text(stmt, 15),
            });
}

int stored_contest_find(struct store *store, int64_t sweep, const char *kind,
                        int64_t pass, stored_contest_fn *fn, void *arg,
                        struct err *err)
{
    static const char text[] =
        "SELECT pass, sweep, kind, seed, blocks, samples, alpha, floor,"
        " target, possible, cut, proof_hours, proof_usd, started_utc,"
        " ended_utc, ending FROM contest WHERE sweep=?1 AND kind=?2"
        " AND (?3=0 OR pass=?3) ORDER BY pass DESC LIMIT 1";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "IsI", sweep, kind, pass);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        tell_contest(stmt, fn, arg);
    sql_free(stmt);
    return fault(store, rc, err);
}

int stored_contest_entries(struct store *store, int64_t pass,
                           stored_contest_entry_fn *fn, void *arg,
                           struct err *err)
{
    static const char text[] =
        "SELECT position, config, source_key, role, reason FROM contestant"
        " WHERE pass=? ORDER BY position";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "I", pass);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, &(struct store_contestant){
                    pass, sql_int(stmt, 0), sql_text(stmt, 1),
                    sql_text(stmt, 2), sql_text(stmt, 3), sql_text(stmt, 4) });
    sql_free(stmt);
    return fault(store, rc, err);
}

int stored_contest_shapes(struct store *store, int64_t pass,
                          stored_contest_shape_fn *fn, void *arg,
                          struct err *err)
{
    static const char text[] =
        "SELECT position, shape, measure_key FROM contest_shape"
        " WHERE pass=? ORDER BY position";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "I", pass);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, &(struct store_contest_shape){ pass, sql_int(stmt, 0),
                                               sql_text(stmt, 1),
                                               sql_text(stmt, 2) });
    sql_free(stmt);
    return fault(store, rc, err);
}

int stored_contest_results(struct store *store, int64_t pass, int64_t first,
                           int64_t end, stored_contest_result_fn *fn, void *arg,
                           struct err *err)
{
    static const char text[] =
        "SELECT c.position, s.position, r.round, r.gpu, r.outcome, r.detail,"
        " r.samples, r.registers, r.spill_bytes"
        " FROM contestant c JOIN contest_shape s ON s.pass=c.pass"
        " JOIN result r ON r.config=c.config AND r.shape=s.shape"
        " AND r.purpose='confirm' AND r.round>?2 AND r.round<?3"
        " AND r.source_key=c.source_key AND r.measure_key=s.measure_key"
        " AND r.counted=1 WHERE c.pass=?1 ORDER BY r.round";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "III", pass, first, end);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, &(struct stored_contest_result){
                    .entry = sql_int(stmt, 0),
                    .shape = sql_int(stmt, 1),
                    .round = sql_int(stmt, 2),
                    .gpu = sql_text(stmt, 3),
                    .outcome = sql_text(stmt, 4),
                    .detail = sql_text(stmt, 5),
                    .samples = sql_text(stmt, 6),
                    .registers = sql_int(stmt, 7),
                    .spill_bytes = sql_int(stmt, 8),
                });
    sql_free(stmt);
    return fault(store, rc, err);
}
