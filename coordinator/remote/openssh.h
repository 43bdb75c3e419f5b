/* openssh.h - the command line of the system's ssh, and its error messages
 *
 * It never asks the user (BatchMode), never accepts a new host key on its own,
 * and never multiplexes.  Every command is a login of its own.
 */
#ifndef FA_COORDINATOR_REMOTE_OPENSSH_H
#define FA_COORDINATOR_REMOTE_OPENSSH_H

#include "coordinator/remote/remote.h"

/* Time limit for connection, key exchange and authentication together. */
#define OPENSSH_LOGIN_MS 35000

struct openssh;
struct stderr_tail;

/* With hostkey=, ssh-keyscan fetches the host's keys, and ssh accepts only the
 * one with the pinned fingerprint.  ERR_AUTH if the host has no such key. */
int openssh_new(const struct host *host, const struct remote_options *options,
                struct openssh **out, struct err *err);
void openssh_free(struct openssh *ssh); /* NULL is fine */

/* Borrowed until the next call. */
const char *const *openssh_argv(struct openssh *ssh, const char *command);

/* ssh ended with status 255 and this text: returns ERR_AUTH or ERR_NETWORK. */
int openssh_explain(const struct stderr_tail *tail, struct err *err);

#endif
