/* gpu_trust.h - which GPUs to trust, and which measurements decide that
 *
 * The canary is a fixed configuration.  It is measured on a GPU when the GPU
 * joins, after every 'every' measurements, and at the end.  Its times change
 * the state of the GPU:
 *
 *   TRUSTED --canary off its level--> RESTS --canary--> TRUSTED, on its old
 *      ^                                |               level or steady on a
 *      '--------------------------------'               new one
 *   RESTS --still moving after three--> QUARANTINED
 *   TRUSTED --rested too often while most others are steady--> QUARANTINED
 *   any --two wrong canaries, and it was right somewhere--> QUARANTINED
 *
 * If two successive canaries differ by more than the rule in
 * canary_calibration.h allows, the measurements between them are in doubt.
 * They are repeated, on that GPU or on another one.
 *
 * This always ends: the repeats of one measurement, all repeats together, and
 * the rests of a GPU are limited.  The last GPU is never quarantined for its
 * speed.
 *
 * Pure: GPUs and measurements are numbers from 0 that the caller chooses; times
 * are seconds on any clock.
 */
#ifndef FA_COORDINATOR_SCHEDULE_GPU_TRUST_H
#define FA_COORDINATOR_SCHEDULE_GPU_TRUST_H

#include <stdbool.h>

#include "coordinator/stats/canary_calibration.h"

struct gpu_trust;

struct gpu_trust_rules {
    int every; /* measurements on a GPU between two canaries */
    struct canary_calibration_rules line; /* 'drift': also of one canary */
    double rest_s; /* first rest; the next ones in a row take 2, 3 times as
                    * long */
    int again_max; /* repeats of all measurements together */
};

enum gpu_trust_act {
    GPU_TRUST_CANARY,     /* measure the canary on 'gpu' */
    GPU_TRUST_AGAIN,      /* measure 'job' again on 'gpu' */
    GPU_TRUST_REST,       /* only canaries on 'gpu'; 'text' says why */
    GPU_TRUST_GO_ON,      /* 'gpu' is trusted again; 'text' says why */
    GPU_TRUST_QUARANTINE, /* nothing runs on 'gpu' any more; 'text' says why */
    GPU_TRUST_SAY,        /* log 'text' as an event */
};

struct gpu_trust_step {
    enum gpu_trust_act act;
    int gpu, job;
    char text[160]; /* follows the name of the GPU */
};

struct gpu_trust *gpu_trust_new(const struct gpu_trust_rules *rules, int jobs);
void gpu_trust_free(struct gpu_trust *trust); /* NULL is fine */

/* Measurements of an earlier run, in any order; call before the GPU joins. */
void gpu_trust_had_canary(struct gpu_trust *trust, int gpu, double at_s,
                          double seconds);
void gpu_trust_had(struct gpu_trust *trust, int gpu, int job, int repeats,
                   double at_s);

/* The GPU can measure, or it cannot: measurements ordered on it will not
 * come. */
void gpu_trust_gpu(struct gpu_trust *trust, int gpu, bool up);

/* A measurement has a result.  If the next canary differs, 'job' is in doubt;
 * pass a negative 'job' for a result without a time. */
void gpu_trust_measured(struct gpu_trust *trust, int gpu, int job, double at_s);
/* The repetition of 'job' is done, or will not be done. */
void gpu_trust_again_ended(struct gpu_trust *trust, int gpu, int job,
                           bool done);
void gpu_trust_canary(struct gpu_trust *trust, int gpu, double at_s,
                      double seconds);
/* The canary's result was wrong, or its process died; 'why' in a few words. */
void gpu_trust_canary_wrong(struct gpu_trust *trust, int gpu, const char *why);
/* The canary was not measured, and the GPU is not at fault. */
void gpu_trust_canary_gone(struct gpu_trust *trust, int gpu);

/* The next step.  'over': nothing else is left to measure.  False if there is
 * no step for now. */
bool gpu_trust_next(struct gpu_trust *trust, double now_s, bool over,
                    struct gpu_trust_step *out);
/* A measurement in doubt waits for a resting GPU. */
bool gpu_trust_waits(const struct gpu_trust *trust);
/* When the first GPU that rests may have its canary; infinite when none does,
 * or all of them were asked for theirs. */
double gpu_trust_rested_s(const struct gpu_trust *trust);

/* An earlier run quarantined the GPU and has told why. */
void gpu_trust_ban(struct gpu_trust *trust, int gpu);
bool gpu_trust_is_trusted(const struct gpu_trust *trust, int gpu);
bool gpu_trust_is_quarantined(const struct gpu_trust *trust, int gpu);

#endif
