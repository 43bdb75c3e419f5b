/* run_budget.h - what a run may spend beyond its budget, told while it runs
 *
 * The sweep of one GPU model is a process that another fa-coord started
 * (model_sweeps.h).  When the sweep of another model ends below its budget, the
 * rest is told here: a line of dollars each, through a pipe whose number is in
 * the environment.
 * Thread rule: the main thread; run_budget_open() before any other thread.
 */
#ifndef FA_COORDINATOR_TASKS_RUN_BUDGET_H
#define FA_COORDINATOR_TASKS_RUN_BUDGET_H

#define RUN_BUDGET_VARIABLE "FA_BUDGET_FD"

/* Take the pipe from the environment, if there is one. */
void run_budget_open(void);

/* All that was told until now, in US dollars. */
double run_budget_more(void);

#endif
