/* known_match.h - does a known_hosts line name this host
 *
 * The first field of a line has patterns with '*' and '?', exceptions with '!'
 * in front, "[host]:port" for a port other than 22, and "|1|salt|hash", the
 * HMAC-SHA1 of the name.
 * Private to the known_hosts reader.  Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SSH_KEYS_KNOWN_MATCH_H
#define FA_COORDINATOR_SSH_KEYS_KNOWN_MATCH_H

#include <stddef.h>

enum known_match_cover {
    KNOWN_MATCH_COVERS_NOT,
    KNOWN_MATCH_COVERS,      /* this host on this port */
    KNOWN_MATCH_COVERS_NAME, /* it covers the host, but on port 22 only
                              */
};

enum known_match_cover known_match_covers(const char *names, size_t len,
                                          const char *host, int port);

/* "host", or "[host]:port" for a port other than 22; lower case. */
void known_match_name(const char *host, int port, char *out, size_t size);

#endif
