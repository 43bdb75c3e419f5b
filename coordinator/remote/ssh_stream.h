/* ssh_stream.h - a command over a libssh2 session
 *
 * Private to the libssh2 backend.
 */
#ifndef FA_COORDINATOR_REMOTE_SSH_STREAM_H
#define FA_COORDINATOR_REMOTE_SSH_STREAM_H

#include <stdint.h>

struct err;
struct ssh;
struct stream;

int ssh_stream_open(struct ssh *ssh, const char *command, int64_t deadline_ns,
                    struct stream **out, struct err *err);

#endif
