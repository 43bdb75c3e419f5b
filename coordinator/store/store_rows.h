/* store_rows.h - the rows that are put into the database, as structs
 *
 * Field by field the columns of schema.sql, which says what they mean.
 * Numbers that may be missing are NaN, or -1 where they are counts.
 */
#ifndef FA_COORDINATOR_STORE_STORE_ROWS_H
#define FA_COORDINATOR_STORE_STORE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/msg_values.h"

struct store_run {
    int64_t epoch, pid;
    const char *machine, *version, *command;
};

struct store_request {
    const char *folder, *file, *hosts_file, *device, *arch, *settings;
};

struct store_sweep {
    const char *key, *name, *folder, *file, *hosts_file, *spec;
    const char *device, *arch, *facts, *settings;
    int64_t configurations, passed;
    int64_t created_utc;
};

struct store_gate {
    int64_t sweep, position;
    const char *name, *kind, *rule, *why;
    int64_t rejected_first, rejected_alone; /* -1: not counted */
};

struct store_shape {
    int64_t sweep, position;
    const char *name, *vars;
    double floor_s;         /* NaN without floors */
    const char *floor_name; /* NULL without floors */
};

struct store_config {
    const char *key;
    int64_t sweep, point;
    bool baseline;
    const char *params, *warnings, *source_key;
};

struct store_step {
    int64_t sweep, position;
    const char *kind, *config;
    int64_t point, rung;
    double time_s; /* NaN unless it was timed */
};

struct store_host {
    const char *name;
    int64_t position;
    double rate_usd_per_h; /* NaN: unpriced */
    const char *machine, *boot_id, *worker_version, *toolkit;
    int64_t cpus, slots;
};

struct store_gpu {
    const char *uuid, *host;
    int64_t position;
    const char *name, *driver, *facts;
};

struct store_lease {
    int64_t epoch, id;
    const char *config, *shape, *purpose, *stage;
    int64_t round, attempt;
    const char *host, *gpu;
    int64_t leased_utc;
};

struct store_build {
    const char *nonce;
    int64_t epoch;
    const char *config, *purpose;
    int64_t attempt;
    const char *source_key, *build_key, *host, *outcome, *detail, *artifact;
    int64_t artifact_bytes;
    double seconds;
    bool cached;
    int64_t registers, spill_bytes, static_smem;
    const char *log;
    bool evidence; /* keep it, do not count it */
    int64_t received_utc;
};

struct store_result {
    const char *nonce;
    int64_t epoch;
    const char *config, *shape, *purpose;
    int64_t round, attempt;
    const char *source_key, *measure_key, *host, *gpu, *artifact;
    const char *outcome, *detail, *argument;
    double relative_l2, max_error;
    int64_t max_at;
    struct reals samples, rejected, clock_mhz, temp_c, power_w, throttle;
    const char *sampling, *l2;
    bool blocked;
    double held_s, seconds;
    int64_t registers, spill_bytes, static_smem;
    bool evidence; /* keep it, do not count it */
    int64_t received_utc;
};

struct store_tool {
    const char *nonce;
    int64_t epoch;
    const char *purpose, *name, *config, *shape;
    int64_t round, attempt;
    const char *key, *host, *gpu, *outcome, *detail;
    int64_t status;
    const char *output, *log;
    double seconds;
    bool evidence; /* keep it, do not count it */
    int64_t received_utc;
};

struct store_outcome {
    const char *config, *shape, *source_key, *measure_key;
    const char *outcome, *reason;
    const char *nonce; /* NULL when no result settled it */
    double median_s;   /* NaN when there is none */
    int64_t attempts, settled_utc;
};

struct store_interval {
    const char *host;
    int64_t epoch, start_ns, end_ns, start_utc;
    const char *category;
    int64_t lease; /* 0: none */
};

struct store_contest {
    int64_t pass, sweep;
    const char *kind;
    int64_t seed, blocks, samples;
    double alpha, floor, target;
    int64_t possible;
    double cut; /* NaN: nothing was cut */
    double proof_hours, proof_usd;
    int64_t started_utc;
};

struct store_contestant {
    int64_t pass, position;
    const char *config, *source_key, *role, *reason;
};

struct store_contest_shape {
    int64_t pass, position;
    const char *shape, *measure_key;
};

struct store_event {
    int64_t at_utc;
    const char *level, *name, *text;
};

#endif
