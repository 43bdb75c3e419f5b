/* Checks of the database after the last life. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_device.h"
#include "tests/simulation/sim_dial.h"
#include "tests/simulation/sim_rent.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_sweep.h"
#include "tests/simulation/sim_world.h"

/* Queries that must find no row; a row says what is wrong.  ?1 is the epoch of
 * the last life. */
static const struct query {
    const char *check, *text;
    bool when_done; /* asked only if the run ended with 0 */
} queries[] = {
    { "I2",
      "SELECT config||' '||shape||' '||purpose||' '||round||' is counted '"
      "||count(*)||' times' FROM result WHERE counted=1 GROUP BY config, shape,"
      " purpose, round, source_key, measure_key HAVING count(*)>1",
      false },
    { "I2",
      "SELECT config||' is built, and counted '||count(*)||' times' FROM build"
      " WHERE counted=1 AND source_key<>'' GROUP BY config, purpose, source_key"
      " HAVING count(*)>1",
      false },
    { "I3",
      "SELECT c.key||' at '||s.name||' has '||count(o.outcome)||' outcomes'"
      " FROM config c JOIN shape s ON s.sweep=c.sweep LEFT JOIN outcome o"
      " ON o.config=c.key AND o.shape=s.name WHERE c.sweep=(SELECT max(id) FROM"
      " sweep) GROUP BY c.key, s.name"
      " HAVING count(o.outcome)<>1",
      true },
    { "I3",
      "SELECT config||' ended as '||outcome FROM outcome WHERE outcome NOT IN"
      " ('correct','constraints','compile','runtime','correctness','timeout',"
      "'lost','crash')",
      false },
    { "I5",
      "SELECT a.host||' overlaps at '||b.start_ns FROM interval a"
      " JOIN interval b ON a.host=b.host AND a.epoch=b.epoch"
      " AND b.start_ns>a.start_ns AND b.start_ns<a.end_ns",
      false },
    { "I5",
      "SELECT host||' ends before it begins' FROM interval"
      " WHERE end_ns<start_ns",
      false },
    { "I5", /* what is paid for is what was done; a life that was killed may
               miss the time since it last wrote down what it holds */
      "SELECT host||' is held for '||sum(held)||' ns, and its intervals are '"
      "||sum(done)||' ns' FROM (SELECT host, epoch, end_ns-start_ns AS held,"
      " 0 AS done FROM held UNION ALL SELECT host, epoch, 0, end_ns-start_ns"
      " FROM interval) t GROUP BY host, epoch HAVING abs(sum(held)-sum(done)) >"
      " iif((SELECT ended_utc FROM run r WHERE r.epoch=t.epoch) IS NULL,"
      " 1500000000, 0)",
      false },
    { "I6",
      "SELECT o.config||' is correct without a result that says so' FROM"
      " outcome o LEFT JOIN result r ON r.nonce=o.nonce AND r.config=o.config"
      " AND r.shape=o.shape AND r.outcome='correct' AND r.relative_l2 <= 1"
      " WHERE o.outcome='correct' AND r.nonce IS NULL",
      false },
    { "I6",
      "SELECT r.config||' was measured with '||r.artifact||', which no build"
      " of it made' FROM result r WHERE r.counted=1 AND r.outcome='correct'"
      " AND NOT EXISTS (SELECT 1 FROM build b WHERE b.config=r.config"
      " AND b.artifact=r.artifact)",
      false },
    { "I8",
      "SELECT 'lease '||id||' of '||host||' has no end' FROM lease"
      " WHERE ending IS NULL AND epoch=?1",
      true },
};

static void ask(struct sim_run *run, struct store *store,
                const struct query *query)
{
    struct sqlite3_stmt *stmt = NULL;
    struct err err;
    int rc = sql_prepare(store_db(store), query->text, &stmt, &err);

    if (rc == 0 && strstr(query->text, "?1"))
        rc = sql_start(stmt, &err, "I", run->world->life.epoch);
    if (rc == 0)
        rc = sql_step(stmt, &err);
    if (rc == 1)
        sim_run_finds(run, query->check, "%s", sql_text(stmt, 0));
    if (rc < 0)
        sim_run_finds(run, query->check, "the checker's own: %s", err.text);
    sql_free(stmt);
}

/* ---- I1: acknowledged results are in the database ---- */

