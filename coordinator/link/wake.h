/* wake.h - when a ZeroMQ socket must be looked at
 *
 * zmq_poll() asks the system several times for each socket, however quiet it
 * is.  A socket has a descriptor, too, which becomes readable when something
 * happens; but any call on the socket may take that in without a word.  So a
 * socket is looked at after a call on it until it has nothing to receive.  Then
 * it is quiet: poll() its descriptor, and nothing else.
 *
 * Thread rule: the thread of the socket.
 */
#ifndef FA_COORDINATOR_LINK_WAKE_H
#define FA_COORDINATOR_LINK_WAKE_H

#include <poll.h>
#include <stdbool.h>

struct wake {
    void *socket; /* borrowed */
    int fd;
    bool quiet;
};

struct wake wake_of(void *socket);
/* There was a call on the socket, or its descriptor is readable. */
void wake_touch(struct wake *wake);
/* Is there something to receive? */
bool wake_has(struct wake *wake);
/* What to poll, after wake_has(), and what came of it. */
struct pollfd wake_poll(const struct wake *wake);
void wake_polled(struct wake *wake, const struct pollfd *fd);

#endif
