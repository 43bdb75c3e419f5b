/* sweep_search_private.h - the inside of a search, for sweep_search*.c */
#ifndef FA_COORDINATOR_SWEEP_SEARCH_PRIVATE_H
#define FA_COORDINATOR_SWEEP_SEARCH_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/sweep_state.h"
#include "coordinator/terms.h"

struct grid;
struct quest;

struct sweep_search {
    struct terms_plan plan;
    struct grid *grid;
    struct quest *quest;
    int64_t known;       /* configurations that earlier runs settled, at most */
    int objective;       /* a shape, or OBJECTIVE_ALL */
    const char **shapes; /* their names */
    size_t written;      /* steps that are in the database */
    bool done;           /* nothing more will be asked for */
};

/* What a step is called in the database, by enum quest_step_kind. */
extern const char *const sweep_search_kinds[];

/* The strategy, or the program, that is asked from now on. */
int sweep_search_start(struct sweep *sweep, struct err *err);
/* What was asked and told since the last time, and the units it is about. */
int sweep_search_put_steps(struct sweep *sweep, struct err *err);

#endif
