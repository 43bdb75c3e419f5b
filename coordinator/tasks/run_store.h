/* run_store.h - the database that a run writes: is it this sweep's? */
#ifndef FA_COORDINATOR_TASKS_RUN_STORE_H
#define FA_COORDINATOR_TASKS_RUN_STORE_H

#include <stdbool.h>

struct err;
struct run;
struct store;

/* Before anything is opened.  ERR_INPUT: the record that is replayed is the
 * database to write, or a log or metrics would go into a database. */
int run_store_check_place(const struct run *run, struct err *err);

/* Open run->db to write, or make it, and note that the command began.
 * 'asked': it is for configurations that were asked for (fuzz), not a sweep.
 * ERR_INPUT if it holds another kind of work, or a sweep of another name or
 * device: the newest sweep is what every command reports, so its results would
 * be out of sight. */
int run_store_open(struct run *run, bool asked, struct store **out,
                   struct err *err);

#endif
