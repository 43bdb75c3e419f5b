/* canary_calibration.h - removes differences between GPUs from raw times
 *
 *     log t = configuration + GPU + drift of that GPU at that time
 *
 * The canary is one configuration (the baseline), measured on every GPU at the
 * start and the end and about every 50 measurements in between.  A line
 * connects its log times, except for odd points: those that differ from the
 * median of three by more than noise explains (Hampel, 1974). So the line
 * follows a step, but not one bad canary.  The line is GPU + drift.  A
 * measurement is divided by it and multiplied by the common level, so a
 * difference of 8 % between cards does not decide the winner.
 *
 * This assumes that a slow period slows all configurations by the same factor.
 * gpu_agreement.h checks the normalised times.
 *
 * Immutable once made; any thread may read it.
 */
#ifndef FA_COORDINATOR_STATS_CANARY_CALIBRATION_H
#define FA_COORDINATOR_STATS_CANARY_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

struct canary {
    int gpu;        /* any number */
    double at_s;    /* time, on any clock that all GPUs share */
    double seconds; /* median of its samples, > 0 */
};

struct canary_calibration;

/* canaries  [n], any order, not modified; n may be 0.  Free with
 * canary_calibration_free(); NULL is fine. */
struct canary_calibration *canary_calibration_new(const struct canary *canaries,
                                                  size_t n);
void canary_calibration_free(struct canary_calibration *calibration);

/* Convert 'raw_s', measured on 'gpu' at 'at_s', to the time of the typical GPU
 * in its typical state; NAN if that GPU has no canary.  Before the first and
 * after the last canary of a GPU the line is constant. */
double
canary_calibration_normalise(const struct canary_calibration *calibration,
                             double raw_s, int gpu, double at_s);

struct canary_calibration_rules {
    double drift; /* 0.03: a GPU drifts if it leaves its own level by more */
    double jump;  /* 0.015: if two successive canaries differ by more, the
                   * measurements between them are in doubt */
};

#define CANARY_CALIBRATION_RULES     \
    {                                \
        .drift = 0.03, .jump = 0.015 \
    }

/* All values except 'level_s' are relative: 0.01 is slower by 1 %. */
struct canary_calibration_gpu {
    int gpu;
    size_t n_canaries;
    double level_s;          /* median canary */
    double offset;           /* median canary to the median of the other
                              * GPUs' */
    double fastest, slowest; /* extremes of the line to its level */
    double trend;            /* end of the line to its start */
    double noise;            /* sd of one canary around the line; NAN below 3 */
    bool drifts;
};

size_t canary_calibration_gpus(const struct canary_calibration *calibration);

/* i  0 to canary_calibration_gpus() - 1, in order of 'gpu' */
void canary_calibration_gpu(const struct canary_calibration *calibration,
                            size_t i,
                            const struct canary_calibration_rules *rules,
                            struct canary_calibration_gpu *out);

/* A time span between canaries of one GPU in which the canary moved by more
 * than the rule allows, and by more than its noise explains. */
struct canary_calibration_window {
    int gpu;
    double from_s, to_s;
    double change; /* the largest, relative; below 0: it became faster */
};

/* The windows to measure again, in order of GPU and time; adjacent ones are
 * merged.  'out' has room for the number of canaries. */
size_t canary_calibration_windows(const struct canary_calibration *calibration,
                                  const struct canary_calibration_rules *rules,
                                  struct canary_calibration_window *out);

#endif