static void check_acknowledged(struct sim_run *run, struct store *const *stores)
{
    static const char text[] = "SELECT (SELECT count(*) FROM result WHERE"
                               " nonce=?1) + (SELECT count(*) FROM build WHERE"
                               " nonce=?1) + (SELECT count(*) FROM tool WHERE"
                               " nonce=?1)";
    const struct sim_trace *trace = &run->world->trace;
    struct sqlite3_stmt *stmts[2] = { NULL, NULL };
    struct err err;

    for (int i = 0; i < 2; i++)
        if (stores[i])
            (void)sql_prepare(store_db(stores[i]), text, &stmts[i], &err);
    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];
        const char *nonce = sim_trace_text(trace, r->nonce);
        int64_t found = 0;

        if (r->kind != SIM_SENT || r->type != MSG_ACK || !r->nonce)
            continue;
        for (int k = 0; k < 2; k++) {
            if (!stmts[k])
                continue;
            if (sql_start(stmts[k], &err, "s", nonce) == 0 &&
                sql_step(stmts[k], &err) == 1)
                found += sql_int(stmts[k], 0);
            sql_reset(stmts[k]);
        }
        if (found != 1)
            sim_run_finds(run, "I1",
                          "%.8s was acknowledged, and is there "
                          "%lld times",
                          nonce, (long long)found);
    }
    for (int i = 0; i < 2; i++)
        sql_free(stmts[i]);
}

/* ---- I5: each host is held from the beginning of a life to its end, but one
 * that dials back while its worker is there; while it is lost, if it comes back
 * ---- */

struct held {
    bool is_gone;     /* dismissed: not checked */
    int64_t since_ns; /* 0: it is not held */
    int64_t past_ns;  /* held before */
    int64_t lost_at;  /* or 0 */
    int64_t lost_ns;  /* held then, or not */
};

static void begin_held(const struct sim_run *run, int64_t now_ns,
                       struct held held[SIM_HOSTS_MAX])
{
    for (size_t i = 0; i < run->world->scene.n_hosts; i++)
        held[i] = (struct held){ .since_ns =
                                     sim_dial_has(run->world, i) ? 0 : now_ns };
}

static void end_held(struct held *held, int64_t now_ns)
{
    if (held->since_ns)
        held->past_ns += now_ns - held->since_ns;
    held->since_ns = 0;
}

static void dial_held(struct held *held, const struct sim_record *news)
{
    if (news->number == HOST_THREADS_ATTACHED && !held->since_ns) {
        held->since_ns = news->at_ns;
        held->lost_ns += held->lost_at ? news->at_ns - held->lost_at : 0;
        held->lost_at = 0;
    }
    if (news->number == HOST_THREADS_BROKEN && held->since_ns) {
        end_held(held, news->at_ns);
        held->lost_at = news->at_ns;
    }
}

static void check_held(struct sim_run *run, struct store *const *stores,
                       const struct sim_record *begin, const struct held *held,
                       size_t host)
{
    static const char text[] = "SELECT coalesce(sum(end_ns-start_ns), 0)"
                               " FROM interval WHERE epoch=?1 AND host=?2";
    const char *name = run->world->scene.hosts[host].name;
    int64_t is = 0;
    struct err err;

    for (int i = 0; i < 2; i++) {
        struct sqlite3_stmt *stmt = NULL;

        if (!stores[i])
            continue;
        if (sql_prepare(store_db(stores[i]), text, &stmt, &err) == 0 &&
            sql_start(stmt, &err, "Is", begin->epoch, name) == 0 &&
            sql_step(stmt, &err) == 1)
            is += sql_int(stmt, 0);
        sql_free(stmt);
    }
    if (is > held->past_ns + held->lost_ns + NS_PER_S ||
        is < held->past_ns - NS_PER_S)
        sim_run_finds(run, "I5",
                      "%s was held for %.1f s in life %lld, and "
                      "its intervals are %.1f s",
                      name, (double)held->past_ns / 1e9,
                      (long long)begin->number, (double)is / 1e9);
}

/* What comes before the run begins, and after it is over, releases machines
 * that are rented. */
static bool says(const struct sim_trace *trace, const struct sim_record *r,
                 const char *text)
{
    return r->kind == SIM_RENT && r->host == SIM_NOBODY &&
           strcmp(sim_trace_text(trace, r->text), text) == 0;
}

/* Nothing was held yet; one that dials back may be there already. */
static void hold_from(struct held held[SIM_HOSTS_MAX], int64_t now_ns)
{
    for (size_t i = 0; i < SIM_HOSTS_MAX; i++)
        held[i].since_ns = held[i].since_ns ? now_ns : 0;
}

/* A life that was killed, or whose disk was full, wrote intervals up to its
 * last COMMIT, and is not checked. */
