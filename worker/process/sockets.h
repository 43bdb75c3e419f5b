/* sockets.h - the sockets of this user in a folder that all share
 *
 * Looked for before each program that is started, so a folder in which there
 * was no socket is read again only after it changed: /tmp may hold thousands.
 * Thread rule: one thread a process.
 */
#ifndef FA_WORKER_PROCESS_SOCKETS_H
#define FA_WORKER_PROCESS_SOCKETS_H

#include <stddef.h>
#include <stdint.h>

/* Called with the name of each socket in the folder, and of each folder in it
 * that has one.  The name is valid during the call. */
typedef void sockets_found(void *data, const char *name);

/* 'now_ns' is UTC.  Names that begin with a dot are left out.  Returns how many
 * folders were read, 'folder' included; 0 if it cannot be read. */
size_t sockets_find(const char *folder, int64_t now_ns, sockets_found *found,
                    void *data);

#endif
