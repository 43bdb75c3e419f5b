/* fail.h - how a command says what went wrong, and ends */
#ifndef FA_COORDINATOR_TASKS_FAIL_H
#define FA_COORDINATOR_TASKS_FAIL_H

struct err;

/* Print an error, "fa-coord: what: why", to stderr.  Returns the exit code
 * that belongs to an ERR_* code. */
int fail_with(int code, const struct err *err);

#endif
