/* conclusion.h - the verdict of a confirmation
 *
 * Only this module derives the verdict from the database; report, confirm,
 * bench and compare all use it.  Only complete blocks count, and only
 * candidates that were correct in all of them (docs/confirm.md).
 *
 * Immutable once loaded; the report that it was loaded with outlives it.
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/conclusion/conclusion_shape.h"
#include "coordinator/confirm/analysis.h"
#include "coordinator/confirm/best_set.h"
#include "coordinator/confirm/confirmation.h"

struct conclusion_checked;  /* conclusion_checked.h */
struct conclusion_external; /* conclusion_external.h */
struct sequential;
struct report_cost;
struct err;
struct report;
struct report_config;
struct store;

enum conclusion_state {
    CONCLUSION_NONE,   /* nothing was confirmed */
    CONCLUSION_BEGUN,  /* it is not complete; it can be resumed */
    CONCLUSION_FAILED, /* it could not be completed */
    CONCLUSION_DONE,
};

struct conclusion_entry {
    size_t candidate;                   /* index in 'confirmation' */
    char *name;                         /* "BLOCK_M=128 STAGES=2" */
    const struct report_config *config; /* NULL: the report does not have it */
    char *code; /* hash of each artifact that was measured; "": not known */
    /* At each shape of the confirmation, in all blocks; NULL: not loaded. */
    struct conclusion_checked *checked;
};

/* In the order of their names; empty if none ran. */
struct conclusion_externals {
    struct conclusion_external *list; /* conclusion_external.h */
    size_t n;
};

struct conclusion_blocks {
    int complete, broken;     /* complete: those that count */
    struct sequential *looks; /* NULL: nothing was confirmed */
};

/* Counts of configurations of the sweep. */
struct conclusion_screening {
    size_t asked, pending; /* pending: without a result */
};

struct conclusion_cost {
    double hours; /* that hosts were held, including the proof */
    double usd;   /* NAN: a host has no price */
};

struct conclusion {
    enum conclusion_state state;
    bool emulated; /* times of the cpu device: no verdict about a GPU */
    bool replayed; /* times from a record */
    struct confirmation confirmation;
    struct conclusion_blocks blocks;
    size_t n_gpus;
    struct conclusion_entry *entries; /* the baseline first */
    size_t n;
    struct conclusion_entry *rejected; /* conclusion_reason() has the reason */
    size_t n_rejected;
    struct conclusion_shape *shapes; /* that of the objective first */
    size_t n_shapes;

    struct conclusion_externals externals;

    size_t best; /* the entry to use, by the objective, or BEST_SET_NONE */
    const struct report_config *baseline; /* NULL: not known */
    bool success;                         /* that of the first shape */
    struct conclusion_screening screening;
    char *why_none; /* why nothing was confirmed; NULL if something was */
    struct conclusion_cost cost;
    char *sentence; /* result by the objective, without a full stop */
};

/* Load the newest confirmation of this kind.  Without one, 'state' and the
 * sentence say so.  'cost' is from the same database.  ERR_STORE */
int conclusion_load(struct store *store, const struct report *report,
                    const struct report_cost *cost, enum confirmation_kind kind,
                    struct conclusion **out, struct err *err);
void conclusion_free(struct conclusion *conclusion); /* NULL is fine */

/* The reason for one in 'rejected'. */
const char *conclusion_reason(const struct conclusion *conclusion,
                              const struct conclusion_entry *rejected);

#endif
