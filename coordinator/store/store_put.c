#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/checksum.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_acquisition.h"
#include "coordinator/store/store_contest.h"
#include "coordinator/store/store_held.h"
#include "coordinator/store/store_internal.h"
#include "coordinator/store/tally.h"
#include "coordinator/store/whole.h"

enum {
    RUN_START,
    RUN_END,
    REQUEST_PUT,
    SWEEP_PUT,
    GATE_PUT,
    SHAPE_PUT,
    CONFIG_PUT,
    STEP_PUT,
    STEPS_DROP,
    HOST_PUT,
    GPU_PUT,
    LEASE_PUT,
    LEASE_END,
    BUILD_COUNTED,
    BUILD_PUT,
    RESULT_PUT,
    TOOL_PUT,
    OUTCOME_PUT,
    INTERVAL_PUT,
    EVENT_PUT,
    CONTEST_PUT,
    CONTEST_END,
    CONTESTANT_PUT,
    CONTEST_SHAPE_PUT,
    ACQUISITION_PUT,
    HELD_PUT,
    HELD_DROP,
    INTERVAL_DROP,
    READY_PUT,
    RUN_SEAL,
    SWEEP_SEAL,
    EVENT_SEAL,
    CONTEST_SEAL,
    STATEMENTS,
};

#define ROW(shape) .row = &(shape), .verb = "INSERT"
#define REPLACE(shape) .row = &(shape), .verb = "INSERT OR REPLACE"
#define IN_SPAN " WHERE host=? AND epoch=? AND end_ns>? AND start_ns<?"
#define FACT(shape) ROW(shape), .tail = " ON CONFLICT DO NOTHING"

/* Insert a row by its shape; end or seal a row of a table (whole.h), which
 * 'tail' names; or run 'text'. */
