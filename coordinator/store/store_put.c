#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/store/checksum.h"
#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_internal.h"
#include "coordinator/text/decimal.h"

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
    STATEMENTS,
};

static const struct {
    const char *name;
    const char *text;
} statements[STATEMENTS] = {
    [RUN_START] = { "run_start", "INSERT INTO run(epoch, pid, machine, "
                                 "version, command) VALUES(?,?,?,?,?)" },
    [RUN_END] = { "run_end", "UPDATE run SET ending=?2, ended_utc=?3 "
                             "WHERE epoch=?1" },
    [REQUEST_PUT] = { "request_put",
                      "INSERT OR REPLACE INTO request(id, folder, file,"
                      " hosts_file, device, arch, settings)"
                      " VALUES(1,?,?,?,?,?,?)" },
    [SWEEP_PUT] = { "sweep_put",
                    "INSERT INTO sweep(key, name, folder, file, hosts_file, "
                    "spec,"
                    " device, arch, facts, configurations, passed, settings,"
                    " created_utc) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"
                    " ON CONFLICT(key) DO UPDATE SET name=excluded.name,"
                    " folder=excluded.folder, file=excluded.file,"
                    " hosts_file=excluded.hosts_file, spec=excluded.spec,"
                    " device=excluded.device, arch=excluded.arch,"
                    " facts=excluded.facts, "
                    "configurations=excluded.configurations,"
                    " passed=excluded.passed, settings=excluded.settings,"
                    /* the newest stays as old as it is: nothing changed */
                    " created_utc=iif(id=(SELECT s.id FROM sweep s ORDER BY"
                    "  s.created_utc DESC, s.id DESC LIMIT 1), created_utc,"
                    "  excluded.created_utc) RETURNING id" },
    [GATE_PUT] = { "gate_put",
                   "INSERT OR REPLACE INTO gate(sweep, position, name, kind,"
                   " rule, why, rejected_first, rejected_alone)"
                   " VALUES(?,?,?,?,?,?,nullif(?,-1),nullif(?,-1))" },
    [SHAPE_PUT] = { "shape_put",
                    "INSERT OR REPLACE INTO shape(sweep, position, name,"
                    " vars, floor_s, floor_name) VALUES(?,?,?,?,?,?)" },
    [CONFIG_PUT] = { "config_put",
                     "INSERT INTO config(key, sweep, point,"
                     " baseline, params, warnings, source_key)"
                     " VALUES(?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
                     " sweep=excluded.sweep, point=excluded.point,"
                     " baseline=excluded.baseline, params=excluded.params,"
                     " warnings=excluded.warnings,"
                     " source_key=excluded.source_key"
                     /* a run that goes on puts all that was asked for */
                     " WHERE (sweep, point, baseline, params, warnings,"
                     "  source_key) IS NOT (excluded.sweep, excluded.point,"
                     "  excluded.baseline, excluded.params,"
                     "  excluded.warnings, excluded.source_key)" },
    [STEP_PUT] = { "step_put", "INSERT INTO step(sweep, position, kind, config,"
                               " point, rung, time_s) VALUES(?,?,?,?,?,?,?)" },
    [STEPS_DROP] = { "steps_drop", "DELETE FROM step WHERE sweep=?" },
    [HOST_PUT] = { "host_put",
                   "INSERT INTO host(name, position,"
                   " rate_usd_per_h, machine, boot_id, worker_version,"
                   " toolkit, cpus, slots) VALUES(?,?,?,?,?,?,?,?,?)"
                   /* to replace it would look for its leases */
                   " ON CONFLICT DO UPDATE SET position=excluded.position,"
                   " rate_usd_per_h=excluded.rate_usd_per_h,"
                   " machine=excluded.machine, boot_id=excluded.boot_id,"
                   " worker_version=excluded.worker_version,"
                   " toolkit=excluded.toolkit, cpus=excluded.cpus,"
                   " slots=excluded.slots" },
    [GPU_PUT] = { "gpu_put", "INSERT OR REPLACE INTO gpu(uuid, host, position,"
                             " name, driver, facts) VALUES(?,?,?,?,?,?)" },
    [LEASE_PUT] = { "lease_put",
                    "INSERT INTO lease(epoch, id, config, shape, purpose,"
                    " stage, round, attempt, host, gpu, leased_utc)"
                    " VALUES(?,?,?,?,?,?,?,?,?,?,?)" },
    [LEASE_END] = { "lease_end",
                    "UPDATE lease SET ending=?3, ended_utc=?4"
                    " WHERE epoch=?1 AND id=?2 AND ended_utc IS NULL" },
    [BUILD_COUNTED] = { "build_counted",
                        "SELECT count(*) FROM build WHERE config=? AND"
                        " purpose=? AND source_key=? AND counted=1" },
    [BUILD_PUT] = { "build_put",
                    "INSERT INTO build VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                    "?,?,?,?,?,?) ON CONFLICT DO NOTHING" },
    [RESULT_PUT] = { "result_put",
                     "INSERT INTO result VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                     "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
                     " ON CONFLICT DO NOTHING" },
    [TOOL_PUT] = { "tool_put",
                   "INSERT INTO tool VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                   "?,?,?) ON CONFLICT DO NOTHING" },
    [OUTCOME_PUT] = { "outcome_put",
                      "INSERT INTO outcome(config, shape, source_key,"
                      " measure_key, outcome, reason, nonce, median_s,"
                      " attempts, settled_utc) VALUES(?,?,?,?,?,?,?,?,?,?)"
                      " ON CONFLICT DO UPDATE SET outcome=excluded.outcome,"
                      " reason=excluded.reason, nonce=excluded.nonce,"
                      " median_s=excluded.median_s,"
                      " attempts=excluded.attempts,"
                      " settled_utc=excluded.settled_utc"
                      " WHERE outcome.outcome IN ('lost','crash')"
                      /* a gate rejected it */
                      " OR (outcome.nonce IS NULL"
                      "     AND outcome.outcome='constraints')"
                      /* measured again */
                      " OR EXISTS(SELECT 1 FROM result n, result o"
                      "  WHERE n.nonce=excluded.nonce AND n.counted=1"
                      "  AND o.nonce=outcome.nonce AND n.round>o.round)" },
    [INTERVAL_PUT] = { "interval_put",
                       "INSERT INTO interval(host, epoch, start_ns, end_ns,"
                       " start_utc, category, lease)"
                       " VALUES(?,?,?,?,?,?,nullif(?,0))"
                       " ON CONFLICT DO UPDATE SET end_ns=excluded.end_ns,"
                       " category=excluded.category, lease=excluded.lease" },
    [EVENT_PUT] = { "event_put", "INSERT INTO event(at_utc, level, name, text)"
                                 " VALUES(?,?,?,?)" },
    [CONTEST_PUT] = { "contest_put",
                      "INSERT INTO contest(pass, sweep, kind, seed, blocks,"
                      " samples, alpha, floor, target, possible, cut,"
                      " proof_hours, proof_usd, started_utc)"
                      " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)" },
    [CONTEST_END] = { "contest_end", "UPDATE contest SET ending=?2,"
                                     " ended_utc=?3 WHERE pass=?1" },
    [CONTESTANT_PUT] = { "contestant_put",
                         "INSERT OR REPLACE INTO contestant(pass, position,"
                         " config, source_key, role, reason)"
                         " VALUES(?,?,?,?,?,?)" },
    [CONTEST_SHAPE_PUT] = { "contest_shape_put",
                            "INSERT INTO contest_shape(pass, position, shape,"
                            " measure_key) VALUES(?,?,?,?)" },
};

