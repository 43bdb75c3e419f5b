/* confirm.h - which block of a confirmation comes next, on which GPU
 *
 * A block is every contestant once at every shape, on one GPU, with the
 * contestants of a shape in an order drawn at random; it begins in a fresh
 * process, so what differs from process to process is sampled by blocks.  A
 * block counts when it is complete.  One that lost a measurement is broken:
 * it is dropped, and another one made in its place.
 *
 * Contestant 0 is the baseline.  One that turns out wrong, or whose
 * process dies again and again, is out: blocks do without it from then on.
 *
 * Pure: no clock, no socket, no database.  Everything is an index chosen by
 * the caller; GPUs may come and go.
 */
#ifndef FA_COORDINATOR_CONFIRM_H
#define FA_COORDINATOR_CONFIRM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct confirm;

struct confirm_design {
    int contestants; /* the baseline and at least one more */
    int shapes;
    int blocks;     /* complete ones, over all GPUs */
    int gpu_blocks; /* at least so many on each GPU that is up */
    uint64_t seed;  /* of the orders */
};

#define CONFIRM_CRASHES 3 /* of one contestant: then it is out */
#define CONFIRM_BLOCKS_MAX 9999

struct confirm_step {
    int contestant, shape;
};

struct confirm_block {
    int number; /* 1 to CONFIRM_BLOCKS_MAX, never used twice */
    int gpu;
    int n;
    const struct confirm_step *steps; /* [n], until the block ends */
};

struct confirm *confirm_new(const struct confirm_design *design);
void confirm_free(struct confirm *confirm); /* NULL is fine */

/* A block of an earlier run, complete or not, on a GPU of any number from 0;
 * and a contestant that was out.  Before the first confirm_next(). */
void confirm_had(struct confirm *confirm, int block, int gpu, bool complete);
/* It takes blocks, or no more.  What it was at is broken by the caller. */
void confirm_gpu(struct confirm *confirm, int gpu, bool up);

/* A block to begin now, on a GPU that has none: false when there is none. */
bool confirm_next(struct confirm *confirm, struct confirm_block *out);

/* A step of a block that runs is done.  True when the block is complete. */
bool confirm_measured(struct confirm *confirm, int block, int step);
/* A step that is not done and will not be: the block is broken. */
void confirm_broken(struct confirm *confirm, int block);
/* The contestant's process died, which breaks the block; true when it was
 * once too often. */
bool confirm_crashed(struct confirm *confirm, int block, int contestant);
/* It is not right, and out; the step at which it showed is done like any. */
void confirm_out(struct confirm *confirm, int contestant);

bool confirm_is_out(const struct confirm *confirm, int contestant);
/* Enough blocks are complete, and none runs. */
bool confirm_done(const struct confirm *confirm);
/* It cannot come to an end: too many blocks broke, or the baseline or all
 * the others are out. */
bool confirm_failed(const struct confirm *confirm);

int confirm_complete(const struct confirm *confirm); /* blocks */
int confirm_broke(const struct confirm *confirm);    /* likewise */
int confirm_wanted(const struct confirm *confirm); /* with the GPUs there are */

#endif
