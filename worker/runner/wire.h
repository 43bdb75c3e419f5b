/* wire.h - the text on the pipe between fa-worker and fa-runner
 *
 * Lines "key value...\n"; a request or a reply ends with an empty line.  The
 * worker writes requests to the runner's stdin and reads replies from its
 * stdout, one reply a request:
 *
 *   open     ->  ok, facts        or  error
 *   measure  ->  progress lines, then an outcome with its evidence, or  error
 *   check    ->  as measure, but nothing is timed: for a profiler to watch
 *   quit     ->  (the runner exits, as it does at end of file)
 *
 * Fields stand in any order, each at most once but for arg, fact, sample and
 * rejected; unknown and repeated fields are errors.  Paths are written with
 * every byte that is not printable ASCII, and '%', as %XX. Depends on libc
 * only; used by both programs.
 */
#ifndef FA_WORKER_RUNNER_WIRE_H
#define FA_WORKER_RUNNER_WIRE_H

#include <stdbool.h>
#include <stdio.h>

#include "worker/runner/element.h"
#include "worker/runner/fill.h"

enum {
    WIRE_LINE_MAX = 16384, /* bytes of a line, newline and NUL included */
    WIRE_PATH_MAX = 4096,
    WIRE_NAME_MAX = 64,
    WIRE_ARGS_MAX = 64,
    WIRE_FACTS_MAX = 32,
    WIRE_SAMPLES_MAX = 1000,
    WIRE_WARMUPS_MAX = 1000,
    WIRE_REJECTED_MAX = 256,
    WIRE_STATES_MAX = 4, /* readings around the samples */
    WIRE_TEXT_MAX = 1024,
};

/* ---- requests */

enum wire_request_kind {
    WIRE_OPEN,
    WIRE_MEASURE,
    WIRE_CHECK, /* has what MEASURE has */
    WIRE_QUIT
};

struct wire_arg {
    char name[WIRE_NAME_MAX + 1];
    enum element_type type;
    bool buffer;
    bool output;           /* buffers: written by the kernel */
    int64_t count;         /* buffers: elements, >= 1 */
    enum fill_kind fill;   /* buffers */
    double scale;          /* buffers */
    int64_t rows, columns; /* buffers with FILL_RAMP, else 0 */
    int64_t integer;       /* scalars of an integer type */
    double real;           /* scalars of a float type */
};

/* One program to launch: an artifact, its entry point and its geometry. */
struct wire_kernel {
    char path[WIRE_PATH_MAX];
    char entry[WIRE_NAME_MAX + 1];
    uint32_t grid[3], block[3];
    uint64_t smem;
};

/* What lies in the L2 cache when a sample begins. */
enum wire_l2 {
    WIRE_L2_NONE,  /* replies: nothing was timed */
    WIRE_L2_WARM,  /* what the launch before left there */
    WIRE_L2_FLUSH, /* nothing of the kernel's */
    WIRE_L2_ROTATE /* nothing of its inputs: the launches before had others */
};

struct wire_measure {
    struct wire_kernel kernel, reference;
    struct wire_arg args[WIRE_ARGS_MAX];
    size_t n_args;
    double relative_l2, max_error; /* tolerance */
    uint64_t seed;
    unsigned warmups;
    unsigned least, most; /* samples, 1 <= least <= most; equal: that many */
    double noise, margin; /* of struct sampling_rules */
    double incumbent_s;   /* likewise; 0: none */
    enum wire_l2 l2;      /* not NONE */
    double timeout_s;
    bool untimed; /* of a check request */
};

struct wire_request {
    enum wire_request_kind kind;
    char device[8];              /* open: cuda cpu replay */
    char gpu[WIRE_NAME_MAX + 1]; /* open: index or UUID */
    struct wire_measure measure;
    uint64_t seen; /* private to wire.c: the fields so far */
};

/* ---- replies */

enum wire_reply_kind {
    WIRE_OK,
    WIRE_RESULT,
    WIRE_ERROR
};

enum wire_outcome {
    WIRE_CORRECT,
    WIRE_CONSTRAINTS,
    WIRE_RUNTIME,
    WIRE_CORRECTNESS,
    WIRE_TIMEOUT,
};

struct wire_fact {
    char name[32];
    char value[128];
};

struct wire_state {
    double clock_mhz, temp_c, power_w; /* NaN when unknown */
    uint64_t throttle;                 /* NVML's bits */
};

/* Why there are as many samples as there are. */
enum wire_sampling {
    WIRE_SAMPLING_NONE, /* nothing was timed */
    WIRE_FIXED,         /* as many as were asked for */
    WIRE_SETTLED,       /* the rest as in common/sampling.h */
    WIRE_LOSER,
    WIRE_UNSTABLE,
};

struct wire_result {
    enum wire_outcome outcome;
    char detail[WIRE_TEXT_MAX];       /* evidence; empty when correct */
    char argument[WIRE_NAME_MAX + 1]; /* the output checks speak of */
    double relative_l2, max_error;    /* NaN before the check */
    int64_t max_at;                   /* -1 before the check */
    double samples[WIRE_SAMPLES_MAX]; /* seconds */
    size_t n_samples;
    enum wire_sampling sampling;
    double rejected[WIRE_REJECTED_MAX]; /* samples that do not count */
    size_t n_rejected;
    enum wire_l2 l2; /* as it was, not as it was asked for */
    unsigned copies; /* of the inputs, with L2_ROTATE */
    bool blocked;    /* each batch was queued before it began */
    struct wire_state states[WIRE_STATES_MAX]; /* before, during, after */
    size_t n_states;
    double held_s; /* how long the request held the GPU */
    int64_t regs, local_bytes, static_smem; /* -1 when not loaded */
    bool poisoned;                          /* the process must be replaced */
};

struct wire_reply {
    enum wire_reply_kind kind;
    char stage[16]; /* of the last progress line */
    char error[WIRE_TEXT_MAX];
    struct wire_fact facts[WIRE_FACTS_MAX];
    size_t n_facts;
    struct wire_result result;
    uint64_t seen; /* private to wire.c */
};

/* ---- writing: 0, or -1 with errno from the stream (flushed) */

int wire_write_request(FILE *stream, const struct wire_request *request);
int wire_write_reply(FILE *stream, const struct wire_reply *reply);
int wire_write_progress(FILE *stream, const char *stage);

/* ---- reading, a line at a time
 *
 * Begin with a zeroed struct.  'line' is without its newline and may be cut
 * up by the call.  WIRE_BAD leaves a reason in 'why'; the pipe is then out of
 * step and must be closed. */
enum wire_step {
    WIRE_BAD = -1,
    WIRE_MORE,
    WIRE_PROGRESS,
    WIRE_DONE
};

enum {
    WIRE_WHY_MAX = 256
};

enum wire_step wire_request_line(struct wire_request *request, char *line,
                                 char why[WIRE_WHY_MAX]);
enum wire_step wire_reply_line(struct wire_reply *reply, char *line,
                               char why[WIRE_WHY_MAX]);

const char *wire_outcome_name(enum wire_outcome outcome);
const char *wire_type_name(enum element_type type);
const char *wire_fill_name(enum fill_kind kind);
const char *wire_l2_name(enum wire_l2 l2);
const char *wire_sampling_name(enum wire_sampling sampling);

#endif
