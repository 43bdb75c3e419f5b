/* start.h - finds a worker of a work folder, or starts it
 *
 * The worker runs in a session of its own and outlives its starter.  Its
 * standard streams are /dev/null, and its messages go to its worker.log.
 */
#ifndef FA_WORKER_MAIN_START_H
#define FA_WORKER_MAIN_START_H

#include "common/err.h"

struct instance;

/* Connect to the control socket, and start a worker if none listens.
 * '*control' is the connection.  CLAIM_BUSY: it does not start while other
 * sweeps have all its GPUs; the text says whose, and is empty while that is not
 * known.  ERR_SYSTEM: the text says why it did not start, or who holds the lock
 * without answering. */
int start_worker(const struct instance *instance, int *control,
                 struct err *err);

/* The program's side of it, "--started": run as that worker.  Returns the exit
 * code. */
int start_serve(const struct instance *instance);

#endif