static_assert((int)STATEMENTS <= (int)STORE_STATEMENTS, "room for all");

/* Open the transaction and get a statement ready. */
static int ready(struct store *store, int id, struct err *err)
{
    int rc = store_begin(store, err);

    if (rc == 0 && !store->stmts[id])
        rc =
            sql_prepare(store->db, statements[id].text, &store->stmts[id], err);
    return rc;
}

/* Hand on an error; the first one also stops the store. */
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

/* For what must change exactly one row or more: 0 or ERR_STORE. */
static int done(int changed)
{
    return changed < 0 ? changed : 0;
}

int store_run_start(struct store *store, const struct store_run *run,
                    struct err *err)
{
    return done(put(store, RUN_START, err, "IIeee", run->epoch, run->pid,
                    run->machine, run->version, run->command));
}

int store_run_end(struct store *store, int64_t epoch, const char *ending,
                  int64_t ended_utc, struct err *err)
{
    return done(put(store, RUN_END, err, "IeI", epoch, ending, ended_utc));
}

int store_request_put(struct store *store, const struct store_request *request,
                      struct err *err)
{
    return done(put(store, REQUEST_PUT, err, "eeeeee", request->folder,
                    request->file, request->hosts_file, request->device,
                    request->arch, request->settings));
}

int store_sweep_put(struct store *store, const struct store_sweep *sweep,
                    int64_t *id, struct err *err)
{
    struct err here = { "" };
    int rc = ready(store, SWEEP_PUT, &here);

    if (rc == 0)
        rc = sql_start(store->stmts[SWEEP_PUT], &here, "eeeeeeeeeIIeI",
                       sweep->key, sweep->name, sweep->folder, sweep->file,
                       sweep->hosts_file, sweep->spec, sweep->device,
                       sweep->arch, sweep->facts, sweep->configurations,
                       sweep->passed, sweep->settings, sweep->created_utc);
    if (rc == 0)
        rc = sql_step(store->stmts[SWEEP_PUT], &here);
    if (rc < 0)
        return stopped(store, SWEEP_PUT, &here, err);
    assert(rc == 1); /* RETURNING gives a row for an update, too */
    *id = sql_int(store->stmts[SWEEP_PUT], 0);
    sql_reset(store->stmts[SWEEP_PUT]);
    store->pending++;
    return 0;
}

