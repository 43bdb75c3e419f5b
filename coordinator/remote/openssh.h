/* openssh.h - the command line of the system's ssh, and what it complains of
 *
 * Never asks (BatchMode), never trusts a new host key by itself, never
 * multiplexes.  Every command is a login of its own.
 */
#ifndef FA_COORDINATOR_REMOTE_OPENSSH_H
#define FA_COORDINATOR_REMOTE_OPENSSH_H

#include "coordinator/remote/remote.h"

/* Connect, key exchange and authentication together. */
#define OPENSSH_LOGIN_MS 35000

struct openssh;
struct stderr_tail;

/* With hostkey= the host's keys are fetched by ssh-keyscan, and the one with
 * the pinned fingerprint is the only one that ssh will accept.  ERR_AUTH when
 * there is none. */
int openssh_new(const struct host *host, const struct remote_options *options,
                struct openssh **out, struct err *err);
void openssh_free(struct openssh *ssh); /* NULL is fine */

/* Borrowed until the next call. */
const char *const *openssh_argv(struct openssh *ssh, const char *command);

/* ssh ended with status 255 and said this: ERR_AUTH or ERR_NETWORK. */
int openssh_explain(const struct stderr_tail *tail, struct err *err);

#endif
