#include "coordinator/contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"

static const char *const kinds[] = { "confirm", "bench" };
static const char *const roles[] = { "baseline", "finalist", "rejected" };

void contest_fini(struct contest *contest)
{
    for (size_t i = 0; i < contest->n; i++)
        free(contest->contestants[i].reason);
    for (size_t i = 0; i < contest->n_shapes; i++)
        free(contest->shapes[i].name);
    free(contest->contestants);
    free(contest->shapes);
    *contest = (struct contest){ 0 };
}

void contest_add(struct contest *contest, const char *key,
                 enum contest_role role, const char *reason)
{
    struct contestant *added;

    contest->contestants = mem_grow(contest->contestants, contest->n + 1,
                                    sizeof(*contest->contestants));
    added = &contest->contestants[contest->n++];
    *added = (struct contestant){ .role = role, .reason = mem_strdup(reason) };
    snprintf(added->key, sizeof(added->key), "%s", key);
    contest->n_running += role != CONTEST_REJECTED;
}

int64_t contest_round(const struct contest *contest, int block)
{
    return contest->pass * CONTEST_ROUNDS + block;
}

int contest_sources(struct store *store, struct contest *contest,
                    struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc =
        sql_prepare(store_db(store),
                    "SELECT source_key FROM config WHERE key=?", &stmt, err);

    for (size_t i = 0; rc >= 0 && i < contest->n; i++) {
        struct contestant *c = &contest->contestants[i];

        rc = sql_start(stmt, err, "s", c->key);
        if (rc == 0)
            rc = sql_step(stmt, err);
        if (rc == 1)
            snprintf(c->source_key, sizeof(c->source_key), "%s",
                     sql_text(stmt, 0));
        if (rc >= 0)
            sql_reset(stmt);
    }
    sql_free(stmt);
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(store)) : 0;
}

/* ---- writing ---- */

int contest_put(struct store *store, struct contest *contest, struct err *err)
{
    struct store_contest row = {
        .sweep = contest->sweep,
        .kind = kinds[contest->kind],
        .seed = contest->seed,
        .blocks = contest->blocks,
        .samples = contest->samples,
        .alpha = contest->rules.alpha,
        .floor = contest->rules.floor,
        .target = contest->rules.target,
        .possible = contest->possible,
        .cut = contest->cut,
        .proof_hours = contest->proof_hours,
        .proof_usd = contest->proof_usd,
        .started_utc = contest->started_utc = clock_utc_ns(),
    };
    int64_t last;
    int rc =
        sql_number(store_db(store),
                   "SELECT coalesce(max(pass), 0) FROM contest", &last, err);

    if (rc == 0 && last >= CONTEST_PASSES_MAX)
        rc = err_set(err, ERR_STORE, "%s holds %d passes, which is all it can",
                     store_path(store), CONTEST_PASSES_MAX);
    contest->pass = row.pass = last + 1;
    if (rc == 0)
        rc = store_contest_put(store, &row, err);
    for (size_t i = 0; rc == 0 && i < contest->n; i++) {
        const struct contestant *c = &contest->contestants[i];

        rc =
            store_contestant_put(store,
                                 &(struct store_contestant){
                                     contest->pass, (int64_t)i, c->key,
                                     c->source_key, roles[c->role], c->reason },
                                 err);
    }
    for (size_t i = 0; rc == 0 && i < contest->n_shapes; i++)
        rc = store_contest_shape_put(
            store,
            &(struct store_contest_shape){ contest->pass, (int64_t)i,
                                           contest->shapes[i].name,
                                           contest->shapes[i].measure_key },
            err);
    return rc;
}

int contest_put_out(struct store *store, struct contest *contest, size_t at,
                    const char *reason, struct err *err)
{
    struct contestant *c = &contest->contestants[at];

    free(c->reason);
    c->reason = mem_strdup(reason);
    return store_contestant_put(
        store,
        &(struct store_contestant){ contest->pass, (int64_t)at, c->key,
                                    c->source_key, roles[c->role], c->reason },
        err);
}

int contest_put_end(struct store *store, struct contest *contest, bool failed,
                    struct err *err)
{
    contest->ended = true;
    contest->failed = failed;
    return store_contest_end(store, contest->pass, failed ? "failed" : "done",
                             clock_utc_ns(), err);
}

/* ---- reading ---- */

static int find_word(const char *const *words, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return 0;
}

