/* known_hosts.h - is this still the machine that it was
 *
 * Our own reader of OpenSSH's known_hosts.  The one in libssh2 ignores
 * @revoked, misses patterns, and drops everything after a malformed line.
 * First all lines about one host are collected from all files.  Their key types
 * go into the key exchange.  Then the key that the server shows is judged.
 * Thread rule: one thread a set; appending is safe between threads and
 * processes.
 */
#ifndef FA_COORDINATOR_SSH_KEYS_KNOWN_HOSTS_H
#define FA_COORDINATOR_SSH_KEYS_KNOWN_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct err;

#define KNOWN_HOSTS_TYPE_BYTES 64
#define KNOWN_HOSTS_FINGERPRINT_BYTES 52 /* "SHA256:" + 43 + NUL */

enum known_hosts_verdict {
    KNOWN_HOSTS_MATCH,
    KNOWN_HOSTS_UNKNOWN, /* no line has a key of this type for this host */
    KNOWN_HOSTS_CHANGED, /* a line has another key of this type */
    KNOWN_HOSTS_REVOKED, /* a @revoked line has this key */
};

struct known_hosts_key {
    char type[KNOWN_HOSTS_TYPE_BYTES]; /* "ssh-ed25519" */
    char fingerprint[KNOWN_HOSTS_FINGERPRINT_BYTES];
    bool revoked;
    bool without_port; /* a line without a port, for a host on another port: it
                        * can confirm the key, never contradict it */
    char place[128];   /* "known_hosts:12", for messages */
};

struct known_hosts_set {
    const char *host; /* borrowed */
    int port;
    struct known_hosts_key *keys; /* in the order of the files */
    size_t n;
    bool has_authority;  /* a @cert-authority line covers the host */
    struct buf warnings; /* one line each: "known_hosts:3: ..." */
};

void known_hosts_init(struct known_hosts_set *set, const char *host, int port);
void known_hosts_fini(struct known_hosts_set *set);

/* Collect the lines of a file, or of a text.  A missing file has no lines; a
 * file that cannot be read is ERR_SYSTEM. */
int known_hosts_load(struct known_hosts_set *set, const char *path,
                     struct err *err);
void known_hosts_parse(struct known_hosts_set *set, const char *file,
                       const char *text, size_t len);

/* Judge the key blob that a server showed.  'which' (may be NULL) is set to the
 * line that decided, or to NULL. */
enum known_hosts_verdict
known_hosts_judge(const struct known_hosts_set *set, const void *blob,
                  size_t len, const struct known_hosts_key **which);

/* "SHA256:..." of a key blob, and the type at its front ("" if the blob is not
 * a key). */
void known_hosts_fingerprint(const void *blob, size_t len,
                             char out[KNOWN_HOSTS_FINGERPRINT_BYTES]);
void known_hosts_type(const void *blob, size_t len,
                      char out[KNOWN_HOSTS_TYPE_BYTES]);

/* Add "host type key" to the file, in one write under a lock; a new file has
 * mode 0600, a new folder above it 0700. */
int known_hosts_append(const char *path, const char *host, int port,
                       const void *blob, size_t len, struct err *err);

#endif
