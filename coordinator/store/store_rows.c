/* Which member of a row is which column, in the order of the checksum.  A row
 * whose shape has none is sealed after it is put. */
#include "coordinator/store/store_contest.h"
#include "coordinator/store/store_rows.h"

#include "coordinator/sql/row.h"
#include "coordinator/store/store_held.h"

#define RUN(member, kind) ROW_AT(struct store_run, member, kind)
static const struct row_column run[] = {
    RUN(epoch, INT),    RUN(pid, INT),      RUN(machine, TEXT),
    RUN(version, TEXT), RUN(command, TEXT),
};
const struct row_shape store_rows_run = ROW_SHAPE("run", run);

#define REQUEST(member) ROW_AT(struct store_request, member, TEXT)
static const struct row_column request[] = {
    { "id", ROW_ONE, 0, 0 }, REQUEST(folder),
    REQUEST(file),           REQUEST(hosts_file),
    REQUEST(device),         REQUEST(arch),
    REQUEST(settings),       { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_request = ROW_SHAPE("request", request);

#define SWEEP(member, kind) ROW_AT(struct store_sweep, member, kind)
static const struct row_column sweep[] = {
    SWEEP(id, READ_INT),   SWEEP(key, TEXT),           SWEEP(name, TEXT),
    SWEEP(folder, TEXT),   SWEEP(file, TEXT),          SWEEP(hosts_file, TEXT),
    SWEEP(spec, TEXT),     SWEEP(device, TEXT),        SWEEP(arch, TEXT),
    SWEEP(facts, TEXT),    SWEEP(configurations, INT), SWEEP(passed, INT),
    SWEEP(settings, TEXT), SWEEP(created_utc, INT),
};
const struct row_shape store_rows_sweep = ROW_SHAPE("sweep", sweep);

#define GATE(member, kind) ROW_AT(struct store_gate, member, kind)
static const struct row_column gate[] = {
    GATE(sweep, INT),
    GATE(position, INT),
    GATE(name, TEXT),
    GATE(kind, TEXT),
    GATE(rule, TEXT),
    GATE(why, TEXT),
    GATE(rejected_first, COUNT),
    GATE(rejected_alone, COUNT),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_gate = ROW_SHAPE("gate", gate);

#define SHAPE(member, kind) ROW_AT(struct store_shape, member, kind)
static const struct row_column shape[] = {
    SHAPE(sweep, INT),
    SHAPE(position, INT),
    SHAPE(name, TEXT),
    SHAPE(vars, TEXT),
    SHAPE(floor_s, REAL),
    SHAPE(floor_name, NULLABLE),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_shape = ROW_SHAPE("shape", shape);

#define CONFIG(member, kind) ROW_AT(struct store_config, member, kind)
static const struct row_column config[] = {
    CONFIG(key, TEXT),        CONFIG(sweep, INT),
    CONFIG(point, INT),       CONFIG(baseline, BOOL),
    CONFIG(params, TEXT),     CONFIG(warnings, TEXT),
    CONFIG(source_key, TEXT), { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_config = ROW_SHAPE("config", config);

#define STEP(member, kind) ROW_AT(struct store_step, member, kind)
static const struct row_column step[] = {
    STEP(sweep, INT),   STEP(position, INT),
    STEP(kind, TEXT),   STEP(config, TEXT),
    STEP(point, INT),   STEP(rung, INT),
    STEP(time_s, REAL), { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_step = ROW_SHAPE("step", step);

#define HOST(member, kind) ROW_AT(struct store_host, member, kind)
static const struct row_column host[] = {
    HOST(name, TEXT),           HOST(position, INT),
    HOST(rate_usd_per_h, REAL), HOST(machine, TEXT),
    HOST(boot_id, TEXT),        HOST(worker_version, TEXT),
    HOST(toolkit, TEXT),        HOST(cpus, INT),
    HOST(slots, INT),           { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_host = ROW_SHAPE("host", host);

#define GPU(member, kind) ROW_AT(struct store_gpu, member, kind)
static const struct row_column gpu[] = {
    GPU(uuid, TEXT),
    GPU(host, TEXT),
    GPU(position, INT),
    GPU(name, TEXT),
    GPU(driver, TEXT),
    GPU(facts, TEXT),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_gpu = ROW_SHAPE("gpu", gpu);

#define LEASE(member, kind) ROW_AT(struct store_lease, member, kind)
static const struct row_column lease[] = {
    LEASE(epoch, INT),
    LEASE(id, INT),
    LEASE(config, TEXT),
    LEASE(shape, TEXT),
    LEASE(purpose, TEXT),
    LEASE(stage, TEXT),
    LEASE(round, INT),
    LEASE(attempt, INT),
    LEASE(host, TEXT),
    LEASE(gpu, TEXT),
    LEASE(leased_utc, INT),
    { "ended_utc", ROW_LATER, 0, 0 },
    { "ending", ROW_LATER, 0, 0 },
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_lease = ROW_SHAPE("lease", lease);

#define INTERVAL(member, kind) ROW_AT(struct store_interval, member, kind)
static const struct row_column interval[] = {
    INTERVAL(host, TEXT),     INTERVAL(epoch, INT),
    INTERVAL(start_ns, INT),  INTERVAL(end_ns, INT),
    INTERVAL(start_utc, INT), INTERVAL(category, TEXT),
    INTERVAL(lease, LINK),    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_interval = ROW_SHAPE("interval", interval);

#define CONTEST(member, kind) ROW_AT(struct store_contest, member, kind)
static const struct row_column contest[] = {
    CONTEST(pass, INT),
    CONTEST(sweep, INT),
    CONTEST(kind, TEXT),
    CONTEST(seed, INT),
    CONTEST(blocks, INT),
    CONTEST(samples, INT),
    CONTEST(alpha, REAL),
    CONTEST(floor, REAL),
    CONTEST(target, REAL),
    CONTEST(possible, INT),
    CONTEST(cut, REAL),
    CONTEST(proof_hours, REAL),
    CONTEST(proof_usd, REAL),
    CONTEST(started_utc, INT),
    ROW_AS(struct store_contest, "ended_utc", ended, READ_SET),
    CONTEST(ending, READ_TEXT),
    CONTEST(against, NULLABLE),
    CONTEST(look_blocks, INT),
    CONTEST(most_blocks, INT),
    CONTEST(look_over_all, INT),
};
const struct row_shape store_rows_contest = ROW_SHAPE("contest", contest);

#define CONTESTANT(member, kind) ROW_AT(struct store_contestant, member, kind)
static const struct row_column contestant[] = {
    CONTESTANT(pass, INT),
    CONTESTANT(position, INT),
    CONTESTANT(config, TEXT),
    CONTESTANT(source_key, TEXT),
    CONTESTANT(role, TEXT),
    CONTESTANT(reason, TEXT),
    CONTESTANT(proof_launches, COUNT),
    CONTESTANT(proof_varied, COUNT),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_contestant =
    ROW_SHAPE("contestant", contestant);

#define CONTEST_SHAPE(member, kind) \
    ROW_AT(struct store_contest_shape, member, kind)
static const struct row_column contest_shape[] = {
    CONTEST_SHAPE(pass, INT),        CONTEST_SHAPE(position, INT),
    CONTEST_SHAPE(shape, TEXT),      CONTEST_SHAPE(measure_key, TEXT),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_contest_shape =
    ROW_SHAPE("contest_shape", contest_shape);

#define HELD(member, kind) ROW_AT(struct store_held, member, kind)
static const struct row_column held[] = {
    HELD(host, TEXT),     HELD(epoch, INT),
    HELD(start_ns, INT),  HELD(end_ns, INT),
    HELD(start_utc, INT), HELD(rate_usd_per_h, REAL),
    HELD(phase, TEXT),    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_held = ROW_SHAPE("held", held);

#define READY(member, kind) ROW_AT(struct store_ready, member, kind)
static const struct row_column ready[] = {
    READY(host, TEXT),    READY(gpu, TEXT),
    READY(at_utc, INT),   READY(driver, TEXT),
    READY(boot_id, TEXT), READY(worker_version, TEXT),
    READY(toolkit, TEXT), { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_rows_ready = ROW_SHAPE("ready", ready);
