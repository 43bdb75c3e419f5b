/* turns.h - what each launch of a series gets: values, buffers, poison
 *
 * No launch may be able to reuse what an earlier one has computed, so which of
 * the problem's trials has its values next is drawn at random, and what its
 * outputs hold before it as well.  In the L2 mode rotate the copies come in
 * turn, each with the values of one trial.  In the mode warm a launch finds its
 * inputs in the cache, so TURNS_WARM in a row have the same ones, and the first
 * of them is led by one that is not timed, unless its own time does not count.
 */
#ifndef FA_WORKER_RUNNER_TURNS_H
#define FA_WORKER_RUNNER_TURNS_H

#include "worker/runner/problem.h"

enum {
    TURNS_WARM = 10
};

struct turns {
    const struct problem *problem;
    enum l2_mode l2; /* L2_MODE_NONE: not yet known */
    uint64_t state;  /* of the random numbers */
    size_t done;     /* turns so far */
    bool poisoned;   /* some buffer was, before a launch */
    unsigned had;    /* bit k: this round has had enum poison_kind k */
    bool launched;   /* the kernel was, with these buffers, */
    bool kept;       /* and its latest launch had turns_keep() */
    /* checksums of outputs that passed, or 0, and of the last one */
    uint64_t known[PROBLEM_TRIALS][WIRE_ARGS_MAX];
    uint64_t latest[PROBLEM_TRIALS][WIRE_ARGS_MAX];
    bool varied;              /* two of one trial that passed were different */
    const struct trial *warm; /* the inputs of the last launch, in that mode */
    /* of the batch at hand */
    struct device_turn batch[DEVICE_BATCH];
    const struct trial *trials[DEVICE_BATCH]; /* with these values */
    struct problem_args args[DEVICE_BATCH];
};

/* 'problem' must outlive it. */
void turns_init(struct turns *turns, const struct problem *problem,
                uint64_t key);

/* From now on the turns are those of a problem with other values, each trial in
 * its turn. */
void turns_renew(struct turns *turns, const struct problem *problem);

/* Say how the inputs lie in memory from now on. */
void turns_arrange(struct turns *turns, enum l2_mode l2);

/* The first poison is POISON_UNWRITTEN, which says most; then it is any.  A
 * round of POISON_KINDS has all of them. */
struct poison turns_poison(struct turns *turns);

/* Do workspaces stay, in this launch, as the one before left them?  In every
 * other one they do, as a program leaves them, which does not clear them
 * either.  Never in one whose time counts: there it could find its results. */
bool turns_keep(struct turns *turns);

/* The next n turns; of launches whose times do not count, none is led. */
void turns_take(struct turns *turns, size_t n, bool counted);

/* An output of the trial of this number has passed.  One with the same bits
 * need not be compared, unless bits were seen to vary. */
void turns_learn(struct turns *turns, unsigned trial, size_t argument,
                 uint64_t sum);

#endif
