/* canary_calibration.h - what the canary says about each GPU, and raw times
 * without it
 *
 *     log t = configuration + GPU + drift of that GPU at that time
 *
 * The canary is one configuration (the baseline), measured on every GPU at
 * the start and the end and about every 50 measurements in between.  Through
 * its log times goes a line from point to point, but for points that are odd:
 * those that differ from the median of three by more than noise explains
 * (Hampel, 1974).  So a step is followed and one bad canary is not.  The line
 * is GPU + drift; a measurement is divided by it and multiplied by the common
 * level, so cards that differ by 8 % do not choose the winner.
 *
 * It assumes that a slow minute slows all configurations alike. gpu_agreement.h
 * checks what is left after it.
 *
 * Immutable once made; any thread may read it.
 */
#ifndef FA_COORDINATOR_STATS_CANARY_CALIBRATION_H
#define FA_COORDINATOR_STATS_CANARY_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

struct canary {
    int gpu;        /* any number */
    double at_s;    /* when, on any clock that all GPUs share */
    double seconds; /* median of its samples, > 0 */
};

struct canary_calibration;

/* canaries  [n], any order, not modified; n may be 0.  Free with
 * canary_calibration_free(); NULL is fine. */
struct canary_calibration *canary_calibration_new(const struct canary *canaries,
                                                  size_t n);
void canary_calibration_free(struct canary_calibration *calibration);

/* 'raw_s', measured on 'gpu' at 'at_s', as the typical GPU in its typical
 * state would have measured it; NAN if that GPU has no canary.  Before the
 * first and after the last canary of a GPU the line goes on level. */
double
canary_calibration_normalise(const struct canary_calibration *calibration,
                             double raw_s, int gpu, double at_s);

struct canary_calibration_rules {
    double drift; /* 0.03: a GPU that leaves its own level by more drifts */
    double jump;  /* 0.015: what changes by more from one canary to the next
                     leaves what was measured in between in doubt */
};

#define CANARY_CALIBRATION_RULES     \
    {                                \
        .drift = 0.03, .jump = 0.015 \
    }

/* All but 'level_s' are relative: 0.01 is slower by 1 %. */
struct canary_calibration_gpu {
    int gpu;
    size_t n_canaries;
    double level_s;          /* median canary */
    double offset;           /* of that to the other GPUs' (their median) */
    double fastest, slowest; /* the line's extremes to its level */
    double trend;            /* the line's end to its start */
    double noise;            /* sd of one canary around the line; NAN below 3 */
    bool drifts;
};

size_t canary_calibration_gpus(const struct canary_calibration *calibration);

/* i  0 to canary_calibration_gpus() - 1, in order of 'gpu' */
void canary_calibration_gpu(const struct canary_calibration *calibration,
                            size_t i,
                            const struct canary_calibration_rules *rules,
                            struct canary_calibration_gpu *out);

/* A time between canaries of one GPU in which the canary moved by more than
 * the rule, and by more than its noise explains. */
struct canary_calibration_window {
    int gpu;
    double from_s, to_s;
    double change; /* the largest, relative; below 0: became faster */
};

/* The windows to be measured again, in order of GPU and time; touching ones
 * are one.  'out' has room for the number of canaries. */
size_t canary_calibration_windows(const struct canary_calibration *calibration,
                                  const struct canary_calibration_rules *rules,
                                  struct canary_calibration_window *out);

#endif