static const struct {
    const char *name;
    const struct row_shape *row;
    const char *verb, *tail; /* before and after the columns */
    const char *text, *ends, *seals;
} statements[STATEMENTS] = {
    [RUN_START] = { "run_start", ROW(store_rows_run) },
    [RUN_END] = { "run_end", .ends = "run", .tail = "epoch=?3" },
    [REQUEST_PUT] = { "request_put", REPLACE(store_rows_request) },
    [SWEEP_PUT] = { "sweep_put", ROW(store_rows_sweep),
                    .tail =
                        " ON CONFLICT(key) DO UPDATE SET name=excluded.name,"
                        " folder=excluded.folder, file=excluded.file,"
                        " hosts_file=excluded.hosts_file, spec=excluded.spec,"
                        " device=excluded.device, arch=excluded.arch,"
                        " facts=excluded.facts, "
                        "configurations=excluded.configurations,"
                        " passed=excluded.passed, settings=excluded.settings,"
                        /* the newest sweep keeps its date, because nothing
                           changed */
                        " created_utc=iif(id=(SELECT s.id FROM sweep s ORDER BY"
                        "  s.created_utc DESC, s.id DESC LIMIT 1), created_utc,"
                        "  excluded.created_utc),"
                        " checksum=tally_swap('sweep', checksum, 0)"
                        " RETURNING id" },
    [GATE_PUT] = { "gate_put", REPLACE(store_rows_gate) },
    [SHAPE_PUT] = { "shape_put", REPLACE(store_rows_shape) },
    [CONFIG_PUT] = { "config_put", ROW(store_rows_config),
                     .tail =
                         " ON CONFLICT DO UPDATE SET"
                         " sweep=excluded.sweep, point=excluded.point,"
                         " baseline=excluded.baseline, params=excluded.params,"
                         " warnings=excluded.warnings,"
                         " source_key=excluded.source_key,"
                         " checksum=tally_swap('config', config.checksum,"
                         "  excluded.checksum)"
                         /* a resumed run puts all configurations again */
                         " WHERE (sweep, point, baseline, params, warnings,"
                         "  source_key, checksum) IS NOT (excluded.sweep,"
                         "  excluded.point, excluded.baseline,"
                         "  excluded.params, excluded.warnings,"
                         "  excluded.source_key, excluded.checksum)" },
    [STEP_PUT] = { "step_put", ROW(store_rows_step) },
    [STEPS_DROP] = { "steps_drop", .text = "DELETE FROM step WHERE sweep=?" },
    [HOST_PUT] = { "host_put", ROW(store_rows_host),
                   /* replacing it would check its leases */
                   .tail =
                       " ON CONFLICT DO UPDATE SET position=excluded.position,"
                       " rate_usd_per_h=excluded.rate_usd_per_h,"
                       " machine=excluded.machine, boot_id=excluded.boot_id,"
                       " worker_version=excluded.worker_version,"
                       " toolkit=excluded.toolkit, cpus=excluded.cpus,"
                       " slots=excluded.slots,"
                       " checksum=tally_swap('host', host.checksum,"
                       "  excluded.checksum)" },
    [GPU_PUT] = { "gpu_put", REPLACE(store_rows_gpu) },
    [LEASE_PUT] = { "lease_put", ROW(store_rows_lease) },
    [LEASE_END] = { "lease_end", .ends = "lease",
                    .tail = "epoch=?3 AND id=?4 AND ended_utc IS NULL" },
    [BUILD_COUNTED] = { "build_counted",
                        .text = "SELECT count(*) FROM build WHERE config=? AND"
                                " purpose=? AND source_key=? AND counted=1" },
    [BUILD_PUT] = { "build_put", FACT(store_facts_build) },
    [RESULT_PUT] = { "result_put", FACT(store_facts_result) },
    [TOOL_PUT] = { "tool_put", FACT(store_facts_tool) },
    [OUTCOME_PUT] = { "outcome_put", ROW(store_facts_outcome),
                      .tail =
                          " ON CONFLICT DO UPDATE SET outcome=excluded.outcome,"
                          " reason=excluded.reason, nonce=excluded.nonce,"
                          " median_s=excluded.median_s,"
                          " attempts=excluded.attempts,"
                          " settled_utc=excluded.settled_utc,"
                          " checksum=tally_swap('outcome', outcome.checksum,"
                          "  excluded.checksum)"
                          " WHERE outcome.outcome IN ('lost','crash')"
                          /* a gate rejected it */
                          " OR (outcome.nonce IS NULL"
                          "     AND outcome.outcome='constraints')"
                          /* measured again */
                          " OR EXISTS(SELECT 1 FROM result n, result o"
                          "  WHERE n.nonce=excluded.nonce AND n.counted=1"
                          "  AND o.nonce=outcome.nonce AND n.round>o.round)" },
    [INTERVAL_PUT] = { "interval_put", ROW(store_rows_interval),
                       .tail =
                           " ON CONFLICT DO UPDATE SET end_ns=excluded.end_ns,"
                           " category=excluded.category, "
                           "lease=excluded.lease,"
                           /* the start stays as it was first put */
                           " checksum=tally_swap('interval', interval.checksum,"
                           " checksum_short(host, epoch, start_ns,"
                           " excluded.end_ns, start_utc, excluded.category,"
                           " excluded.lease))" },
    [EVENT_PUT] = { "event_put", ROW(store_facts_event) },
    [CONTEST_PUT] = { "contest_put", ROW(store_rows_contest) },
    [CONTEST_END] = { "contest_end", .ends = "contest", .tail = "pass=?3" },
    [CONTESTANT_PUT] = { "contestant_put", REPLACE(store_rows_contestant) },
    [CONTEST_SHAPE_PUT] = { "contest_shape_put",
                            ROW(store_rows_contest_shape) },
    [ACQUISITION_PUT] = { "acquisition_put", REPLACE(store_acquisition_shape) },
    [HELD_PUT] = { "held_put", ROW(store_rows_held),
                   .tail = " ON CONFLICT DO UPDATE SET end_ns=excluded.end_ns,"
                           /* the start stays as it was first put */
                           " checksum=tally_swap('held', held.checksum,"
                           " checksum_short(host, epoch, start_ns,"
                           " excluded.end_ns, start_utc, rate_usd_per_h,"
                           " phase))" },
    [HELD_DROP] = { "held_drop", .text = "DELETE FROM held" IN_SPAN },
    [INTERVAL_DROP] = { "interval_drop",
                        .text = "DELETE FROM interval" IN_SPAN },
    [READY_PUT] = { "ready_put", REPLACE(store_rows_ready) },
    [RUN_SEAL] = { "run_seal", .seals = "run", .tail = "epoch=?1" },
    [SWEEP_SEAL] = { "sweep_seal", .seals = "sweep", .tail = "id=?1" },
    [EVENT_SEAL] = { "event_seal", .seals = "event", .tail = "id=?1" },
    [CONTEST_SEAL] = { "contest_seal", .seals = "contest", .tail = "pass=?1" },
};

