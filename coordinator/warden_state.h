/* warden_state.h - the inside of a warden
 *
 * Private to warden.c (canaries come and are asked for), warden_trust.c (what
 * they make of a GPU) and warden_doubt.c (measurements that are repeated).
 */
#ifndef FA_COORDINATOR_WARDEN_STATE_H
#define FA_COORDINATOR_WARDEN_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/fifo.h"
#include "coordinator/warden.h"

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

struct warden {
    struct warden_rules rules;
    struct watched *gpus;
    int n_gpus;
    struct record *records;
    int n_records;
    struct fifo doubts; /* jobs to measure again */
    int repeats;        /* asked for, of all jobs */
    bool capped;        /* and said so */
    bool was_right;     /* a canary, somewhere */
    struct warden_step *steps;
    size_t n_steps, told;
};

/* warden.c */
/* Made when it is new; valid until the next one is. */
struct watched *warden_watched(struct warden *w, int gpu);
bool warden_is_usable(const struct watched *g);
/* A step to be told; 'gpu' is -1 when it is about none. */
void warden_say(struct warden *w, enum warden_act act, int gpu, const char *fmt,
                ...) __attribute__((format(printf, 4, 5)));

/* warden_trust.c */
/* By the newest of its canaries, of which there is one at least. */
void warden_judge(struct warden *w, int gpu);
void warden_quarantine(struct warden *w, int gpu, const char *why);

/* warden_doubt.c */
/* What was measured on it after 'from_s' up to 'to_s' is to be repeated, as
 * far as the caps allow; returns how many measurements are. */
int warden_doubt(struct warden *w, int gpu, double from_s, double to_s);
/* The same between canaries that differ; also finds their noise. */
void warden_doubt_windows(struct warden *w, int gpu);
/* False when nothing can be repeated for now. */
bool warden_next_again(struct warden *w, struct warden_step *out);

#endif
