/* search_internal.h - the inside of a search, for search_*.c and halving.c */
#ifndef FA_COORDINATOR_PASSES_SEARCH_INTERNAL_H
#define FA_COORDINATOR_PASSES_SEARCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/passes/passes.h"
#include "coordinator/search/strategy.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/state/reactor.h"

struct space_domain;
struct past_runs;
struct search;

struct halving; /* halving.c */

struct search_pass {
    int pass;             /* its number, for its orders */
    struct halving *race; /* NULL: nothing is on a rung */
    struct search_settings_plan plan;
    struct space_domain *grid;
    struct search *search;
    double *prior;       /* of strategy_warm(), or NULL */
    int64_t known;       /* configurations that earlier runs settled, at most */
    int objective;       /* a shape, or OBJECTIVE_ALL */
    const char **shapes; /* their names */
    size_t written;      /* steps that are in the database */
    int64_t until_ns;    /* when plan.limit_s is over; 0: no host was ready */
    bool done;           /* the strategy will not ask for more points */
};

/* ---- search_state.c */
/* What a step is called in the database, by enum search_step_kind. */
extern const char *const search_state_kinds[];
/* Start the strategy or the program. */
int search_state_start(struct sweep *sweep, struct search_pass *search,
                       struct err *err);
/* How many points keep the hosts file busy, if results are told in the order
 * of the questions; 0: they are told as they come. */
int search_state_window(const struct sweep *sweep);
/* Store what was asked and told since the last call, and its units. */
int search_state_put_steps(struct sweep *sweep, struct search_pass *search,
                           struct err *err);
/* The same for the loop, where an error ends the sweep. */
void search_state_write_steps(struct sweep *sweep, struct search_pass *search);
/* A rung has its time; 'outcome' as for a strategy. */
void search_state_settle_rung(struct sweep *sweep, struct search_pass *search,
                              int unit, enum strategy_outcome outcome,
                              double time);

/* ---- search_recall.c: back to where an earlier run left it. */
int search_recall(struct sweep *sweep, struct pass *pass,
                  struct past_runs *past, struct err *err);

/* ---- halving.c: units that a race wants on a rung above the first. */
void halving_want(struct search_pass *search, int unit);
/* Tell the strategy which units were lost too often; then order the others,
 * and those that it asked for since. */
void halving_give_up(struct sweep *sweep, struct search_pass *search);
void halving_order(struct sweep *sweep, struct search_pass *search);
/* Tell each unit that waits on a rung; returns how many there are. */
int halving_waits_for(const struct sweep *sweep,
                      const struct search_pass *search, pass_wait_fn *tell,
                      void *arg);
/* An order of it is over. */
void halving_ended(struct sweep *sweep, struct search_pass *search,
                   const struct sched_lease *lease, const struct msg *result);
/* How many samples a race wants of it; 0 without a race: as many as usual. */
int halving_samples(const struct sweep *sweep, const struct sched_lease *lease);
void halving_free(struct halving *race); /* NULL is fine */

#endif