int store_gate_put(struct store *store, const struct store_gate *gate,
                   struct err *err)
{
    return done(put(store, GATE_PUT, err, "IIeeeeII", gate->sweep,
                    gate->position, gate->name, gate->kind, gate->rule,
                    gate->why, gate->rejected_first, gate->rejected_alone));
}

int store_shape_put(struct store *store, const struct store_shape *shape,
                    struct err *err)
{
    return done(put(store, SHAPE_PUT, err, "IIeeds", shape->sweep,
                    shape->position, shape->name, shape->vars, shape->floor_s,
                    shape->floor_name));
}

int store_config_put(struct store *store, const struct store_config *config,
                     struct err *err)
{
    return done(put(store, CONFIG_PUT, err, "eIIieee", config->key,
                    config->sweep, config->point, (int)config->baseline,
                    config->params, config->warnings, config->source_key));
}

int store_step_put(struct store *store, const struct store_step *step,
                   struct err *err)
{
    return done(put(store, STEP_PUT, err, "IIssIId", step->sweep,
                    step->position, step->kind, step->config, step->point,
                    step->rung, step->time_s));
}

int store_steps_drop(struct store *store, int64_t sweep, struct err *err)
{
    return done(put(store, STEPS_DROP, err, "I", sweep));
}

int store_host_put(struct store *store, const struct store_host *host,
                   struct err *err)
{
    return done(put(store, HOST_PUT, err, "eIdeeeeII", host->name,
                    host->position, host->rate_usd_per_h, host->machine,
                    host->boot_id, host->worker_version, host->toolkit,
                    host->cpus, host->slots));
}

int store_gpu_put(struct store *store, const struct store_gpu *gpu,
                  struct err *err)
{
    return done(put(store, GPU_PUT, err, "eeIeee", gpu->uuid, gpu->host,
                    gpu->position, gpu->name, gpu->driver, gpu->facts));
}

int store_lease_put(struct store *store, const struct store_lease *lease,
                    struct err *err)
{
    return done(put(store, LEASE_PUT, err, "IIeeeeIIeeI", lease->epoch,
                    lease->id, lease->config, lease->shape, lease->purpose,
                    lease->stage, lease->round, lease->attempt, lease->host,
                    lease->gpu, lease->leased_utc));
}

int store_lease_end(struct store *store, int64_t epoch, int64_t id,
                    const char *ending, int64_t ended_utc, struct err *err)
{
    return done(
        put(store, LEASE_END, err, "IIeI", epoch, id, ending, ended_utc));
}

/* Insert a row whose column 'counted' is at 'at' and whose last one is its
 * checksum; when it may not count, once more as evidence. */
static int put_fact(struct store *store, int id, struct sql_value *values,
                    size_t n, size_t at, struct err *err)
{
    char checksum[HASH_HEX];
    int rc = 0;

    values[n] = (struct sql_value){ .type = 't',
                                    .text = checksum,
                                    .len = HASH_HEX - 1 };
    if (values[at].integer == 1) {
        checksum_row(values, n, checksum);
        rc = put_values(store, id, values, n + 1, err);
        if (rc != 0)
            return rc;
        values[at].integer = 0;
    }
    checksum_row(values, n, checksum);
    rc = put_values(store, id, values, n + 1, err);
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
    rc = sql_int(stmt, 0) > 0;
    sql_reset(stmt);
    return rc;
}

int store_build_put(struct store *store, const struct store_build *build,
                    struct err *err)
{
    struct sql_value values[SQL_VALUES_MAX];
    int counted = build_is_counted(store, build, err);
    size_t n;

    if (counted < 0)
        return counted;
    n = sql_values(values, "eIeeIeeeeeeIdiIIIeiI", build->nonce, build->epoch,
                   build->config, build->purpose, build->attempt,
                   build->source_key, build->build_key, build->host,
                   build->outcome, build->detail, build->artifact,
                   build->artifact_bytes, build->seconds, (int)build->cached,
                   build->registers, build->spill_bytes, build->static_smem,
                   build->log, !counted && !build->evidence,
                   build->received_utc);
    return put_fact(store, BUILD_PUT, values, n, n - 2, err);
}

