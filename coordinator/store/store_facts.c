/* Which member of a fact is which column, in the order of the checksum. */
#include "coordinator/store/store_facts.h"

#include "coordinator/sql/row.h"
#include "coordinator/store/store_acquisition.h"

#define BUILD(member, kind) ROW_AT(struct store_build, member, kind)
static const struct row_column build[] = {
    BUILD(nonce, TEXT),
    BUILD(epoch, INT),
    BUILD(config, TEXT),
    BUILD(purpose, TEXT),
    BUILD(attempt, INT),
    BUILD(source_key, TEXT),
    BUILD(build_key, TEXT),
    BUILD(host, TEXT),
    BUILD(outcome, TEXT),
    BUILD(detail, TEXT),
    BUILD(artifact, TEXT),
    BUILD(artifact_bytes, INT),
    BUILD(seconds, REAL),
    BUILD(cached, BOOL),
    BUILD(registers, COUNT),
    BUILD(spill_bytes, COUNT),
    BUILD(static_smem, COUNT),
    BUILD(log, TEXT),
    ROW_AS(struct store_build, "counted", evidence, NOT),
    BUILD(received_utc, INT),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_facts_build = ROW_SHAPE("build", build);

#define RESULT(member, kind) ROW_AT(struct store_result, member, kind)
#define RESULT_OF(column, path, kind) \
    ROW_AS(struct store_result, #column, path, kind)
static const struct row_column result[] = {
    RESULT(nonce, TEXT),
    RESULT(epoch, INT),
    RESULT_OF(config, id.config, TEXT),
    RESULT_OF(shape, id.shape, TEXT),
    RESULT_OF(purpose, id.purpose, TEXT),
    RESULT_OF(round, id.round, INT),
    RESULT(attempt, INT),
    RESULT_OF(source_key, id.source_key, TEXT),
    RESULT_OF(measure_key, id.measure_key, TEXT),
    RESULT(host, TEXT),
    RESULT(gpu, TEXT),
    RESULT(artifact, TEXT),
    RESULT(outcome, TEXT),
    RESULT(detail, TEXT),
    RESULT_OF(argument, error.argument, TEXT),
    RESULT_OF(relative_l2, error.relative_l2, REAL),
    RESULT_OF(max_error, error.max_error, REAL),
    RESULT_OF(max_at, error.max_at, COUNT),
    RESULT_OF(samples, timing.samples, REALS),
    RESULT_OF(sampling, timing.sampling, TEXT),
    RESULT_OF(rejected, timing.rejected, REALS),
    RESULT_OF(l2, timing.l2, TEXT),
    RESULT_OF(checked, checked.launches, COUNT),
    RESULT_OF(varied, checked.varied, COUNT),
    RESULT_OF(blocked, timing.blocked, BOOL),
    RESULT_OF(clock_mhz, around.clock_mhz, REALS),
    RESULT_OF(temp_c, around.temp_c, REALS),
    RESULT_OF(power_w, around.power_w, REALS),
    RESULT_OF(throttle, around.throttle, REALS),
    RESULT(held_s, REAL),
    RESULT(seconds, REAL),
    RESULT_OF(registers, use.registers, COUNT),
    RESULT_OF(spill_bytes, use.spill_bytes, COUNT),
    RESULT_OF(static_smem, use.static_smem, COUNT),
    ROW_AS(struct store_result, "counted", evidence, NOT),
    RESULT(received_utc, INT),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_facts_result = ROW_SHAPE("result", result);

#define TOOL(member, kind) ROW_AT(struct store_tool, member, kind)
static const struct row_column tool[] = {
    TOOL(nonce, TEXT),
    TOOL(epoch, INT),
    TOOL(purpose, TEXT),
    TOOL(name, TEXT),
    TOOL(config, TEXT),
    TOOL(shape, TEXT),
    TOOL(round, INT),
    TOOL(attempt, INT),
    TOOL(key, TEXT),
    TOOL(host, TEXT),
    TOOL(gpu, TEXT),
    TOOL(outcome, TEXT),
    TOOL(detail, TEXT),
    TOOL(status, COUNT),
    TOOL(output, TEXT),
    TOOL(log, TEXT),
    TOOL(seconds, REAL),
    ROW_AS(struct store_tool, "counted", evidence, NOT),
    TOOL(received_utc, INT),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_facts_tool = ROW_SHAPE("tool", tool);

#define OUTCOME(member, kind) ROW_AT(struct store_outcome, member, kind)
static const struct row_column outcome[] = {
    OUTCOME(config, TEXT),           OUTCOME(shape, TEXT),
    OUTCOME(source_key, TEXT),       OUTCOME(measure_key, TEXT),
    OUTCOME(outcome, TEXT),          OUTCOME(reason, TEXT),
    OUTCOME(nonce, NULLABLE),        OUTCOME(median_s, REAL),
    OUTCOME(attempts, INT),          OUTCOME(settled_utc, INT),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_facts_outcome = ROW_SHAPE("outcome", outcome);

#define EVENT(member, kind) ROW_AT(struct store_event, member, kind)
static const struct row_column event[] = {
    EVENT(at_utc, INT),
    EVENT(level, TEXT),
    EVENT(name, TEXT),
    EVENT(text, TEXT),
};
const struct row_shape store_facts_event = ROW_SHAPE("event", event);

#define ACQUISITION(member, kind) ROW_AT(struct store_acquisition, member, kind)
static const struct row_column acquisition[] = {
    ACQUISITION(id, CHARS),
    ACQUISITION(host, CHARS),
    ACQUISITION(state, CHARS),
    ACQUISITION(start_command, CHARS),
    ACQUISITION(stop_command, CHARS),
    ACQUISITION(folder, CHARS),
    ACQUISITION(machine, CHARS),
    ACQUISITION(address, CHARS),
    ACQUISITION(pid, INT),
    ACQUISITION(pid_ticks, INT),
    ACQUISITION(boot_id, CHARS),
    ACQUISITION(rate_usd_per_h, REAL),
    ACQUISITION(started_utc, INT),
    ACQUISITION(acquired_utc, LINK),
    ACQUISITION(released_utc, LINK),
    ACQUISITION(stop_tries, INT),
    ACQUISITION(why, CHARS),
    { "checksum", ROW_LATER, 0, 0 },
};
const struct row_shape store_acquisition_shape =
    ROW_SHAPE("acquisition", acquisition);
