/* start.h - find the worker of a folder, or make it run
 *
 * The worker is a child in a session of its own that outlives its starter:
 * standard streams on /dev/null, messages in DIR/worker.log.
 */
#ifndef FA_WORKER_MAIN_START_H
#define FA_WORKER_MAIN_START_H

#include "common/err.h"

/* Connect to the control socket, starting a worker when none listens.
 * '*control' is the connection.  ERR_SYSTEM: the text says what hindered it
 * or who holds the lock without answering. */
int start_worker(const char *dir, int *control, struct err *err);

/* The program's part of it, "--started": be that worker.  Returns the exit
 * code. */
int start_serve(const char *dir);

#endif
