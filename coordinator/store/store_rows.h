/* store_rows.h - the rows that are put into the database, as structs
 *
 * Field by field the columns of schema/schema.sql, which says what they mean;
 * each struct has a shape (row.h) of the same name.  Numbers that may be
 * missing are NaN, or -1 where they are counts.
 */
#ifndef FA_COORDINATOR_STORE_STORE_ROWS_H
#define FA_COORDINATOR_STORE_STORE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/store/store_facts.h"

struct row_shape;

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
    int64_t configurations, passed, created_utc;
    int64_t id; /* when it is read */
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

struct store_interval {
    const char *host;
    int64_t epoch, start_ns, end_ns, start_utc;
    const char *category;
    int64_t lease; /* 0: none */
};

extern const struct row_shape store_rows_run, store_rows_request,
    store_rows_sweep, store_rows_gate, store_rows_shape, store_rows_config,
    store_rows_step, store_rows_host, store_rows_gpu, store_rows_lease,
    store_rows_interval;

#endif