static_assert((int)STATEMENTS <= (int)STORE_STATEMENTS, "room for all");

/* The text of a statement; NULL is ERR_STORE. */
static char *text_of(struct store *store, int id, struct err *err)
{
    const char *tail = statements[id].tail ? statements[id].tail : "";

    if (statements[id].row)
        return row_insert_text(statements[id].row, statements[id].verb, tail);
    if (statements[id].ends)
        return whole_end_text(store->db, statements[id].ends, tail, err);
    if (statements[id].seals)
        return whole_seal_text(store->db, statements[id].seals, tail, err);
    return mem_strdup(statements[id].text);
}

/* Open the transaction and get a statement ready. */
static int ready(struct store *store, int id, struct err *err)
{
    char *text;
    int rc = store_begin(store, err);

    if (rc < 0 || store->stmts[id])
        return rc;
    text = text_of(store, id, err);
    rc =
        text ? sql_prepare(store->db, text, &store->stmts[id], err) : ERR_STORE;
    free(text);
    if (statements[id].row)
        store->tables[id] = tally_find(statements[id].row->table);
    return rc;
}

/* Return the error; the first one also stops the store. */
static int stopped(struct store *store, int id, struct err *here,
                   struct err *err)
{
    if (!store->failed)
        store_fail(store, statements[id].name, here);
    return err_set(err, ERR_STORE, "%s", here->text);
}

/* Run a statement; the number of rows it changed, or ERR_STORE. */
static int put_values(struct store *store, int id,
                      const struct sql_value *values, size_t n, struct err *err)
{
    struct err here = { "" };
    int rc = ready(store, id, &here);

    if (rc == 0)
        rc = sql_exec_values(store->stmts[id], values, n, &here);
    if (rc < 0)
        return stopped(store, id, &here, err);
    store->pending++;
    return rc;
}

static int put(struct store *store, int id, struct err *err, const char *types,
               ...)
{
    struct sql_value values[SQL_VALUES_MAX];
    va_list ap;
    size_t n;

    va_start(ap, types);
    n = sql_values_va(values, types, ap);
    va_end(ap);
    return put_values(store, id, values, n, err);
}

static const struct sql_value unsealed = { .type = 'I' }; /* the default */

/* Insert a row with this checksum; what put_values() returns. */
static int put_counted(struct store *store, int id,
                       const struct sql_value *values, size_t n,
                       const struct sql_value *checksum, struct err *err)
{
    int rc;

    tally_expect(store->tally);
    rc = put_values(store, id, values, n, err);
    if (rc > 0)
        tally_comes(store->tally, store->tables[id], checksum);
    return rc;
}

static bool has_checksum(const struct row_shape *shape)
{
    return strcmp(shape->columns[shape->n - 1].name, "checksum") == 0;
}

/* Insert a row; what put_values() returns. */
static int put_row(struct store *store, int id, const void *row,
                   struct err *err)
{
    struct sql_value values[SQL_VALUES_MAX];
    size_t n = row_values(statements[id].row, row, NULL, values);

    if (!has_checksum(statements[id].row))
        return put_counted(store, id, values, n, &unsealed, err);
    values[n - 1].type = 'I';
    values[n - 1].integer = checksum_short(values, n - 1);
    return put_counted(store, id, values, n, &values[n - 1], err);
}

/* Put the checksum of a row that SQLite completed. */
static int seal(struct store *store, int id, int64_t key, struct err *err)
{
    const struct sql_value value = { .type = 'I', .integer = key };
    struct err here = { "" };
    int rc = ready(store, id, &here);

    if (rc == 0)
        rc = sql_exec_values(store->stmts[id], &value, 1, &here);
    return rc < 0 ? stopped(store, id, &here, err) : 0;
}

