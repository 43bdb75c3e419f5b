/* start.h - finds the worker of a folder, or starts it
 *
 * The worker runs in a session of its own and outlives its starter.  Its
 * standard streams are /dev/null, and its messages go to DIR/worker.log.
 */
#ifndef FA_WORKER_MAIN_START_H
#define FA_WORKER_MAIN_START_H

#include "common/err.h"

/* Connect to the control socket, and start a worker if none listens.
 * '*control' is the connection.  ERR_SYSTEM: the text says why it did not
 * start, or who holds the lock without answering. */
int start_worker(const char *dir, int *control, struct err *err);

/* The program's side of it, "--started": run as that worker.  Returns the exit
 * code. */
int start_serve(const char *dir);

#endif
