/* serve_connections.h - which connections of a server are open
 *
 * A new one is always taken: the oldest makes room for it.  So programs that
 * hold connections without asking anything cannot keep the others out.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_SERVE_SERVE_CONNECTIONS_H
#define FA_COORDINATOR_SERVE_SERVE_CONNECTIONS_H

#include <stddef.h>

#define SERVE_CONNECTIONS_MAX 32u /* of an address; a browser opens six */

struct serve_connections {
    int fds[SERVE_CONNECTIONS_MAX]; /* the oldest first; borrowed */
    size_t n;
};

/* Add a socket.  If there are too many, the oldest is shut down and forgotten;
 * who owns it reads its end, and closes it. */
void serve_connections_add(struct serve_connections *open, int fd);
/* One that was forgotten is fine. */
void serve_connections_remove(struct serve_connections *open, int fd);

#endif