static void add_real(struct buf *json, double real)
{
    char text[DECIMAL_BYTES];

    if (isfinite(real))
        buf_add(json, text, decimal_text(real, text));
    else
        buf_add(json, "null", 4);
}

static const char *json_array(struct buf *json, struct reals reals)
{
    buf_clear(json);
    buf_add(json, "[", 1);
    for (size_t i = 0; i < reals.n; i++) {
        if (i)
            buf_add(json, ",", 1);
        add_real(json, reals.items[i]);
    }
    buf_add(json, "]", 1);
    assert(!json->truncated); /* MSG_SAMPLES_MAX numbers fit */
    return buf_text(json);
}

int store_result_put(struct store *store, const struct store_result *result,
                     struct err *err)
{
    struct sql_value values[SQL_VALUES_MAX];
    struct buf *json = store->json;
    size_t n = sql_values(
        values, "eIeeeIIeeeeeeeeddIeeeeieeeeddIIIiI", result->nonce,
        result->epoch, result->config, result->shape, result->purpose,
        result->round, result->attempt, result->source_key, result->measure_key,
        result->host, result->gpu, result->artifact, result->outcome,
        result->detail, result->argument, result->relative_l2,
        result->max_error, result->max_at,
        json_array(&json[0], result->samples), result->sampling,
        json_array(&json[1], result->rejected), result->l2,
        (int)result->blocked, json_array(&json[2], result->clock_mhz),
        json_array(&json[3], result->temp_c),
        json_array(&json[4], result->power_w),
        json_array(&json[5], result->throttle), result->held_s, result->seconds,
        result->registers, result->spill_bytes, result->static_smem,
        (int)!result->evidence, result->received_utc);

    return put_fact(store, RESULT_PUT, values, n, n - 2, err);
}

int store_tool_put(struct store *store, const struct store_tool *tool,
                   struct err *err)
{
    struct sql_value values[SQL_VALUES_MAX];
    size_t n = sql_values(values, "eIeeeeIIeeeeeIeediI", tool->nonce,
                          tool->epoch, tool->purpose, tool->name, tool->config,
                          tool->shape, tool->round, tool->attempt, tool->key,
                          tool->host, tool->gpu, tool->outcome, tool->detail,
                          tool->status, tool->output, tool->log, tool->seconds,
                          (int)!tool->evidence, tool->received_utc);

    return put_fact(store, TOOL_PUT, values, n, n - 2, err);
}

int store_outcome_put(struct store *store, const struct store_outcome *outcome,
                      struct err *err)
{
    return put(store, OUTCOME_PUT, err, "eeeeeesdII", outcome->config,
               outcome->shape, outcome->source_key, outcome->measure_key,
               outcome->outcome, outcome->reason, outcome->nonce,
               outcome->median_s, outcome->attempts, outcome->settled_utc);
}

int store_interval_put(struct store *store,
                       const struct store_interval *interval, struct err *err)
{
    return done(put(store, INTERVAL_PUT, err, "eIIIIeI", interval->host,
                    interval->epoch, interval->start_ns, interval->end_ns,
                    interval->start_utc, interval->category, interval->lease));
}

int store_event(struct store *store, const struct store_event *event,
                struct err *err)
{
    return done(put(store, EVENT_PUT, err, "Ieee", event->at_utc, event->level,
                    event->name, event->text));
}

int store_contest_put(struct store *store,
                      const struct store_contest *confirmation, struct err *err)
{
    return done(
        put(store, CONTEST_PUT, err, "IIeIIIdddIdddI", confirmation->pass,
            confirmation->sweep, confirmation->kind, confirmation->seed,
            confirmation->blocks, confirmation->samples, confirmation->alpha,
            confirmation->floor, confirmation->target, confirmation->possible,
            confirmation->cut, confirmation->proof_hours,
            confirmation->proof_usd, confirmation->started_utc));
}

int store_contest_end(struct store *store, int64_t pass, const char *ending,
                      int64_t ended_utc, struct err *err)
{
    return done(put(store, CONTEST_END, err, "IeI", pass, ending, ended_utc));
}

int store_contestant_put(struct store *store,
                         const struct store_contestant *candidate,
                         struct err *err)
{
    return done(put(store, CONTESTANT_PUT, err, "IIeeee", candidate->pass,
                    candidate->position, candidate->config,
                    candidate->source_key, candidate->role, candidate->reason));
}

int store_contest_shape_put(struct store *store,
                            const struct store_contest_shape *shape,
                            struct err *err)
{
    return done(put(store, CONTEST_SHAPE_PUT, err, "IIee", shape->pass,
                    shape->position, shape->shape, shape->measure_key));
}
