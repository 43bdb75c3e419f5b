/* openssh.h - the command line of the system's ssh, and its error messages
 *
 * It never asks the user (BatchMode), accepts a host key only as the route
 * says, and never multiplexes.  Every command is a login of its own.
 */
#ifndef FA_COORDINATOR_REMOTE_OPENSSH_H
#define FA_COORDINATOR_REMOTE_OPENSSH_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/remote/remote.h"

/* Time limit for connection, key exchange and authentication together, of each
 * server on the way. */
#define OPENSSH_LOGIN_MS 35000

struct openssh;
struct route;
struct stderr_tail;

/* 'route' is borrowed: its files are read at each login. */
struct openssh *openssh_new(const struct route *route, bool use_agent);
void openssh_free(struct openssh *ssh); /* NULL is fine */

/* Borrowed until the next call. */
const char *const *openssh_argv(struct openssh *ssh, const char *command);

/* ssh, on its way to the host or to a jump host, ended with status 255 and this
 * text: returns ERR_AUTH, ERR_HOST_KEY, ERR_BUSY or ERR_NETWORK. */
int openssh_explain(const struct route *route, const struct stderr_tail *tail,
                    struct err *err);

/* It did not end within this time: returns ERR_NETWORK. */
int openssh_explain_silence(const struct route *route, int64_t ms,
                            const struct stderr_tail *tail, struct err *err);

#endif
