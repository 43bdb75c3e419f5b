/* host_key_policy.h - which host keys are accepted
 *
 * The one policy for every way to reach a host, and for each jump host on the
 * way:
 *   1. A key that a @revoked line names is refused, also if hostkey= pins it.
 *   2. With hostkey=, only the pinned key is accepted.
 *   3. A key that known_hosts has for the name is accepted.
 *   4. --accept-new-host-keys accepts and adds a key if known_hosts has no key
 *      of any type, and no authority, for the name.
 *   5. All other keys are refused.
 * _before() is what can be said before a connection, for a program that judges
 * the key by itself; _judge() judges the key that a server showed.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SSH_KEYS_HOST_KEY_POLICY_H
#define FA_COORDINATOR_SSH_KEYS_HOST_KEY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

struct known_hosts_key;
struct known_hosts_set;

struct host_key_policy {
    const struct known_hosts_set *known; /* borrowed */
    const char *pin;                     /* "SHA256:..." of hostkey=, or "" */
    bool accept_new;                     /* --accept-new-host-keys */
};

enum host_key_rule {
    HOST_KEY_NONE,  /* the pinned key is revoked: do not connect */
    HOST_KEY_PIN,   /* only the pinned key */
    HOST_KEY_KNOWN, /* only keys of known_hosts */
    HOST_KEY_NEW,   /* the first key is accepted and added */
};

/* 'which' (may be NULL) is set to the @revoked line of HOST_KEY_NONE, or to
 * NULL. */
enum host_key_rule host_key_policy_before(const struct host_key_policy *policy,
                                          const struct known_hosts_key **which);

enum host_key_verdict {
    HOST_KEY_ACCEPTED,
    HOST_KEY_ADDED, /* accepted; the caller adds it to known_hosts */
    HOST_KEY_REVOKED,
    HOST_KEY_NOT_THE_PIN,
    HOST_KEY_CHANGED,    /* known_hosts has another key of this type */
    HOST_KEY_OTHER_TYPE, /* known_hosts has keys of other types only */
    HOST_KEY_UNKNOWN,    /* known_hosts has no key for the name */
};

/* 'which' (may be NULL) is set to the line that decided, or to NULL. */
enum host_key_verdict
host_key_policy_judge(const struct host_key_policy *policy, const void *blob,
                      size_t len, const struct known_hosts_key **which);

#endif
