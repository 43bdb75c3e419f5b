/* block_schedule.h - the order of the blocks of a confirmation, over GPUs
 *
 * A block measures every candidate once at every shape, on one GPU. The
 * candidates of a shape are in random order.  A block begins in a fresh
 * process, so differences between processes become differences between blocks.
 * A block counts when it is complete.  A block that lost a measurement is
 * broken: it is dropped and replaced by another.
 *
 * Candidate 0 is the baseline.  A candidate that computes a wrong result, or
 * whose process dies repeatedly, is out: later blocks leave it out.
 *
 * Pure: no clock, no socket, no database.  Everything is an index chosen by the
 * caller; GPUs may come and go.
 */
#ifndef FA_COORDINATOR_CONFIRM_BLOCK_SCHEDULE_H
#define FA_COORDINATOR_CONFIRM_BLOCK_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block_schedule;

struct block_schedule_design {
    int candidates; /* the baseline and at least one other */
    int shapes;
    int blocks;     /* complete blocks wanted, over all GPUs */
    int gpu_blocks; /* at least so many on each GPU that is up */
    uint64_t seed;  /* for the random orders */
};

#define BLOCK_SCHEDULE_CRASHES 3 /* of one candidate: then it is out */
#define BLOCK_SCHEDULE_BLOCKS_MAX 9999

struct block_schedule_step {
    int candidate, shape;
};

struct block_schedule_block {
    int number; /* 1 to BLOCK_SCHEDULE_BLOCKS_MAX, never used twice */
    int gpu;
    int n;
    const struct block_schedule_step *steps; /* [n], until the block ends */
};

struct block_schedule *
block_schedule_new(const struct block_schedule_design *design);
void block_schedule_free(struct block_schedule *schedule); /* NULL is fine */

/* A block of an earlier run, complete or not, on a GPU of any number from 0;
 * and a candidate that was out in that run.  Call before the first
 * block_schedule_next(). */
void block_schedule_had(struct block_schedule *schedule, int block, int gpu,
                        bool complete);
/* The GPU takes blocks, or takes no more.  If a block runs on it, the caller
 * must break that block. */
void block_schedule_gpu(struct block_schedule *schedule, int gpu, bool up);

/* A block to begin now on an idle GPU; false if no block can begin. */
bool block_schedule_next(struct block_schedule *schedule,
                         struct block_schedule_block *out);

/* A step of a running block is done.  True if the block is now complete. */
bool block_schedule_measured(struct block_schedule *schedule, int block,
                             int step);
/* A step will not be done: the block is broken. */
void block_schedule_broken(struct block_schedule *schedule, int block);
/* The candidate's process died, which breaks the block.  True if the candidate
 * is out now because of too many crashes. */
bool block_schedule_crashed(struct block_schedule *schedule, int block,
                            int candidate);
/* The candidate is wrong and therefore out; the step that showed it counts as
 * done. */
void block_schedule_out(struct block_schedule *schedule, int candidate);

bool block_schedule_is_out(const struct block_schedule *schedule,
                           int candidate);

/* So many complete blocks are wanted now, over all GPUs.  Blocks end before
 * more are wanted, if the caller waits for block_schedule_done(). */
void block_schedule_want(struct block_schedule *schedule, int blocks);
/* Later blocks leave this candidate out, although it is not out; or not. */
void block_schedule_rest(struct block_schedule *schedule, int candidate,
                         bool rests);
/* Enough blocks are complete, and none is running. */
bool block_schedule_done(const struct block_schedule *schedule);
/* The pass cannot finish: too many blocks broke, or the baseline or all other
 * candidates are out. */
bool block_schedule_failed(const struct block_schedule *schedule);

int block_schedule_complete(const struct block_schedule *schedule); /* number of
                                                                     * blocks */
int block_schedule_broke(const struct block_schedule *schedule); /* likewise */
int block_schedule_wanted(
    const struct block_schedule *schedule); /* for the GPUs there are */

#endif
