/* I4: a host gets no lease for saying that it runs what it was never sent. */
#include "common/msg.h"
#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_world.h"

static bool was_sent(const struct sim_trace *trace, int host, int id)
{
    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];

        if (r->kind == SIM_SENT && r->host == host && r->id == id)
            return true;
    }
    return false;
}

static bool has_lease(struct store *store, const char *host, const char *id)
{
    static const char text[] =
        "SELECT 1 FROM lease WHERE host=?1 AND config||'/'||shape||'/'||purpose"
        "||'/'||round||'/'||stage=?2";
    struct sqlite3_stmt *stmt = NULL;
    struct err err;
    bool has = sql_prepare(store_db(store), text, &stmt, &err) == 0 &&
               sql_start(stmt, &err, "ss", host, id) == 0 &&
               sql_step(stmt, &err) == 1;

    sql_free(stmt);
    return has;
}

void sim_check_claims(struct sim_run *run, struct store *store)
{
    const struct sim_trace *trace = &run->world->trace;

    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];
        const char *host, *id;

        if (r->kind != SIM_TAKEN || r->type != MSG_HELLO || r->lease == 0 ||
            run->world->scene.vices[r->host] != SIM_CLAIMS ||
            was_sent(trace, r->host, r->id))
            continue;
        host = run->world->scene.hosts[r->host].name;
        id = sim_trace_text(trace, r->id);
        if (has_lease(store, host, id))
            sim_run_finds(run, "I4", "%s holds %s, which it was never sent",
                          host, id);
    }
}
