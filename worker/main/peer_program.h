/* peer_program.h - is the worker that runs of another version?
 *
 * The coordinator installs fa-worker under a name with its hash, so another
 * name is another version.
 */
#ifndef FA_WORKER_MAIN_PEER_PROGRAM_H
#define FA_WORKER_MAIN_PEER_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

/* The last part of what /proc/PID/exe says, without the mark of a file that was
 * removed.  'link' is changed, and the result is a part of it. */
char *peer_program_name(char *link);

/* Compare this process with the one that listens on a connected Unix socket.
 * False if the system does not tell: then that one is kept. */
bool peer_program_differs(int socket, pid_t *pid);

#endif
