/* record.h - the record of one measured configuration
 *
 * It is the artifact of a build for the replay device: lines "key value".
 * Outcome and times may be missing (0), and there is one line 'sample' for each
 * sample.
 *
 *   record 1
 *   config BLOCK=64 STAGES=2
 *   outcome correct           compile constraints runtime correctness
 *   reason what was recorded  timeout reference; without it correct
 *   build_s 0.91
 *   verify_s 0.02
 *   bench_s 0.126
 *   sample 0.0038
 *
 * All times are seconds, as recorded.  A reference is correct and takes no
 * time.  Depends on libc only; fa-worker and fa-runner read it, fa-coord writes
 * it.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_RECORD_H
#define FA_WORKER_RUNNER_DEVICE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/outcome.h"

enum {
    RECORD_LINE_MAX = 4096, /* bytes, newline included */
    RECORD_REASON_MAX = 900,
    RECORD_SAMPLES_MAX = 1000,
    RECORD_WHY_MAX = 256,
};

struct record {
    enum outcome outcome;
    bool reference;
    char reason[RECORD_REASON_MAX + 1];
    double build_s, verify_s, bench_s;
    double samples[RECORD_SAMPLES_MAX];
    size_t n_samples; /* >= 1 when correct */
};

/* The arguments of a recorded kernel, in this order: its one output, then three
 * scalars. */
enum record_argument {
    RECORD_RESULT,   /* fp32, one element */
    RECORD_DRAW,     /* int64: selects the samples and their order */
    RECORD_FACTOR,   /* fp64: times of this card over the recorded ones */
    RECORD_SPEED_UP, /* fp64: recorded seconds that pass in one real second */
    RECORD_ARGUMENTS,
};

/* 0, or -1 with a text that says why it is not a record. */
int record_read(const char *path, struct record *out, char why[RECORD_WHY_MAX]);

/* Wait until 'seconds' of the record have passed: 'seconds' / 'speed_up' of
 * real time. */
void record_wait(double seconds, double speed_up);

#endif
