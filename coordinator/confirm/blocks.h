/* blocks.h - what a confirmation pass measured, block by block
 *
 * A block is a short time on one GPU in which every candidate was measured,
 * once or a few times, each in a fresh process, in an order drawn at random.
 * What a block has in common (the card, its clock, its temperature, the
 * minute) cancels in the ratio of two candidates of that block, so the block
 * is the unit of every comparison: its samples are put together as one
 * median, and never counted as independent evidence.
 *
 * Immutable once made; any thread may read it.
 */
#ifndef FA_COORDINATOR_CONFIRM_BLOCKS_H
#define FA_COORDINATOR_CONFIRM_BLOCKS_H

#include <stddef.h>

#include "coordinator/stats/signed_rank.h"

struct block_sample {
    int candidate;  /* 0 to n_contestants - 1 */
    int block;      /* any number; the same on two GPUs is two blocks */
    int gpu;        /* any number */
    double seconds; /* > 0 */
};

struct blocks;

/* samples  [n], any order, not modified; n may be 0
 * A candidate may be missing from a block: the comparisons that need it do
 * without that block.  Free with blocks_free(); NULL is fine. */
struct blocks *blocks_new(const struct block_sample *samples, size_t n,
                          size_t n_contestants);
void blocks_free(struct blocks *blocks);

size_t blocks_count(const struct blocks *blocks);
size_t blocks_contestants(const struct blocks *blocks);

/* The GPUs that have blocks, ascending.  'out' has room for blocks_count();
 * returns how many there are. */
size_t blocks_gpus(const struct blocks *blocks, int *out);

/* log(time of b / time of a) in each block that has both, with its GPU as the
 * stratum: positive where a is faster.  'out' has room for blocks_count();
 * returns how many there are. */
size_t blocks_differences(const struct blocks *blocks, size_t a, size_t b,
                          struct difference *out);

/* The medians of one candidate, seconds, as they were measured, one a block.
 * 'out' has room for blocks_count(); returns how many there are. */
size_t blocks_medians(const struct blocks *blocks, size_t candidate,
                      double *out);

/* The time of one candidate in the typical block.  Blocks are first brought
 * to one level (log t = candidate + block), so that cards and minutes that
 * differ do not widen it.  Each candidate has a say in the levels by how
 * calm it is, so a noisy one does not widen the times of the others as long as
 * half of them are calm; of two it cannot be told which is the noisy one.
 * What the levels took of a candidate's own noise is given back. */
struct block_time {
    double seconds; /* NAN if it was never measured */
    double lo, hi;  /* 0 and infinity with too few blocks */
};

/* out  [blocks_contestants()] */
void blocks_times(const struct blocks *blocks, double confidence,
                  struct block_time *out);

#endif
