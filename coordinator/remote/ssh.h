/* ssh.h - libssh2, once a program
 */
#ifndef FA_COORDINATOR_REMOTE_SSH_H
#define FA_COORDINATOR_REMOTE_SSH_H

struct err;

/* In main, before any thread: libssh2_init() is not thread-safe. */
int ssh_setup(struct err *err);
void ssh_cleanup(void);

#endif
