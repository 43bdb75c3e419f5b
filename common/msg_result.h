/* msg_result.h - the messages about what came of a lease (docs/protocol.md)
 *
 * Plain structs, parts of struct msg (msg.h says who owns what they point to).
 */
#ifndef FA_COMMON_MSG_RESULT_H
#define FA_COMMON_MSG_RESULT_H

#include <stdint.h>

#include "common/msg_values.h"
#include "common/msg_work.h"

struct msg;

#define MSG_LOG_MAX (64 << 10) /* compiler output, head and tail */
/* Standard output of a command; ncu's table of one launch is 160 KiB. */
#define MSG_OUTPUT_MAX (512 << 10)
#define MSG_SAMPLES_MAX 4096

/* What is at fault, when it is not the configuration alone. */
#define MSG_BLAME_SWEEP "sweep" /* the build does not fit its file */
#define MSG_BLAME_REFERENCE                           \
    "reference" /* it faults, or its values are of no \
                 * use */

/* What all results say. */
struct msg_result {
    const char *nonce; /* 32 hex digits, one a result, made by the worker */
    const char *outcome;
    const char *detail;
    double seconds;    /* of the slot or GPU, as the worker saw it */
    const char *blame; /* MSG_BLAME_*, or ""; optional, and not of a RAN */
};

/* What a kernel takes of a multiprocessor; -1: not known. */
struct msg_usage {
    int64_t registers;
    int64_t spill_bytes;
    int64_t static_smem;
};

/* The launches whose outputs were found right; -1: not known, and not sent. */
struct msg_checked {
    int64_t launches;
    int64_t varied; /* 1: the same inputs gave outputs that differ in bits */
};

struct msg_built {
    struct msg_work work;
    struct msg_result result;
    const char *artifact;
    int64_t artifact_bytes;
    const char *log;
    int64_t cached;
    struct msg_usage usage;
};

struct msg_measured {
    struct msg_work work;
    struct msg_result result;
    const char *gpu;      /* UUID */
    const char *artifact; /* what was measured */
    const char *argument; /* the output whose errors these are */
    double relative_l2;
    double max_error;
    int64_t max_at;        /* the element of 'max_error' */
    struct reals samples;  /* seconds */
    const char *sampling;  /* none fixed settled loser unstable */
    struct reals rejected; /* samples that do not count, seconds */
    const char *l2;        /* none warm flush, or "rotate COPIES" */
    struct msg_checked checked;
    int64_t blocked; /* 1: each batch was queued before it began */
    struct reals clock_mhz;
    struct reals temp_c;
    struct reals power_w;
    struct reals throttle;
    double held_s;
    struct msg_usage usage;
};

struct msg_ran {
    struct msg_work work;
    struct msg_result result;
    const char *gpu; /* UUID */
    int64_t status;  /* it exited with, -1 when it did not exit */
    const char *output;
    const char *log;
};

struct msg_ack {
    struct texts nonces;
};

/* Of a BUILT, MEASURED or RAN; NULL of any other message.  msg_result_of() is
 * the same, to write. */
const struct msg_result *msg_result(const struct msg *msg);
struct msg_result *msg_result_of(struct msg *msg);

#endif
