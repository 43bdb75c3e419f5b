/* I4: a host gets no lease for saying that it runs what it was never sent.
 *
 * A coordinator commits the row of a lease before it sends the lease.  If it is
 * killed in between, the next life cannot tell this row from that of a lease
 * that arrived.  So the row of an earlier life entitles the host to its claim.
 * A row that only this life has was written because of the claim.
 */
#include "common/msg.h"
#include "coordinator/sql/sql.h"
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

/* The lease exists, and the life of this epoch was the first to write it. */
static bool is_of_claim(struct store *store, const char *host, const char *id,
                        int64_t epoch)
{
    static const char text[] =
        "SELECT coalesce(min(epoch)=?3, 0) FROM lease WHERE host=?1"
        " AND config||'/'||shape||'/'||purpose||'/'||round||'/'||stage=?2";
    struct err err;
    int64_t is = 0;

    return sql_number(store_db(store), text, &is, &err, "ssI", host, id,
                      epoch) == 0 &&
           is != 0;
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
        if (is_of_claim(store, host, id, r->epoch))
            sim_run_finds(run, "I4", "%s holds %s, which it was never sent",
                          host, id);
    }
}
