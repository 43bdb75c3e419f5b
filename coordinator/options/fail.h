/* fail.h - prints a command's error and chooses the exit code */
#ifndef FA_COORDINATOR_OPTIONS_FAIL_H
#define FA_COORDINATOR_OPTIONS_FAIL_H

struct err;

/* Print an error, "fa-coord: what: why", to stderr.  Returns the exit code for
 * an ERR_* code. */
int fail_with(int code, const struct err *err);

#endif