static void read_contest(struct contest *out, struct sqlite3_stmt *stmt)
{
    *out = (struct contest){
        .pass = sql_int(stmt, 0),
        .sweep = sql_int(stmt, 1),
        .kind = (enum contest_kind)find_word(kinds, 2, sql_text(stmt, 2)),
        .seed = sql_int(stmt, 3),
        .blocks = (int)sql_int(stmt, 4),
        .samples = (int)sql_int(stmt, 5),
        .rules = { sql_real(stmt, 6), sql_real(stmt, 7), sql_real(stmt, 8) },
        .possible = sql_int(stmt, 9),
        .cut = sql_real(stmt, 10),
        .proof_hours = sql_real(stmt, 11),
        .proof_usd = sql_real(stmt, 12),
        .started_utc = sql_int(stmt, 13),
        .ended = !sql_is_null(stmt, 14),
        .failed = strcmp(sql_text(stmt, 15), "failed") == 0,
    };
}

static void read_contestant(struct contest *out, struct sqlite3_stmt *stmt)
{
    struct contestant *added;

    contest_add(out, sql_text(stmt, 0),
                (enum contest_role)find_word(roles, 3, sql_text(stmt, 2)),
                sql_text(stmt, 3));
    added = &out->contestants[out->n - 1];
    snprintf(added->source_key, sizeof(added->source_key), "%s",
             sql_text(stmt, 1));
}

static void read_shape(struct contest *out, struct sqlite3_stmt *stmt)
{
    struct contest_shape *added;

    out->shapes =
        mem_grow(out->shapes, out->n_shapes + 1, sizeof(*out->shapes));
    added = &out->shapes[out->n_shapes++];
    added->name = mem_strdup(sql_text(stmt, 0));
    snprintf(added->measure_key, sizeof(added->measure_key), "%s",
             sql_text(stmt, 1));
}

static int each(struct store *store, struct contest *out, const char *text,
                void (*row)(struct contest *, struct sqlite3_stmt *),
                struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "I", out->pass);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        row(out, stmt);
    sql_free(stmt);
    return rc;
}

int contest_load(struct store *store, int64_t sweep, enum contest_kind kind,
                 int64_t pass, struct contest *out, struct err *err)
{
    static const char find[] =
        "SELECT pass, sweep, kind, seed, blocks, samples, alpha, floor,"
        " target, possible, cut, proof_hours, proof_usd, started_utc,"
        " ended_utc, ending FROM contest WHERE sweep=?1 AND kind=?2"
        " AND (?3=0 OR pass=?3) ORDER BY pass DESC LIMIT 1";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), find, &stmt, err);

    *out = (struct contest){ 0 };
    if (rc == 0)
        rc = sql_start(stmt, err, "IsI", sweep, kinds[kind], pass);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        read_contest(out, stmt);
    sql_free(stmt);
    if (rc == 1)
        rc = each(store, out,
                  "SELECT config, source_key, role, reason FROM contestant"
                  " WHERE pass=? ORDER BY position",
                  read_contestant, err);
    else if (rc == 0)
        return 0;
    if (rc == 0)
        rc = each(store, out,
                  "SELECT shape, measure_key FROM contest_shape"
                  " WHERE pass=? ORDER BY position",
                  read_shape, err);
    if (rc < 0) {
        contest_fini(out);
        return err_within(err, ERR_STORE, "%s", store_path(store));
    }
    return 1;
}

int contest_results(struct store *store, const struct contest *contest,
                    contest_result_fn *fn, void *arg, struct err *err)
{
    static const char text[] =
        "SELECT c.position, s.position, r.round, r.gpu, r.outcome, r.detail,"
        " r.samples, r.registers, r.spill_bytes"
        " FROM contestant c JOIN contest_shape s ON s.pass=c.pass"
        " JOIN result r ON r.config=c.config AND r.shape=s.shape"
        " AND r.purpose='confirm' AND r.round>?2 AND r.round<?3"
        " AND r.source_key=c.source_key AND r.measure_key=s.measure_key"
        " AND r.counted=1 WHERE c.pass=?1 ORDER BY r.round";
    int64_t first = contest_round(contest, 0);
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "III", contest->pass, first,
                       first + CONTEST_ROUNDS);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, &(struct contest_result){
                    .contestant = (size_t)sql_int(stmt, 0),
                    .shape = (size_t)sql_int(stmt, 1),
                    .block = (int)(sql_int(stmt, 2) - first),
                    .gpu = sql_text(stmt, 3),
                    .outcome = sql_text(stmt, 4),
                    .detail = sql_text(stmt, 5),
                    .samples = sql_text(stmt, 6),
                    .registers = sql_int(stmt, 7),
                    .spill_bytes = sql_int(stmt, 8),
                });
    sql_free(stmt);
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(store)) : 0;
}
