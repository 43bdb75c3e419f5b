/* block_schedule.h - which block of a confirmation comes next, on which GPU
 *
 * A block is every candidate once at every shape, on one GPU, with the
 * candidates of a shape in an order drawn at random; it begins in a fresh
 * process, so what differs from process to process is sampled by blocks.  A
 * block counts when it is complete.  One that lost a measurement is broken:
 * it is dropped, and another one made in its place.
 *
 * Candidate 0 is the baseline.  One that turns out wrong, or whose
 * process dies again and again, is out: blocks do without it from then on.
 *
 * Pure: no clock, no socket, no database.  Everything is an index chosen by
 * the caller; GPUs may come and go.
 */
#ifndef FA_COORDINATOR_CONFIRM_BLOCK_SCHEDULE_H
#define FA_COORDINATOR_CONFIRM_BLOCK_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block_schedule;

struct block_schedule_design {
    int candidates; /* the baseline and at least one more */
    int shapes;
    int blocks;     /* complete ones, over all GPUs */
    int gpu_blocks; /* at least so many on each GPU that is up */
    uint64_t seed;  /* of the orders */
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
 * and a candidate that was out.  Before the first block_schedule_next(). */
void block_schedule_had(struct block_schedule *schedule, int block, int gpu,
                        bool complete);
/* It takes blocks, or no more.  What it was at is broken by the caller. */
void block_schedule_gpu(struct block_schedule *schedule, int gpu, bool up);

/* A block to begin now, on a GPU that has none: false when there is none. */
bool block_schedule_next(struct block_schedule *schedule,
                         struct block_schedule_block *out);

/* A step of a block that runs is done.  True when the block is complete. */
bool block_schedule_measured(struct block_schedule *schedule, int block,
                             int step);
/* A step that is not done and will not be: the block is broken. */
void block_schedule_broken(struct block_schedule *schedule, int block);
/* The candidate's process died, which breaks the block; true when it was
 * once too often. */
bool block_schedule_crashed(struct block_schedule *schedule, int block,
                            int candidate);
/* It is not right, and out; the step at which it showed is done like any. */
void block_schedule_out(struct block_schedule *schedule, int candidate);

bool block_schedule_is_out(const struct block_schedule *schedule,
                           int candidate);
/* Enough blocks are complete, and none runs. */
bool block_schedule_done(const struct block_schedule *schedule);
/* It cannot come to an end: too many blocks broke, or the baseline or all
 * the others are out. */
bool block_schedule_failed(const struct block_schedule *schedule);

int block_schedule_complete(const struct block_schedule *schedule); /* blocks */
int block_schedule_broke(const struct block_schedule *schedule); /* likewise */
int block_schedule_wanted(
    const struct block_schedule *schedule); /* with the GPUs there are */

#endif
