/* gpu_trust.h - which GPUs can be believed, and what to measure to know it
 *
 * The canary is measured on a GPU when it comes, after every so many
 * measurements, and at the end.  What follows from it:
 *
 *   TRUSTED --canary off its level--> RESTS --canary--> TRUSTED, on its old
 *      ^                                |               level or steady on a
 *      '--------------------------------'               new one
 *   RESTS --still moving after three--> QUARANTINED
 *   TRUSTED --rested too often while most others are steady--> QUARANTINED
 *   any --two wrong canaries, and it was right somewhere--> QUARANTINED
 *
 * Between two canaries that differ by more than canary_calibration.h's rule,
 * what was measured is in doubt, and measured again, there or elsewhere.
 *
 * It always comes to an end: a measurement is repeated a few times at most,
 * all of them together have a cap, and so has the resting.  The last GPU is
 * never quarantined for its speed.
 *
 * Pure: GPUs and measurements are numbers from 0 that the caller chooses, time
 * is seconds on any clock.
 */
#ifndef FA_COORDINATOR_SCHEDULE_GPU_TRUST_H
#define FA_COORDINATOR_SCHEDULE_GPU_TRUST_H

#include <stdbool.h>

#include "coordinator/stats/canary_calibration.h"

struct gpu_trust;

struct gpu_trust_rules {
    int every; /* measurements on a GPU, then a canary */
    struct canary_calibration_rules line; /* 'drift' also of one canary */
    double rest_s; /* the first in a row; then 2, 3 times that */
    int again_max; /* measurements repeated, all together */
};

enum gpu_trust_act {
    GPU_TRUST_CANARY,     /* measure the canary on 'gpu' */
    GPU_TRUST_AGAIN,      /* measure 'job' again on 'gpu' */
    GPU_TRUST_REST,       /* nothing on 'gpu' but the canary; why in 'text' */
    GPU_TRUST_GO_ON,      /* as before; why in 'text' */
    GPU_TRUST_QUARANTINE, /* nothing on 'gpu' any more; why in 'text' */
    GPU_TRUST_SAY,        /* 'text' is worth an event */
};

struct gpu_trust_step {
    enum gpu_trust_act act;
    int gpu, job;
    char text[160]; /* after the GPU's name */
};

struct gpu_trust *gpu_trust_new(const struct gpu_trust_rules *rules, int jobs);
void gpu_trust_free(struct gpu_trust *trust); /* NULL is fine */

/* What an earlier run measured, in any order; before the GPU comes. */
void gpu_trust_had_canary(struct gpu_trust *trust, int gpu, double at_s,
                          double seconds);
void gpu_trust_had(struct gpu_trust *trust, int gpu, int job, int repeats,
                   double at_s);

/* It can measure, or it cannot: what it was asked for does not come. */
void gpu_trust_gpu(struct gpu_trust *trust, int gpu, bool up);

/* A measurement has a result.  'job' is in doubt with the next canary, or
 * negative for what has no time. */
void gpu_trust_measured(struct gpu_trust *trust, int gpu, int job, double at_s);
/* The repetition of 'job' is done, or will not come about. */
void gpu_trust_again_ended(struct gpu_trust *trust, int gpu, int job,
                           bool done);
void gpu_trust_canary(struct gpu_trust *trust, int gpu, double at_s,
                      double seconds);
/* It came out wrong, or its process died; 'why' in a few words. */
void gpu_trust_canary_wrong(struct gpu_trust *trust, int gpu, const char *why);
/* It did not come about, through no fault of the GPU. */
void gpu_trust_canary_gone(struct gpu_trust *trust, int gpu);

/* What to do next; with 'over' nothing else is left to measure.  False when
 * there is nothing for now. */
bool gpu_trust_next(struct gpu_trust *trust, double now_s, bool over,
                    struct gpu_trust_step *out);
/* Something in doubt waits for a GPU that rests. */
bool gpu_trust_waits(const struct gpu_trust *trust);

/* Quarantined before, for a reason that was told then. */
void gpu_trust_ban(struct gpu_trust *trust, int gpu);
bool gpu_trust_is_trusted(const struct gpu_trust *trust, int gpu);
bool gpu_trust_is_quarantined(const struct gpu_trust *trust, int gpu);

#endif
