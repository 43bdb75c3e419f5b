/* gpu_agreement.h - whether GPUs agree once their times are normalised
 *
 * Configurations that were measured on more than one GPU are the witnesses:
 * each GPU's normalised time is compared with the middle of all GPUs that
 * measured the same configuration, and the differences give an interval by
 * signed_rank.h.  A GPU that is slow for the canary and not for the rest (or
 * the other way round) shows only here.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_GPU_AGREEMENT_H
#define FA_COORDINATOR_STATS_GPU_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct witness {
    int64_t config; /* any number that names it */
    int gpu;
    double seconds; /* normalised, > 0; several of one GPU: their median */
};

struct gpu_agreement {
    int gpu;
    size_t n_shared;       /* configurations another GPU measured too */
    double offset, lo, hi; /* of this GPU to the middle of all, relative: 0.01
                              is slower by 1 %; of two GPUs each is off by half
                              of their gap.  -1 and infinity below 5 shared */
    bool disagrees; /* certainly off by more than the threshold.  Of two GPUs
                       that disagree both do: who is right cannot be told */
};

/* witnesses  [n], any order, not modified
 * out        room for one a GPU, in order of 'gpu'; returns how many */
size_t gpu_agreement(const struct witness *witnesses, size_t n,
                     double threshold, double confidence,
                     struct gpu_agreement *out);

#endif
