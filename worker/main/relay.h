/* relay.h - fa-worker --attach: carries frames between a coordinator's SSH
 * channel and the worker of this folder
 *
 * It starts a worker if none is running.  While the one that runs is another
 * sweep's, it says whose, and waits.  It ends with its channel, or when the
 * worker has ended or uses a newer relay.
 */
#ifndef FA_WORKER_MAIN_RELAY_H
#define FA_WORKER_MAIN_RELAY_H

/* Returns the exit code of the program; errors are on stderr. */
int relay_run(const char *dir);

#endif
