/* turns.h - what each launch of a series gets: values, buffers, poison
 *
 * No launch may be able to reuse what an earlier one has computed, so which of
 * the problem's trials has its values next is drawn at random, and what its
 * outputs hold before it as well.  How the inputs lie in memory is that of the
 * L2 mode: rotate takes the copies in turn (each has the values of one trial),
 * warm copies a trial's inputs to where the last launch had its own, and flush
 * uses them where they are.
 */
#ifndef FA_WORKER_RUNNER_TURNS_H
#define FA_WORKER_RUNNER_TURNS_H

#include "worker/runner/resident.h"

struct turns {
    const struct problem *problem;
    enum l2_mode l2; /* L2_MODE_NONE: not yet known */
    uint64_t state;  /* of the random numbers */
    size_t done;     /* turns so far */
    bool poisoned;   /* some buffer was, before a launch */
    /* checksums of outputs that were compared and passed; 0: none yet */
    uint64_t known[RESIDENT_TRIALS][WIRE_ARGS_MAX];
    struct device_buffer *written[WIRE_ARGS_MAX]; /* of device_batch */
    /* of the batch at hand */
    size_t n;
    struct device_turn batch[DEVICE_BATCH];
    const struct trial *trials[DEVICE_BATCH]; /* with these values */
    struct resident_problem_args args[DEVICE_BATCH];
};

/* 'problem' must outlive it. */
void turns_init(struct turns *turns, const struct problem *problem,
                uint64_t key);

/* Say how the inputs lie in memory from now on. */
void turns_arrange(struct turns *turns, enum l2_mode l2);

/* The first poison is POISON_UNWRITTEN, which says most; then it is any. */
struct poison turns_poison(struct turns *turns);

/* The next n turns. */
void turns_take(struct turns *turns, size_t n);

/* The inputs that were written for the last launch, with their checksums;
 * false if none were. */
bool turns_last(const struct turns *turns, struct trial *out);

/* The trial of this number has passed with these outputs. */
void turns_learn(struct turns *turns, unsigned trial, size_t argument,
                 uint64_t sum);

#endif
