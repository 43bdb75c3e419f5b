#include "coordinator/serve/serve_connections.h"

#include <string.h>
#include <sys/socket.h>

static void forget(struct serve_connections *open, size_t i)
{
    open->n--;
    memmove(&open->fds[i], &open->fds[i + 1],
            (open->n - i) * sizeof(open->fds[0]));
}

void serve_connections_add(struct serve_connections *open, int fd)
{
    if (open->n == SERVE_CONNECTIONS_MAX) {
        (void)shutdown(open->fds[0], SHUT_RDWR); /* or its peer was faster */
        forget(open, 0);
    }
    open->fds[open->n++] = fd;
}

void serve_connections_remove(struct serve_connections *open, int fd)
{
    for (size_t i = 0; i < open->n; i++)
        if (open->fds[i] == fd) {
            forget(open, i);
            return;
        }
}
