/* sandbox_landlock.h - a sandbox by landlock(7), where namespaces are refused
 *
 * Landlock knows what is allowed, not what is forbidden: everything is but
 * what is hidden.  Folders that contain something hidden cannot be listed, and
 * what is made in them later is not seen.  From Linux 6.12 on, signals and
 * abstract sockets end at the sandbox; debugging does since 5.13.
 */
#ifndef FA_WORKER_PROCESS_SANDBOX_LANDLOCK_H
#define FA_WORKER_PROCESS_SANDBOX_LANDLOCK_H

#include <stdbool.h>

struct sandbox;

bool sandbox_landlock_is_here(void);

/* Returns a descriptor of its rules, or -1 with errno. */
int sandbox_landlock_open(const struct sandbox *sandbox);

/* From here on they bind this process and its children.  System calls only;
 * false with errno. */
bool sandbox_landlock_enter(int rules);

#endif
