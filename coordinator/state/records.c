/* The rows that the reactor writes: messages and state. */
#include "coordinator/state/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/msg.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/state/reactor.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/text/exit_code.h"

#define FACTS_JSON_MAX 8192
#define FACT_NAME "abcdefghijklmnopqrstuvwxyz0123456789_"

void records_dirty(struct sweep *sweep)
{
    commit_pace_row(&sweep->mail.pace, false, reactor_now(sweep));
}

/* If a row cannot be written, the sweep ends: only results on disk may be
 * acknowledged. */
static int put_row(struct sweep *sweep, bool patient, int rc,
                   const struct err *err)
{
    if (rc < 0)
        reactor_fail(sweep, EXIT_DATABASE, err);
    else
        commit_pace_row(&sweep->mail.pace, patient, reactor_now(sweep));
    return rc;
}

static int put(struct sweep *sweep, int rc, const struct err *err)
{
    return put_row(sweep, false, rc, err);
}

void records_put_event(struct sweep *sweep, const char *level, const char *name,
                       const char *text)
{
    struct store_event row = { reactor_utc(sweep), level, name, text };
    struct err err;

    put(sweep, store_event(sweep->mail.store, &row, &err), &err);
}

int records_put_build(struct sweep *sweep, size_t host, const struct msg *msg,
                      const char *source_key, bool evidence)
{
    const struct msg_built *built = &msg->built;
    struct store_build row = {
        .nonce = built->result.nonce,
        .epoch = msg->epoch,
        .config = built->work.id.config,
        .purpose = built->work.id.purpose,
        .attempt = built->work.id.attempt,
        .source_key = source_key,
        .build_key = built->work.key,
        .host = sweep->fleet.hosts[host].host->name,
        .outcome = built->result.outcome,
        .detail = built->result.detail,
        .artifact = built->artifact,
        .artifact_bytes = built->artifact_bytes,
        .seconds = built->result.seconds,
        .cached = built->cached,
        .registers = built->usage.registers,
        .spill_bytes = built->usage.spill_bytes,
        .static_smem = built->usage.static_smem,
        .log = built->log,
        .evidence = evidence,
        .received_utc = reactor_utc(sweep),
    };
    struct err err;

    return put(sweep, store_build_put(sweep->mail.store, &row, &err), &err);
}

int records_put_result(struct sweep *sweep, size_t host, const struct msg *msg,
                       const char *source_key, const char *measure_key,
                       bool evidence)
{
    const struct msg_measured *measured = &msg->measured;
    struct store_result row = {
        .nonce = measured->result.nonce,
        .epoch = msg->epoch,
        .id.config = measured->work.id.config,
        .id.shape = measured->work.id.shape,
        .id.purpose = measured->work.id.purpose,
        .id.round = measured->work.id.round,
        .attempt = measured->work.id.attempt,
        .id.source_key = source_key,
        .id.measure_key = measure_key,
        .host = sweep->fleet.hosts[host].host->name,
        .gpu = measured->gpu,
        .artifact = measured->artifact,
        .outcome = measured->result.outcome,
        .detail = measured->result.detail,
        .error.argument = measured->argument,
        .error.relative_l2 = measured->relative_l2,
        .error.max_error = measured->max_error,
        .error.max_at = measured->max_at,
        .timing.samples = measured->samples,
        .timing.sampling = measured->sampling,
        .timing.rejected = measured->rejected,
        .timing.l2 = measured->l2,
        .checked.launches = measured->checked.launches,
        .checked.varied = measured->checked.varied,
        .timing.blocked = measured->blocked,
        .around.clock_mhz = measured->clock_mhz,
        .around.temp_c = measured->temp_c,
        .around.power_w = measured->power_w,
        .around.throttle = measured->throttle,
        .held_s = measured->held_s,
        .seconds = measured->result.seconds,
        .use.registers = measured->usage.registers,
        .use.spill_bytes = measured->usage.spill_bytes,
        .use.static_smem = measured->usage.static_smem,
        .evidence = evidence,
        .received_utc = reactor_utc(sweep),
    };
    struct err err;

    return put(sweep, store_result_put(sweep->mail.store, &row, &err), &err);
}

