#include "coordinator/remote/ssh_session.h"

#include "coordinator/process/poll_until.h"

const char *ssh_complaint(struct ssh *ssh)
{
    char *text = NULL;

    libssh2_session_last_error(ssh->session, &text, NULL, 0);
    return text && *text ? text : "no reason given";
}

int ssh_wait(struct ssh *ssh, int64_t deadline_ns)
{
    struct pollfd ready = { .fd = ssh->fd };
    int directions = libssh2_session_block_directions(ssh->session);

    if (directions & LIBSSH2_SESSION_BLOCK_INBOUND || directions == 0)
        ready.events |= POLLIN;
    if (directions & LIBSSH2_SESSION_BLOCK_OUTBOUND)
        ready.events |= POLLOUT;
    return poll_until(&ready, 1, deadline_ns) < 0 ? -1 : 0;
}
