#include "coordinator/link/wake.h"

#include <zmq.h>

struct wake wake_of(void *socket)
{
    struct wake wake = { .socket = socket, .fd = -1 };
    size_t len = sizeof(wake.fd);

    (void)zmq_getsockopt(socket, ZMQ_FD, &wake.fd, &len); /* or it is closed */
    return wake;
}

void wake_touch(struct wake *wake)
{
    wake->quiet = false;
}

bool wake_has(struct wake *wake)
{
    int events = 0;
    size_t len = sizeof(events);

    if (wake->quiet)
        return false;
    if (zmq_getsockopt(wake->socket, ZMQ_EVENTS, &events, &len) < 0)
        return false;
    wake->quiet = !(events & ZMQ_POLLIN);
    return !wake->quiet;
}

struct pollfd wake_poll(const struct wake *wake)
{
    return (struct pollfd){ .fd = wake->fd, .events = POLLIN };
}

void wake_polled(struct wake *wake, const struct pollfd *fd)
{
    if (fd->revents)
        wake_touch(wake);
}
