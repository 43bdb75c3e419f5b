/* Why a run hangs, for whoever reads the finding.  Unlike the checks, this also
 * looks into the world. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/msg.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "tests/simulation/sim_check.h"
#include "tests/simulation/sim_leases.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_sweep.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/sim_world.h"

#define SILENT_NS (20 * NS_PER_S)

static int64_t heard_ns(const struct sim_trace *trace, int host)
{
    for (size_t i = trace->n; i > 0; i--)
        if (trace->records[i - 1].kind == SIM_TAKEN &&
            trace->records[i - 1].host == host)
            return trace->records[i - 1].at_ns;
    return 0;
}

static const char *state_of(const struct sim_world *world,
                            const struct sim_lease *out)
{
    const struct sim_worker *worker = world->hosts[out->host].worker;
    const struct lease *lease =
        worker && worker->queue
            ? queue_find(worker->queue, world->life.epoch, out->lease)
            : NULL;

    if (world->boot_ns - heard_ns(&world->trace, out->host) > SILENT_NS)
        return "the host is silent";
    if (!lease)
        return "its worker does not know of it";
    if (lease->running)
        return "it runs";
    return queue_lease_is_waiting(lease) ? "its worker does not start it"
                                         : "it waits for a file";
}

static void say(struct buf *to, const char *text)
{
    buf_printf(to, "%s%s", to->len ? "; " : "", text);
}

static void say_leases(const struct sim_run *run, struct buf *to)
{
    const struct sim_world *world = run->world;
    struct sim_leases leases = { .trace = &world->trace };
    char text[160];

    for (size_t i = 0; i < world->trace.n; i++)
        sim_leases_take(&leases, i);
    if (leases.n == 0)
        say(to, "no lease is out");
    for (size_t i = 0; i < leases.n; i++) {
        snprintf(text, sizeof(text), "lease %lld of host %d since %.0f s: %s",
                 (long long)leases.out[i].lease, leases.out[i].host,
                 (double)leases.out[i].since_ns / (double)NS_PER_S,
                 state_of(world, &leases.out[i]));
        say(to, text);
    }
    sim_leases_fini(&leases);
}

static bool was_sent(const struct sim_trace *trace, int64_t epoch,
                     int64_t lease)
{
    for (size_t i = 0; i < trace->n; i++) {
        const struct sim_record *r = &trace->records[i];

        if (r->kind == SIM_SENT && r->epoch == epoch && r->lease == lease &&
            r->type != MSG_ACK)
            return true;
    }
    return false;
}

/* Leases that the coordinator adopted because a HELLO named them. */
static void say_adopted(const struct sim_run *run, bool fuzz, struct buf *to)
{
    static const char text[] =
        "SELECT id, host FROM lease WHERE epoch=?1 AND ending IS NULL";
    struct sqlite3_stmt *stmt = NULL;
    struct store *store;
    struct err err;
    char line[160];
    int rc = store_open(sim_sweep_db(fuzz), STORE_READ, &store, &err);

    if (rc < 0)
        return;
    rc = sql_prepare(store_db(store), text, &stmt, &err);
    if (rc == 0)
        rc = sql_start(stmt, &err, "I", run->world->life.epoch);
    while (rc >= 0 && (rc = sql_step(stmt, &err)) == 1)
        if (!was_sent(&run->world->trace, run->world->life.epoch,
                      sql_int(stmt, 0))) {
            snprintf(line, sizeof(line), "lease %lld of %.64s was adopted",
                     (long long)sql_int(stmt, 0), sql_text(stmt, 1));
            say(to, line);
        }
    sql_free(stmt);
    store_close(store);
}

static void say_hosts(const struct sim_world *world, struct buf *to)
{
    char text[160];

    for (size_t i = 0; i < world->scene.n_hosts; i++) {
        int64_t ns = world->boot_ns - heard_ns(&world->trace, (int)i);

        if (ns < SILENT_NS)
            continue;
        snprintf(text, sizeof(text), "host %zu is silent for %.0f s", i,
                 (double)ns / (double)NS_PER_S);
        say(to, text);
    }
}

void sim_stuck_why(const struct sim_run *run, bool fuzz, char *text,
                   size_t size)
{
    struct buf why;

    buf_init(&why, size - 1);
    say_leases(run, &why);
    say_adopted(run, fuzz, &why);
    say_hosts(run->world, &why);
    memcpy(text, buf_text(&why), why.len + 1);
    buf_fini(&why);
}
