/* gpu_trust_internal.h - the inside of the trust in GPUs
 *
 * Private, from top to bottom, to gpu_trust.c (canaries come and are asked
 * for), gpu_trust_state.c (what they make of a GPU), gpu_trust_repeats.c
 * (measurements that are repeated) and gpu_trust_watched.c (the GPUs).
 */
#ifndef FA_COORDINATOR_SCHEDULE_GPU_TRUST_INTERNAL_H
#define FA_COORDINATOR_SCHEDULE_GPU_TRUST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/schedule/gpu_trust.h"
#include "coordinator/schedule/int_queue.h"

enum trust {
    TRUSTED,
    RESTING,
    QUARANTINED
};

struct watched {
    bool known, up;
    enum trust trust;
    bool due, pending;  /* the canary */
    int since;          /* measurements, since the canary was asked for */
    int flying;         /* repetitions asked for */
    int wrong, gone;    /* canaries in a row */
    int strikes, rests; /* in a row, and in all */
    double rest_until_s;
    struct canary *canaries;
    size_t n, base; /* of which those from 'base' on make its level */
    double noise;   /* of one canary, relative; 0 while it is not known */
};

/* The newest measurement of a job. */
struct record {
    bool is_there, in_doubt;
    int gpu, repeats;
    double at_s;
};

struct gpu_trust {
    struct gpu_trust_rules rules;
    struct watched *gpus;
    int n_gpus;
    struct record *records;
    int n_records;
    struct int_queue doubts; /* jobs to measure again */
    int repeats;             /* asked for, of all jobs */
    bool capped;             /* and said so */
    bool was_right;          /* a canary, somewhere */
    struct gpu_trust_step *steps;
    size_t n_steps, told;
};

/* gpu_trust_watched.c */
/* Made when it is new; valid until the next one is. */
struct watched *gpu_trust_watched(struct gpu_trust *w, int gpu);
bool gpu_trust_is_usable(const struct watched *g);
/* A step to be told; 'gpu' is -1 when it is about none. */
void gpu_trust_say(struct gpu_trust *w, enum gpu_trust_act act, int gpu,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* gpu_trust_state.c */
/* By the newest of its canaries, of which there is one at least. */
void gpu_trust_judge(struct gpu_trust *w, int gpu);
void gpu_trust_quarantine(struct gpu_trust *w, int gpu, const char *why);

/* gpu_trust_repeats.c */
/* What was measured on it after 'from_s' up to 'to_s' is to be repeated, as
 * far as the caps allow; returns how many measurements are. */
int gpu_trust_doubt(struct gpu_trust *w, int gpu, double from_s, double to_s);
/* The same between canaries that differ; also finds their noise. */
void gpu_trust_doubt_windows(struct gpu_trust *w, int gpu);
/* False when nothing can be repeated for now. */
bool gpu_trust_next_again(struct gpu_trust *w, struct gpu_trust_step *out);

#endif
