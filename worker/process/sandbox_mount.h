/* sandbox_mount.h - a sandbox by mounts (mount_namespaces(7))
 *
 * It runs in a new mount namespace, in a copy of a process that may have had
 * threads: it makes system calls only.
 */
#ifndef FA_WORKER_PROCESS_SANDBOX_MOUNT_H
#define FA_WORKER_PROCESS_SANDBOX_MOUNT_H

#include <stdbool.h>

struct sandbox;

/* Cover what is hidden, and mount again in it what is shown.  /proc must be
 * that of this PID namespace.  False with errno. */
bool sandbox_mount_enter(const struct sandbox *sandbox);

#endif
