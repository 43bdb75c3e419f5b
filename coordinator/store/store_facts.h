/* store_facts.h - what was done and how it came out, as rows of the database
 *
 * Field by field the columns of schema*.sql, as in store_rows.h.  Rows of
 * builds, results and tools are evidence: they are never changed, and end in a
 * checksum.
 */
#ifndef FA_COORDINATOR_STORE_STORE_FACTS_H
#define FA_COORDINATOR_STORE_STORE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/msg_values.h" /* struct reals */

struct row_shape;

struct store_build {
    const char *nonce;
    int64_t epoch;
    const char *config, *purpose;
    int64_t attempt;
    const char *source_key, *build_key, *host, *outcome, *detail, *artifact;
    int64_t artifact_bytes;
    double seconds;
    bool cached;
    int64_t registers, spill_bytes, static_smem; /* -1: not known, NULL */
    const char *log;
    bool evidence; /* keep it, do not count it */
    int64_t received_utc;
};

/* The identity by which a result is counted once. */
struct store_identity {
    const char *config, *shape, *purpose;
    int64_t round;
    const char *source_key, *measure_key;
};

struct store_error {
    const char *argument; /* the output that was wrong */
    double relative_l2, max_error;
    int64_t max_at; /* -1: not known, NULL */
};

struct store_checked { /* launches that were found right; -1: not known, NULL */
    int64_t launches;
    int64_t varied; /* 1: in bits, with the same inputs */
};

struct store_timing {
    struct reals samples, rejected; /* seconds, in order */
    const char *sampling, *l2;
    bool blocked;
};

struct store_readings { /* before and after; NaN where unknown */
    struct reals clock_mhz, temp_c, power_w, throttle;
};

struct store_use { /* of the GPU, by the kernel; -1: not known, NULL */
    int64_t registers, spill_bytes, static_smem;
};

struct store_result {
    const char *nonce;
    int64_t epoch;
    struct store_identity id;
    int64_t attempt;
    const char *host, *gpu, *artifact;
    const char *outcome, *detail;
    struct store_error error;
    struct store_checked checked;
    struct store_timing timing;
    struct store_readings around;
    double held_s, seconds;
    struct store_use use;
    bool evidence; /* keep it, do not count it */
    int64_t received_utc;
};

struct store_tool {
    const char *nonce;
    int64_t epoch;
    const char *purpose, *name, *config, *shape;
    int64_t round, attempt;
    const char *key, *host, *gpu, *outcome, *detail;
    int64_t status; /* -1: it did not exit, NULL */
    const char *output, *log;
    double seconds;
    bool evidence; /* keep it, do not count it */
    int64_t received_utc;
};

struct store_outcome {
    const char *config, *shape, *source_key, *measure_key;
    const char *outcome, *reason;
    const char *nonce; /* NULL when no result settled it */
    double median_s;   /* NaN without a time */
    int64_t attempts, settled_utc;
};

struct store_event {
    int64_t at_utc;
    const char *level, *name, *text;
};

/* The event of a command's begin.  Its text is a JSON object: what the command
 * was thought to take, {} if that was not estimated. */
#define STORE_COMMAND_BEGUN "COMMAND-BEGUN"

extern const struct row_shape store_facts_build, store_facts_result,
    store_facts_tool, store_facts_outcome, store_facts_event;

#endif