int store_run_start(struct store *store, const struct store_run *run,
                    struct err *err)
{
    int rc = put_row(store, RUN_START, run, err);

    return rc < 0 ? rc : seal(store, RUN_SEAL, run->epoch, err);
}

int store_run_end(struct store *store, int64_t epoch, const char *ending,
                  int64_t ended_utc, struct err *err)
{
    return err_only(put(store, RUN_END, err, "eII", ending, ended_utc, epoch));
}

int store_request_put(struct store *store, const struct store_request *request,
                      struct err *err)
{
    return err_only(put_row(store, REQUEST_PUT, request, err));
}

int store_sweep_put(struct store *store, const struct store_sweep *sweep,
                    int64_t *id, struct err *err)
{
    struct sql_value values[SQL_VALUES_MAX];
    size_t n = row_values(&store_rows_sweep, sweep, NULL, values);
    struct err here = { "" };
    int rc = ready(store, SWEEP_PUT, &here);

    tally_expect(store->tally);
    if (rc == 0)
        rc = sql_bind(store->stmts[SWEEP_PUT], values, n, &here);
    if (rc == 0)
        rc = sql_step(store->stmts[SWEEP_PUT], &here);
    if (rc < 0)
        return stopped(store, SWEEP_PUT, &here, err);
    assert(rc == 1); /* RETURNING gives a row for an update, too */
    tally_comes(store->tally, store->tables[SWEEP_PUT], &unsealed);
    *id = sql_only_int(store->stmts[SWEEP_PUT]);
    sql_reset(store->stmts[SWEEP_PUT]);
    store->pending++;
    return seal(store, SWEEP_SEAL, *id, err);
}

int store_gate_put(struct store *store, const struct store_gate *gate,
                   struct err *err)
{
    return err_only(put_row(store, GATE_PUT, gate, err));
}

int store_shape_put(struct store *store, const struct store_shape *shape,
                    struct err *err)
{
    return err_only(put_row(store, SHAPE_PUT, shape, err));
}

int store_config_put(struct store *store, const struct store_config *config,
                     struct err *err)
{
    return err_only(put_row(store, CONFIG_PUT, config, err));
}

int store_step_put(struct store *store, const struct store_step *step,
                   struct err *err)
{
    return err_only(put_row(store, STEP_PUT, step, err));
}

int store_steps_drop(struct store *store, int64_t sweep, struct err *err)
{
    return err_only(put(store, STEPS_DROP, err, "I", sweep));
}

int store_host_put(struct store *store, const struct store_host *host,
                   struct err *err)
{
    return err_only(put_row(store, HOST_PUT, host, err));
}

int store_gpu_put(struct store *store, const struct store_gpu *gpu,
                  struct err *err)
{
    return err_only(put_row(store, GPU_PUT, gpu, err));
}

int store_lease_put(struct store *store, const struct store_lease *lease,
                    struct err *err)
{
    return err_only(put_row(store, LEASE_PUT, lease, err));
}

int store_lease_end(struct store *store, int64_t epoch, int64_t id,
                    const char *ending, int64_t ended_utc, struct err *err)
{
    return err_only(
        put(store, LEASE_END, err, "eIII", ending, ended_utc, epoch, id));
}

static void add_checksum(struct sql_value *values, size_t n,
                         char checksum[HASH_HEX])
{
    checksum_row(values, n - 1, checksum);
    values[n - 1] = (struct sql_value){ .type = 't',
                                        .text = checksum,
                                        .len = HASH_HEX - 1 };
}

/* Insert a fact and its checksum; when it may not count, once more as
 * evidence. */
static int put_fact(struct store *store, int id, const void *row,
                    struct err *err)
{
    const struct row_shape *shape = statements[id].row;
    struct sql_value values[SQL_VALUES_MAX];
    size_t n = row_values(shape, row, store->json, values);
    struct sql_value *counted = &values[row_place(shape, "counted")];
    char checksum[HASH_HEX];
    int rc = 0;