static void check_ledger(struct sim_run *run, struct store *const *stores)
{
    const struct sim_trace *trace = &run->world->trace;
    const struct sim_record *begin = NULL;
    struct held held[SIM_HOSTS_MAX] = { { .is_gone = false } };
    int64_t over_ns = 0;
    int64_t last_ms =
        0; /* of the last COMMIT, which comes after the last interval */

    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];

        if (says(trace, r, SIM_RUN_IS_OVER))
            over_ns = r->at_ns;
        if (says(trace, r, SIM_RUN_BEGINS))
            hold_from(held, r->at_ns);
        if (r->kind == SIM_BEGIN) {
            begin = r;
            begin_held(run, r->at_ns, held);
            over_ns = 0;
        }
        if (r->kind == SIM_COMMIT && over_ns == 0)
            last_ms = r->limit_ms;
        if (r->kind == SIM_DISMISS)
            held[r->host].is_gone = true;
        if (r->kind == SIM_NEWS && sim_dial_has(run->world, (size_t)r->host))
            dial_held(&held[r->host], r);
        if (r->kind != SIM_END || r->number == 7 || !begin)
            continue;
        for (size_t host = 0; host < run->world->scene.n_hosts; host++) {
            end_held(&held[host], over_ns - last_ms * NS_PER_MS);
            if (!held[host].is_gone && !sim_rent_has(run->world, host))
                check_held(run, stores, begin, &held[host], host);
        }
    }
}

/* ---- I6: the outcome of a configuration is true ---- */

static bool has_liar(const struct sim_run *run)
{
    for (size_t i = 0; i < run->world->scene.n_hosts; i++)
        if (run->world->scene.vices[i] == SIM_LIES)
            return true;
    return false;
}

static bool may_be(enum sim_truth truth, const char *outcome)
{
    static const char *const words[] = {
        [SIM_RIGHT] = "correct",     [SIM_NOT_COMPILED] = "compile",
        [SIM_WRONG] = "correctness", [SIM_RUNTIME] = "runtime",
        [SIM_DIES] = "crash",        [SIM_FLAKY] = "correct",
        [SIM_HANGS] = "timeout",     [SIM_NO_BUILD] = "timeout",
    };

    return strcmp(outcome, words[truth]) == 0 || strcmp(outcome, "lost") == 0 ||
           strcmp(outcome, "crash") == 0;
}

static void check_truth(struct sim_run *run, struct store *store)
{
    static const char text[] = "SELECT config, outcome FROM outcome"
                               " WHERE outcome<>'constraints'";
    struct sqlite3_stmt *stmt = NULL;
    struct err err;
    int rc = sql_prepare(store_db(store), text, &stmt, &err);

    while (rc >= 0 && (rc = sql_step(stmt, &err)) == 1)
        if (!may_be(sim_device_truth(run->world, sql_text(stmt, 0)),
                    sql_text(stmt, 1)))
            sim_run_finds(run, "I6", "%.8s is said to be %s", sql_text(stmt, 0),
                          sql_text(stmt, 1));
    sql_free(stmt);
}

static void check_store(struct sim_run *run, struct store *store, bool fuzz)
{
    /* with another model there may be results of each */
    bool screens = !sim_scene_has_other_model(&run->world->scene) &&
                   run->world->scene.pass != SIM_PASS_BUILDS &&
                   run->world->scene.pass != SIM_PASS_SEARCH &&
                   run->world->scene.pass != SIM_PASS_RACE;

    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        const struct query *query = &queries[i];

        if ((!query->when_done || run->code == 0) &&
            (strcmp(query->check, "I3") != 0 || (screens && !fuzz)))
            ask(run, store, query);
    }
    if (!has_liar(run))
        check_truth(run, store);
}

void sim_check_rows(struct sim_run *run)
{
    struct store *stores[2] = { NULL, NULL };
    struct err err;

    for (int i = 0; i < 2; i++)
        if (access(sim_sweep_db(i == 1), F_OK) == 0 &&
            store_open(sim_sweep_db(i == 1), STORE_READ, &stores[i], &err) < 0)
            sim_run_finds(run, "exit", "the database: %s", err.text);
    for (int i = 0; i < 2; i++)
        if (stores[i]) {
            check_store(run, stores[i], i == 1);
            sim_check_claims(run, stores[i]);
        }
    check_acknowledged(run, stores);
    check_ledger(run, stores);
    for (int i = 0; i < 2; i++)
        store_close(stores[i]);
}
