/* ssh_lacks.h - what libssh2 1.10 cannot do and a login needs
 *
 * Each is said as the end of a sentence, "libssh2 cannot ...".  What can be
 * known before the connection is found here; what the server shows later, by
 * ssh.c (algorithms) and ssh_auth.c (keys).
 * Private to remote.c and the libssh2 backend.  Thread rule: no state; any
 * thread.
 */
#ifndef FA_COORDINATOR_REMOTE_SSH_LACKS_H
#define FA_COORDINATOR_REMOTE_SSH_LACKS_H

#include <stdbool.h>

struct known_hosts_set;
struct route;
struct ssh_config;

#define SSH_LACKS_BYTES 256

/* Returns true and what the login needs, or false and "".  It may look whether
 * a key file has a certificate beside it. */
bool ssh_lacks_before(const struct route *route, char out[SSH_LACKS_BYTES]);

/* The same for the parts: a setting of the configuration; a host key of a type
 * that known_hosts does not have. */
bool ssh_lacks_setting(const struct ssh_config *config,
                       char out[SSH_LACKS_BYTES]);
bool ssh_lacks_host_key(const struct known_hosts_set *known,
                        char out[SSH_LACKS_BYTES]);

#endif
