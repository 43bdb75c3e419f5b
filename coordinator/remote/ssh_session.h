/* ssh_session.h - one libssh2 session on its way from a socket to a login
 *
 * Private to the libssh2 backend: ssh.c opens it and runs commands,
 * ssh_connect.c makes the socket, ssh_hostkey.c judges the server,
 * ssh_auth.c logs in; what they all need is in ssh_session.c.  Everything is
 * non-blocking with a deadline a phase.
 */
#ifndef FA_COORDINATOR_REMOTE_SSH_SESSION_H
#define FA_COORDINATOR_REMOTE_SSH_SESSION_H

#include <libssh2.h>

#include "coordinator/process/child.h"
#include "coordinator/remote/backend.h"
#include "coordinator/remote/ssh_config.h"

struct known_hosts_set;

struct ssh {
    struct remote base;
    const struct remote_options *options; /* borrowed, for the open */
    struct ssh_config config;
    LIBSSH2_SESSION *session;
    int fd;
    struct child proxy; /* ssh -W through a jump host, or none */
};

/* Wait for what libssh2 waits for.  -1 when the time is up. */
int ssh_wait(struct ssh *ssh, int64_t deadline_ns);

/* libssh2's last complaint, for the end of a text. */
const char *ssh_complaint(struct ssh *ssh);

/* ---- the phases, in their order */

/* Connect 'fd', directly or through the jump host. */
int ssh_connect(struct ssh *ssh, int64_t deadline_ns, struct err *err);

/* Collect what the files say of the host and set the order of host key types
 * for the handshake; then judge the key the server showed. */
int ssh_hostkey_prepare(struct ssh *ssh, struct known_hosts_set *known,
                        struct err *err);
int ssh_hostkey_check(struct ssh *ssh, const struct known_hosts_set *known,
                      struct err *err);

int ssh_auth(struct ssh *ssh, int64_t deadline_ns, struct err *err);

#endif
