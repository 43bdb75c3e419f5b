/* relay.h - fa-worker --attach: carries frames between a coordinator's SSH
 * channel and a worker of this folder
 *
 * It starts a worker if none is running.  While the one that runs is another
 * sweep's, or all its GPUs are, it says whose, and waits.  It ends with its
 * channel, or when the worker has ended or uses a newer relay.
 */
#ifndef FA_WORKER_MAIN_RELAY_H
#define FA_WORKER_MAIN_RELAY_H

struct instance;

/* Returns the exit code of the program; errors are on stderr. */
int relay_run(const struct instance *instance);

#endif