int records_put_tool(struct sweep *sweep, size_t host, const struct msg *msg,
                     const char *name, bool evidence)
{
    const struct msg_ran *ran = &msg->ran;
    struct store_tool row = {
        .nonce = ran->result.nonce,
        .epoch = msg->epoch,
        .purpose = ran->work.id.purpose,
        .name = name,
        .config = ran->work.id.config,
        .shape = ran->work.id.shape,
        .round = ran->work.id.round,
        .attempt = ran->work.id.attempt,
        .key = ran->work.key,
        .host = sweep->fleet.hosts[host].host->name,
        .gpu = ran->gpu,
        .outcome = ran->result.outcome,
        .detail = ran->result.detail,
        .status = ran->status,
        .output = ran->output,
        .log = ran->log,
        .seconds = ran->result.seconds,
        .evidence = evidence,
        .received_utc = reactor_utc(sweep),
    };
    struct err err;

    return put(sweep, store_tool_put(sweep->mail.store, &row, &err), &err);
}

int records_put_outcome(struct sweep *sweep, int unit, int shape,
                        enum outcome outcome, const char *reason,
                        const char *nonce, double median_s)
{
    const struct plan_unit *u = plan_unit(sweep->work.plan, unit);
    const struct job *build = sched_job(sweep->work.sched, JOB_BUILD, unit, 0);
    const struct job *measure =
        sched_job(sweep->work.sched, JOB_MEASURE, unit, shape);
    struct store_outcome row = {
        .config = u->key,
        .shape = plan_shape_name(sweep->work.plan, shape),
        .source_key = u->source_key,
        .measure_key = plan_measure_key(sweep->work.plan, shape),
        .outcome = outcome_name(outcome),
        .reason = reason,
        .nonce = nonce,
        .median_s = median_s,
        .attempts = build->losses + measure->losses + 1,
        .settled_utc = reactor_utc(sweep),
    };
    struct err err;

    return put(sweep, store_outcome_put(sweep->mail.store, &row, &err), &err);
}

int records_put_host(struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    struct store_host row = {
        .name = host_state->host->name,
        .position = (int64_t)host,
        .rate_usd_per_h =
            host_state->host->has_rate ? host_state->host->rate : NAN,
        .machine = host_state->worker.machine,
        .boot_id = host_state->worker.boot_id,
        .worker_version = host_state->worker.version,
        .toolkit = host_state->worker.toolkit,
        .cpus = host_state->worker.cpus,
        .slots = host_state->worker.slots,
    };
    struct err err;

    return put(sweep, store_host_put(sweep->mail.store, &row, &err), &err);
}

/* The facts of a GPU as a JSON object, from lines "NAME VALUE" that
 * gpu_arch_facts_read() has accepted: each has a name. */
static char *facts_json(const struct texts *facts)
{
    struct buf buf;

    buf_init(&buf, FACTS_JSON_MAX);
    buf_printf(&buf, "{");
    for (size_t i = 0; i < facts->n; i++) {
        const char *space = strchr(facts->items[i], ' ');
        char *end;
        double value = space ? strtod(space + 1, &end) : 0;

        if (!space || end == space + 1 || *end || !isfinite(value) ||
            strspn(facts->items[i], FACT_NAME) !=
                (size_t)(space - facts->items[i]))
            continue; /* a fact that is not a number */
        buf_printf(&buf, "%s\"%.*s\":%.17g", buf.len > 1 ? "," : "",
                   (int)(space - facts->items[i]), facts->items[i], value);
    }
    buf_printf(&buf, "}");
    return buf.bytes;
}

int records_put_gpu(struct sweep *sweep, size_t host, const char *name,
                    const struct msg *msg)
{
    char *facts = facts_json(&msg->gpu.facts);
    struct store_gpu row = {
        .uuid = msg->gpu.uuid,
        .host = sweep->fleet.hosts[host].host->name,
        .position = msg->gpu.index,
        .name = name,
        .driver = msg->gpu.driver,
        .facts = facts,
    };
    struct err err;
    int rc = put(sweep, store_gpu_put(sweep->mail.store, &row, &err), &err);

    free(facts);
    return rc;
}

void records_put_ready(struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    struct store_ready row = {
        .host = host_state->host->name,
        .at_utc = reactor_utc(sweep),
        .boot_id = host_state->worker.boot_id,
        .worker_version = host_state->worker.version,
        .toolkit = host_state->worker.toolkit,
    };
    struct err err;
    int rc = 0;

    for (int i = -1; i < host_state->n_gpus && rc == 0; i++) {
        row.gpu = i < 0 ? "" : host_state->gpus[i].uuid;
        row.driver = i < 0 ? "" : host_state->gpus[i].driver;
        rc = put(sweep, store_ready_put(sweep->mail.store, &row, &err), &err);
    }
}

