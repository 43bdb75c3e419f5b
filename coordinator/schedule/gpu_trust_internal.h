/* gpu_trust_internal.h - the parts of gpu_trust
 *
 * Private to its files.  Each calls only those after it: gpu_trust.c (orders
 * canaries and takes their results), gpu_trust_state.c (the state of a GPU),
 * gpu_trust_repeats.c (repeated measurements) and gpu_trust_watched.c (the list
 * of GPUs).
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
    bool up;
    enum trust trust;
    bool due, pending;  /* a canary should be ordered; one is ordered */
    int since;          /* measurements since the last canary was ordered */
    int flying;         /* repetitions under way */
    int wrong, gone;    /* canaries in a row: wrong; not measured */
    int strikes, rests; /* rests in a row; rests in all */
    double rest_until_s;
    struct canary *canaries;
    size_t n, base; /* canaries; those from 'base' on give its level */
    double noise;   /* relative noise of one canary; 0 while it is not known */
};

/* The newest measurement of a job.  If it is in doubt, its GPU is watched. */
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
    int repeats;             /* repeats ordered so far, for all jobs */
    bool capped;             /* the limit was reached, and an event said so */
    bool was_right;          /* some GPU computed the canary correctly */
    struct gpu_trust_step *steps;
    size_t n_steps, told;
};

/* gpu_trust_watched.c */
/* Adds the GPU if it is new.  Valid until the next GPU is added. */
struct watched *gpu_trust_watched(struct gpu_trust *w, int gpu);
bool gpu_trust_is_usable(const struct watched *g);
/* Queue a step for the caller; 'gpu' is -1 if it concerns no GPU. */
void gpu_trust_say(struct gpu_trust *w, enum gpu_trust_act act, int gpu,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* gpu_trust_state.c */
/* Judge the GPU by its newest canary; it has at least one. */
void gpu_trust_judge(struct gpu_trust *w, int gpu);
void gpu_trust_quarantine(struct gpu_trust *w, int gpu, const char *why);

/* gpu_trust_repeats.c */
/* Mark for repetition what this GPU measured after 'from_s' up to 'to_s',
 * within the limits.  Returns the number of measurements marked. */
int gpu_trust_doubt(struct gpu_trust *w, int gpu, double from_s, double to_s);
/* The same for the times between canaries that differ.  Also updates the
 * noise. */
void gpu_trust_doubt_windows(struct gpu_trust *w, int gpu);
/* False if nothing can be repeated for now. */
bool gpu_trust_next_again(struct gpu_trust *w, struct gpu_trust_step *out);

#endif
