/* gpu_agreement.h - whether GPUs agree once their times are normalised
 *
 * Configurations that were measured on more than one GPU are the witnesses.
 * The normalised time of each GPU is compared with the middle of all GPUs that
 * measured the same configuration; signed_rank.h makes an interval of the
 * differences.  Only this shows a GPU that is slow for the canary but not for
 * other configurations, or the reverse.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_GPU_AGREEMENT_H
#define FA_COORDINATOR_STATS_GPU_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct witness {
    int64_t config; /* any number that identifies it */
    int gpu;
    double seconds; /* normalised, > 0; several on one GPU: their median is
                     * used */
};

struct gpu_agreement {
    int gpu;
    size_t n_shared;       /* configurations that another GPU measured too */
    double offset, lo, hi; /* of this GPU to the middle of all, relative: 0.01
                              is slower by 1 %; of two GPUs each is off by half
                              of their gap.  -1 and infinity below 5 shared */
    bool disagrees; /* certainly off by more than the threshold.  Of two GPUs
                     * that disagree, both are marked: nobody can tell which one
                     * is right */
};

/* witnesses  [n], any order, not modified
 * out        room for one a GPU, in order of 'gpu'; returns how many */
size_t gpu_agreement(const struct witness *witnesses, size_t n,
                     double threshold, double confidence,
                     struct gpu_agreement *out);

#endif