    if (counted->integer == 1) {
        add_checksum(values, n, checksum);
        rc = put_counted(store, id, values, n, &values[n - 1], err);
        if (rc != 0)
            return rc;
        counted->integer = 0;
    }
    add_checksum(values, n, checksum);
    rc = put_counted(store, id, values, n, &values[n - 1], err);
    if (rc == 0)
        store->repeats++;
    return rc > 0 ? 2 : rc;
}

static int build_is_counted(struct store *store,
                            const struct store_build *build, struct err *err)
{
    struct err here = { "" };
    int rc = ready(store, BUILD_COUNTED, &here);
    struct sqlite3_stmt *stmt = store->stmts[BUILD_COUNTED];

    if (rc == 0)
        rc = sql_start(stmt, &here, "eee", build->config, build->purpose,
                       build->source_key);
    if (rc == 0)
        rc = sql_step(stmt, &here);
    if (rc < 0)
        return stopped(store, BUILD_COUNTED, &here, err);
    rc = sql_only_int(stmt) > 0;
    sql_reset(stmt);
    return rc;
}

int store_build_put(struct store *store, const struct store_build *build,
                    struct err *err)
{
    struct store_build row = *build;
    int counted = build_is_counted(store, build, err);

    if (counted < 0)
        return counted;
    row.evidence = counted || build->evidence;
    return put_fact(store, BUILD_PUT, &row, err);
}

int store_result_put(struct store *store, const struct store_result *result,
                     struct err *err)
{
    return put_fact(store, RESULT_PUT, result, err);
}

int store_tool_put(struct store *store, const struct store_tool *tool,
                   struct err *err)
{
    return put_fact(store, TOOL_PUT, tool, err);
}

int store_outcome_put(struct store *store, const struct store_outcome *outcome,
                      struct err *err)
{
    return put_row(store, OUTCOME_PUT, outcome, err);
}

int store_interval_put(struct store *store,
                       const struct store_interval *interval, struct err *err)
{
    return err_only(put_row(store, INTERVAL_PUT, interval, err));
}

int store_event(struct store *store, const struct store_event *event,
                struct err *err)
{
    int rc = put_row(store, EVENT_PUT, event, err);

    return rc < 0 ? rc
                  : seal(store, EVENT_SEAL,
                         sqlite3_last_insert_rowid(store->db), err);
}

int store_contest_put(struct store *store, const struct store_contest *row,
                      struct err *err)
{
    int rc = put_row(store, CONTEST_PUT, row, err);

    return rc < 0 ? rc : seal(store, CONTEST_SEAL, row->pass, err);
}

int store_contest_end(struct store *store, int64_t pass, const char *ending,
                      int64_t ended_utc, struct err *err)
{
    return err_only(
        put(store, CONTEST_END, err, "eII", ending, ended_utc, pass));
}

int store_contestant_put(struct store *store,
                         const struct store_contestant *row, struct err *err)
{
    return err_only(put_row(store, CONTESTANT_PUT, row, err));
}

int store_contest_shape_put(struct store *store,
                            const struct store_contest_shape *row,
                            struct err *err)
{
    return err_only(put_row(store, CONTEST_SHAPE_PUT, row, err));
}

int store_acquisition_put(struct store *store,
                          const struct store_acquisition *row, struct err *err)
{
    return err_only(put_row(store, ACQUISITION_PUT, row, err));
}

int store_held_put(struct store *store, const struct store_held *row,
                   struct err *err)
{
    return err_only(put_row(store, HELD_PUT, row, err));
}

int store_span_drop(struct store *store, const struct store_span *span,
                    struct err *err)
{
    int rc = put(store, HELD_DROP, err, "sIII", span->host, span->epoch,
                 span->from_ns, span->to_ns);

    if (rc >= 0)
        rc = put(store, INTERVAL_DROP, err, "sIII", span->host, span->epoch,
                 span->from_ns, span->to_ns);
    return err_only(rc);
}

int store_ready_put(struct store *store, const struct store_ready *row,
                    struct err *err)
{
    return err_only(put_row(store, READY_PUT, row, err));
}
