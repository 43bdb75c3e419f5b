/* ssh.h - set up libssh2, once per program
 */
#ifndef FA_COORDINATOR_REMOTE_SSH_H
#define FA_COORDINATOR_REMOTE_SSH_H

struct err;

/* Call it in main before any thread starts: libssh2_init() is not
 * thread-safe. */
int ssh_setup(struct err *err);
void ssh_cleanup(void);

#endif
