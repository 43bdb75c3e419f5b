/* ssh_session.h - one libssh2 session, from socket to login
 *
 * Private to the libssh2 backend: ssh.c opens it and runs commands,
 * ssh_connect.c makes the socket, ssh_hostkey.c judges the server, ssh_auth.c
 * logs in, and ssh_session.c has what all of them need.  All calls are
 * non-blocking, and each phase has a deadline.
 */
#ifndef FA_COORDINATOR_REMOTE_SSH_SESSION_H
#define FA_COORDINATOR_REMOTE_SSH_SESSION_H

#include <libssh2.h>

#include "coordinator/process/subprocess.h"
#include "coordinator/remote/backend.h"

struct ssh {
    struct remote base;
    const struct route *route;       /* borrowed while the session opens */
    const struct ssh_config *config; /* of the host; likewise */
    LIBSSH2_SESSION *session;
    char lacks[SSH_LACKS_BYTES]; /* why the login failed, or "" */
    int fd;
    struct subprocess proxy; /* ssh -W through a jump host, or none */
};

/* Wait for the socket in the direction that libssh2 needs.  -1 if the time is
 * up. */
int ssh_wait(struct ssh *ssh, int64_t deadline_ns);

/* libssh2's last error text, for the end of a message. */
const char *ssh_complaint(struct ssh *ssh);

/* ---- the phases, in order */

/* Connect 'fd', directly or through the jump host. */
int ssh_connect(struct ssh *ssh, int64_t deadline_ns, struct err *err);

/* Set the order of host key types for the handshake; then judge the key that
 * the server showed. */
int ssh_hostkey_prepare(struct ssh *ssh, struct err *err);
int ssh_hostkey_check(struct ssh *ssh, struct err *err);

int ssh_auth(struct ssh *ssh, int64_t deadline_ns, struct err *err);

#endif
