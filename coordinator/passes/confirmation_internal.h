/* confirmation_internal.h - the inside of a confirmation, for
 * confirmation_*.c and external_runs.c
 */
#ifndef FA_COORDINATOR_PASSES_CONFIRMATION_INTERNAL_H
#define FA_COORDINATOR_PASSES_CONFIRMATION_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/confirm/block_schedule.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/confirm/external_schedule.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/passes/passes.h"
#include "coordinator/spec/spec_external.h"
#include "coordinator/state/reactor.h"

/* An external baseline and the block that runs on a GPU. */
struct card_external {
    enum external_schedule_answer joins; /* does it take part? */
    bool met; /* it was considered before the step to be ordered */
};

/* A GPU, by its UUID, and the block that runs on it. */
struct card {
    char uuid[128];
    int host, gpu;    /* where it was last seen; -1: not in this run */
    int block;        /* that runs on it, or 0 */
    int64_t began_ns; /* that block */
    int64_t took_ns;  /* the last complete one; 0: none but the first */
    bool warm;        /* the first one is complete: it is slower */
    int n;
    struct block_schedule_step *steps;
    int64_t *orders; /* of each step; 0: not made yet, or over */
    int next;        /* step to be ordered */
    struct card_external externals[SPEC_EXTERNALS_MAX];
};

struct external_runs; /* external_runs.c */

struct confirmation_pass {
    int pass;                    /* its number, for its orders */
    struct external_runs *tools; /* NULL: no external baselines */
    struct confirmation *is;
    struct block_schedule *confirm;
    struct sequential_course *course; /* its looks; NULL before the first */
    struct card *cards; /* their index is the number for 'confirm' */
    int n_cards;
    int *units;      /* of the candidates that run */
    double *medians; /* [n_running][n_shapes] of the newest measurement in this
                      * run, seconds; NAN: none yet */
    int done;        /* measurements in complete blocks and the running ones */
    enum sequential_end end; /* if there are looks: of the last one */
    int looks;
    int samples; /* of a candidate, in a block that begins now */
    int total;   /* measurements until the next look */
    bool closed; /* a cap ends it with the blocks that are complete */
};

/* confirmation_state.c */
/* Its number for 'confirm'.  A new card invalidates pointers to cards. */
int confirmation_state_card(struct confirmation_pass *c, const char *uuid);
/* Drop the candidate, here and in the database. */
void confirmation_state_out(struct sweep *sweep, struct confirmation_pass *c,
                            int candidate, const char *reason);
/* Why it has failed (block_schedule_failed()), and what to do.  'db' is the
 * database's path.  Returns ERR_DEVICE. */
int confirmation_state_failure(const struct confirmation_pass *c,
                               const char *db, struct err *err);

/* confirmation_recall.c */
/* The plan's unit of each candidate.  ERR_INPUT when it changed since. */
int confirmation_recall_units(struct sweep *sweep, struct confirmation_pass *c,
                              struct err *err);
/* The shapes: those of the plan, or ERR_INPUT when the confirmation is of
 * others. */
int confirmation_recall_shapes(struct sweep *sweep, struct confirmation *is,
                               struct err *err);
/* Blocks that an earlier run completed or broke, and dropped candidates.  Or
 * ERR_STORE. */
int confirmation_recall(struct sweep *sweep, struct confirmation_pass *c,
                        struct err *err);

/* confirmation_block.c: a block on a card */
void confirmation_block_begin(struct confirmation_pass *c,
                              const struct block_schedule_block *block,
                              int64_t now);
/* Order the next steps of its block; does nothing if no block runs. */
void confirmation_block_go_on(struct sweep *sweep, struct confirmation_pass *c,
                              struct card *card);
/* A block lost a measurement: drop the rest of it. */
void confirmation_block_break(struct sweep *sweep, struct confirmation_pass *c,
                              struct card *card);
/* The block is over; the card has no block now. */
void confirmation_block_forget(struct card *card);

#endif
