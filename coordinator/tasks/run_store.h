/* run_store.h - the database that a run writes: is it for this work? */
#ifndef FA_COORDINATOR_TASKS_RUN_STORE_H
#define FA_COORDINATOR_TASKS_RUN_STORE_H

#include <stdbool.h>

struct err;
struct run;
struct store;

/* Open run->db to write, or make it, and note that the command began.
 * 'asked': it is for configurations that were asked for (fuzz), not a sweep.
 * ERR_INPUT if it holds the other kind of work. */
int run_store_open(struct run *run, bool asked, struct store **out,
                   struct err *err);

#endif
