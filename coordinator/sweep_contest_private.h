/* sweep_contest_private.h - the inside of a contest, for sweep_contest*.c */
#ifndef FA_COORDINATOR_SWEEP_CONTEST_PRIVATE_H
#define FA_COORDINATOR_SWEEP_CONTEST_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/confirm.h"
#include "coordinator/contest.h"
#include "coordinator/sweep_state.h"

/* A GPU, by its UUID, and the block that runs on it. */
struct card {
    char uuid[128];
    int host, gpu; /* where it was last seen; -1: not in this run */
    int block;     /* that runs on it, 0 none */
    int n;
    struct confirm_step *steps;
    int64_t *orders; /* of each step; 0: not made yet */
    int next;        /* step to be ordered */
    bool met;        /* the external baseline had its chance before that step */
    enum errands_answer joins; /* does it take part? */
};

struct sweep_contest {
    struct contest *is;
    struct confirm *confirm;
    struct card *cards; /* their index is the number for 'confirm' */
    int n_cards;
    int *units; /* of the contestants that run */
    int done;   /* measurements in complete blocks and the running ones */
};

/* sweep_contest.c */
/* Its number for 'confirm'; pointers to cards are void when it is new. */
int sweep_contest_card(struct sweep_contest *c, const char *uuid);
/* The contestant takes part no more, here and in the database. */
void sweep_contest_out(struct sweep *sweep, int contestant, const char *reason);

/* sweep_contest_recall.c */
/* The plan's unit of each contestant.  ERR_INPUT when it changed since. */
int sweep_contest_units(struct sweep *sweep, struct sweep_contest *c,
                        struct err *err);
/* The shapes: those of the plan, or ERR_INPUT when the contest is of others. */
int sweep_contest_shapes(struct sweep *sweep, struct contest *is,
                         struct err *err);
/* Blocks that an earlier run completed or broke, and who is out.  ERR_STORE */
int sweep_contest_recall(struct sweep *sweep, struct sweep_contest *c,
                         struct err *err);

/* sweep_contest_block.c: a block on a card */
void sweep_block_begin(struct sweep *sweep, const struct confirm_block *block);
/* Order what can be ordered of it; does nothing where no block runs. */
void sweep_block_go_on(struct sweep *sweep, struct card *card);
/* Nobody waits for the rest of a block that lost a measurement. */
void sweep_block_break(struct sweep *sweep, struct card *card);
/* It is over: the card has none. */
void sweep_block_forget(struct card *card);

#endif
