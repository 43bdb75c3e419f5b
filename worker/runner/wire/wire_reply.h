/* wire_reply.h - the replies of fa-runner (wire.h) */
#ifndef FA_WORKER_RUNNER_WIRE_WIRE_REPLY_H
#define FA_WORKER_RUNNER_WIRE_WIRE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/l2_mode.h"
#include "common/outcome.h"
#include "worker/runner/wire/wire.h"

/* Of the stages that a runner reports, the one that is not the kernel's. */
#define WIRE_STAGE_REFERENCE "reference"

enum wire_reply_kind {
    WIRE_OK,
    WIRE_RESULT,
    WIRE_REFERENCE, /* the reference is of no use: 'error' says why */
    WIRE_ERROR
};

struct wire_fact {
    char name[32];
    char value[128];
};

struct wire_state {
    double clock_mhz, temp_c, power_w; /* NaN when unknown */
    uint64_t throttle;                 /* NVML's bits */
};

/* Why sampling stopped. */
enum wire_sampling {
    WIRE_SAMPLING_NONE, /* nothing was timed */
    WIRE_FIXED,         /* as many as were asked for */
    WIRE_SETTLED,       /* the rest as in common/sampling.h */
    WIRE_LOSER,
    WIRE_UNSTABLE,
};

/* The resources of a loaded kernel; -1 if it is not loaded. */
struct wire_usage {
    int64_t regs, local_bytes, static_smem;
};

/* The launches whose outputs were found right. */
struct wire_checked {
    int64_t launches; /* -1: not known */
    bool varied;      /* in bits, with the same inputs */
};

struct wire_result {
    enum outcome outcome;
    char detail[WIRE_TEXT_MAX];       /* evidence; empty when correct */
    char argument[WIRE_NAME_MAX + 1]; /* the output that the check is about */
    double relative_l2, max_error;    /* NaN before the check */
    int64_t max_at;                   /* -1 before the check */
    double samples[WIRE_SAMPLES_MAX]; /* seconds */
    size_t n_samples;
    enum wire_sampling sampling;
    double rejected[WIRE_REJECTED_MAX]; /* samples that do not count */
    size_t n_rejected;
    enum l2_mode l2; /* as used, which may differ from the request */
    unsigned copies; /* of the inputs, with L2_ROTATE */
    struct wire_checked checked;
    bool blocked; /* each batch was queued before it began */
    struct wire_state states[WIRE_STATES_MAX]; /* before, during, after */
    size_t n_states;
    double held_s; /* how long the request held the GPU */
    struct wire_usage usage;
    bool poisoned; /* the process must be replaced */
};

struct wire_reply {
    enum wire_reply_kind kind;
    char stage[16]; /* of the last progress line */
    char error[WIRE_TEXT_MAX];
    struct wire_fact facts[WIRE_FACTS_MAX];
    size_t n_facts;
    struct wire_result result;
    uint64_t seen; /* private to wire_reply.c */
};

/* 0, or -1 with errno from the stream (flushed). */
int wire_write_reply(FILE *stream, const struct wire_reply *reply);
int wire_write_progress(FILE *stream, const char *stage);
enum wire_step wire_reply_line(struct wire_reply *reply, char *line,
                               char why[WIRE_WHY_MAX]);

const char *wire_sampling_name(enum wire_sampling sampling);

#endif