int records_put_lease(struct sweep *sweep, const struct sched_lease *lease,
                      const struct msg *msg)
{
    const struct msg_identity *id = &msg_work(msg)->id;
    const struct msg_launch *launch = msg_launch(msg);
    struct store_lease row = {
        .epoch = sweep->reactor.epoch,
        .id = lease->id,
        .config = id->config,
        .shape = id->shape,
        .purpose = id->purpose,
        .stage = id->stage,
        .round = id->round,
        .attempt = lease->attempt,
        .host = sweep->fleet.hosts[lease->host].host->name,
        .gpu = launch ? launch->gpu : "",
        .leased_utc = reactor_utc(sweep),
    };
    struct err err;

    return put(sweep, store_lease_put(sweep->mail.store, &row, &err), &err);
}

void records_end_lease(struct sweep *sweep, const struct sched_lease *lease,
                       const char *ending, enum ledger_category category)
{
    struct err err;

    put(sweep,
        store_lease_end(sweep->mail.store, sweep->reactor.epoch, lease->id,
                        ending, reactor_utc(sweep), &err),
        &err);
    ledger_end(sweep->fleet.ledger, lease->host, lease->id, category,
               reactor_now(sweep));
}

static void put_interval(struct sweep *sweep, const struct kept_interval *kept)
{
    const struct ledger_interval *interval = &kept->is;
    struct store_interval row = {
        .host = sweep->fleet.hosts[interval->host].host->name,
        .epoch = sweep->reactor.epoch,
        .start_ns = interval->start_ns,
        .end_ns = interval->end_ns,
        .start_utc = kept->start_utc,
        .category = ledger_category_name(interval->category),
        .lease = interval->lease,
    };
    struct err err;

    put_row(sweep, true, store_interval_put(sweep->mail.store, &row, &err),
            &err);
}

static void put_intervals(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->mail.n_intervals; i++)
        put_interval(sweep, &sweep->mail.intervals[i]);
    sweep->mail.n_intervals = 0;
}

/* Of a machine that start= acquired, by the clock of its acquisition; others
 * are compared with clocks elsewhere, as those of Slurm are. */
static int64_t began_utc(const struct sweep *sweep, int host, int64_t start_ns)
{
    bool is_rented = host_is_rented(sweep->fleet.hosts[host].host);

    return (is_rented ? reactor_steady_utc(sweep) : reactor_utc(sweep)) -
           (reactor_now(sweep) - start_ns);
}

/* The ledger's 'emit'. */
void records_put_interval(void *arg, const struct ledger_interval *interval)
{
    struct sweep *sweep = arg;

    sweep->mail.intervals[sweep->mail.n_intervals++] =
        (struct kept_interval){ *interval, began_utc(sweep, interval->host,
                                                     interval->start_ns) };
    if (sweep->mail.n_intervals == MAIL_INTERVALS_MAX)
        put_intervals(sweep);
}

static const char *phase_of(const struct sweep_options *options)
{
    if (options->builds_only)
        return "builds";
    if (options->tool)
        return "profile";
    if (!options->ask)
        return "search";
    if (!options->confirmation)
        return "proof";
    return options->confirmation->kind == CONFIRMATION_BENCH ? "bench"
                                                             : "confirm";
}

/* The ledger's 'emit_held', which comes every second, and when a host is no
 * longer held: what it was held for comes before. */
void records_put_held(void *arg, const struct ledger_held *held)
{
    struct sweep *sweep = arg;
    struct store_held row = {
        .host = sweep->fleet.hosts[held->host].host->name,
        .epoch = sweep->reactor.epoch,
        .start_ns = held->start_ns,
        .end_ns = held->end_ns,
        .start_utc = began_utc(sweep, held->host, held->start_ns),
        .rate_usd_per_h = held->rate_usd_per_h,
        .phase = phase_of(sweep->reactor.options),
    };
    struct err err;

    put_intervals(sweep);
    put(sweep, store_held_put(sweep->mail.store, &row, &err), &err);
}

void records_cut(struct sweep *sweep, size_t host, int64_t from_ns)
{
    const struct store_span span = {
        .host = sweep->fleet.hosts[host].host->name,
        .epoch = sweep->reactor.epoch,
        .from_ns = from_ns,
        .to_ns = INT64_MAX,
    };
    struct err err;

    put(sweep, store_held_cut(sweep->mail.store, &span, &err), &err);
}
