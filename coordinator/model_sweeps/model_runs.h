/* model_runs.h - a command for each GPU model at once, and what they say
 *
 * Their lines go to stderr with the model's label; what they print is kept
 * until all have ended.  Signals are passed on to all that still run.
 * Thread rule: the main thread, while no other runs.
 */
#ifndef FA_COORDINATOR_MODEL_SWEEPS_MODEL_RUNS_H
#define FA_COORDINATOR_MODEL_SWEEPS_MODEL_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "coordinator/model_sweeps/model_args.h"
#include "coordinator/model_sweeps/model_budget.h"
#include "coordinator/model_sweeps/model_child.h"

struct json_out;

struct model_run {
    char *label, *db;
    struct model_args args; /* after the name of the program */
    struct model_child child;
    struct buf out;  /* what it printed */
    struct buf line; /* of stderr, not complete yet */
    int code;        /* its exit code */
    bool waits;      /* it is not started yet: its budget is used up */
};

void model_runs_init(struct model_run *run, const char *label, const char *db);
void model_runs_fini(struct model_run *runs, size_t n);

/* The budget that they share. */
struct model_runs_budget {
    double whole_usd;            /* 0: none */
    struct model_budget *models; /* of each run, shared out */
    double (*spent_usd)(const char *db);
};

/* Called about once a second while they run, until it returns true. */
typedef bool model_runs_look(void *arg);

/* Run all of them to their ends; fills in 'code' and 'out'.  What one leaves of
 * its budget is told to those that still run, and one whose budget is used up
 * begins when it gets something, or when no other runs.  'budget' may be NULL,
 * and so may 'look'.  Returns model_args_code() of them. */
int model_runs_all(struct model_run *runs, size_t n,
                   const struct model_runs_budget *budget,
                   model_runs_look *look, void *arg);

/* What they printed, each below its label. */
void model_runs_print(const struct model_run *runs, size_t n);
/* The same as the array 'runs', for commands that printed JSON. */
void model_runs_json(const struct model_run *runs, size_t n,
                     struct json_out *out);

/* A line of stderr with the label behind the time that it begins with. */
void model_runs_line(const char *label, const char *line, size_t len,
                     struct buf *out);

#endif
