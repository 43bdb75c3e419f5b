/* warden.h - which GPUs can be believed, and what to measure to know it
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
 * Between two canaries that differ by more than calibration.h's rule, what was
 * measured is in doubt, and measured again, there or elsewhere.
 *
 * It always comes to an end: a measurement is repeated a few times at most,
 * all of them together have a cap, and so has the resting.  The last GPU is
 * never quarantined for its speed.
 *
 * Pure: GPUs and measurements are numbers from 0 that the caller chooses, time
 * is seconds on any clock.
 */
#ifndef FA_COORDINATOR_WARDEN_H
#define FA_COORDINATOR_WARDEN_H

#include <stdbool.h>

#include "coordinator/calibration.h"

struct warden;

struct warden_rules {
    int every;                     /* measurements on a GPU, then a canary */
    struct calibration_rules line; /* 'drift' also of one canary */
    double rest_s; /* the first in a row; then 2, 3 times that */
    int again_max; /* measurements repeated, all together */
};

enum warden_act {
    WARDEN_CANARY,     /* measure the canary on 'gpu' */
    WARDEN_AGAIN,      /* measure 'job' again on 'gpu' */
    WARDEN_REST,       /* nothing on 'gpu' but the canary; why in 'text' */
    WARDEN_GO_ON,      /* as before; why in 'text' */
    WARDEN_QUARANTINE, /* nothing on 'gpu' any more; why in 'text' */
    WARDEN_SAY,        /* 'text' is worth an event */
};

struct warden_step {
    enum warden_act act;
    int gpu, job;
    char text[160]; /* after the GPU's name */
};

struct warden *warden_new(const struct warden_rules *rules, int jobs);
void warden_free(struct warden *warden); /* NULL is fine */

/* What an earlier run measured, in any order; before the GPU comes. */
void warden_had_canary(struct warden *warden, int gpu, double at_s,
                       double seconds);
void warden_had(struct warden *warden, int gpu, int job, int repeats,
                double at_s);

/* It can measure, or it cannot: what it was asked for does not come. */
void warden_gpu(struct warden *warden, int gpu, bool up);

/* A measurement has a result.  'job' is in doubt with the next canary, or
 * negative for what has no time. */
void warden_measured(struct warden *warden, int gpu, int job, double at_s);
/* The repetition of 'job' is done, or will not come about. */
void warden_again_ended(struct warden *warden, int gpu, int job, bool done);
void warden_canary(struct warden *warden, int gpu, double at_s, double seconds);
/* It came out wrong, or its process died; 'why' in a few words. */
void warden_canary_wrong(struct warden *warden, int gpu, const char *why);
/* It did not come about, through no fault of the GPU. */
void warden_canary_gone(struct warden *warden, int gpu);

/* What to do next; with 'over' nothing else is left to measure.  False when
 * there is nothing for now. */
bool warden_next(struct warden *warden, double now_s, bool over,
                 struct warden_step *out);
/* Something in doubt waits for a GPU that rests. */
bool warden_waits(const struct warden *warden);

/* Quarantined before, for a reason that was told then. */
void warden_ban(struct warden *warden, int gpu);
bool warden_is_trusted(const struct warden *warden, int gpu);
bool warden_is_quarantined(const struct warden *warden, int gpu);

#endif
