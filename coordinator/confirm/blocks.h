/* blocks.h - the measurements of a confirmation pass, in blocks
 *
 * A block is a short time on one GPU, in a process that begins with it, in
 * which every candidate was measured, in an order drawn at random. Everything
 * that a block shares (the card, its clock, its temperature, the time) cancels
 * in the ratio of two candidates of that block.  So the block is the unit of
 * every comparison: its samples become one median and never count as
 * independent evidence.
 *
 * Immutable once made; any thread may read it.
 */
#ifndef FA_COORDINATOR_CONFIRM_BLOCKS_H
#define FA_COORDINATOR_CONFIRM_BLOCKS_H

#include <stddef.h>

#include "coordinator/stats/signed_rank.h"

struct block_sample {
    int candidate;  /* 0 to n_contestants - 1 */
    int block;      /* any number; the same number on two GPUs means two
                     * blocks */
    int gpu;        /* any number */
    double seconds; /* > 0 */
};

struct blocks;

/* samples  [n], any order, not modified; n may be 0
 * A candidate may be missing from a block: comparisons that need it ignore that
 * block.  Free with blocks_free(); NULL is fine. */
struct blocks *blocks_new(const struct block_sample *samples, size_t n,
                          size_t n_contestants);
void blocks_free(struct blocks *blocks);

size_t blocks_count(const struct blocks *blocks);
size_t blocks_contestants(const struct blocks *blocks);

/* The GPUs that have blocks, ascending.  'out' has room for blocks_count();
 * returns how many GPUs there are. */
size_t blocks_gpus(const struct blocks *blocks, int *out);

/* log(time of b / time of a) in each block that has both, with its GPU as the
 * stratum: positive where a is faster.  'out' has room for blocks_count();
 * returns the number of blocks. */
size_t blocks_differences(const struct blocks *blocks, size_t a, size_t b,
                          struct difference *out);

/* Of the differences of two candidates that are in all blocks. */
const struct signed_rank_law *blocks_law(const struct blocks *blocks);

/* The block medians of one candidate, in seconds, not normalised.  'out' has
 * room for blocks_count(); returns the number of medians. */
size_t blocks_medians(const struct blocks *blocks, size_t candidate,
                      double *out);

/* The time of one candidate in the typical block.  Blocks are first brought to
 * one level (log t = candidate + block), so that cards and minutes that differ
 * do not widen it.  Calm candidates weigh more in the levels than noisy ones.
 * So a noisy one does not widen the times of the others if at least half of
 * them are calm; with two candidates, nobody can tell which one is noisy.  The
 * noise that the levels took from a candidate is added to its interval
 * again. */
struct block_time {
    double seconds; /* NAN if it was never measured */
    double lo, hi;  /* 0 and infinity with too few blocks */
};

/* confidence  in (0, 1); 0: lo and hi are not asked for
 * out         [blocks_contestants()] */
void blocks_times(const struct blocks *blocks, double confidence,
                  struct block_time *out);

#endif
