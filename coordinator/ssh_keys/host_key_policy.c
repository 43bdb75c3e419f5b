#include "coordinator/ssh_keys/host_key_policy.h"

#include <string.h>

#include "coordinator/ssh_keys/known_hosts.h"

/* A key of any type for this name and port, or NULL.  A line for the name on
 * port 22 is about another server. */
static const struct known_hosts_key *
known_key(const struct known_hosts_set *known)
{
    for (size_t i = 0; i < known->n; i++)
        if (!known->keys[i].revoked && !known->keys[i].without_port)
            return &known->keys[i];
    return NULL;
}

static const struct known_hosts_key *
revoked_pin(const struct host_key_policy *policy)
{
    const struct known_hosts_set *known = policy->known;

    for (size_t i = 0; i < known->n; i++)
        if (known->keys[i].revoked &&
            strcmp(known->keys[i].fingerprint, policy->pin) == 0)
            return &known->keys[i];
    return NULL;
}

enum host_key_rule host_key_policy_before(const struct host_key_policy *policy,
                                          const struct known_hosts_key **which)
{
    const struct known_hosts_key *revoked = revoked_pin(policy);

    if (which)
        *which = revoked;
    if (revoked)
        return HOST_KEY_NONE;
    if (*policy->pin)
        return HOST_KEY_PIN;
    return policy->accept_new && !known_key(policy->known) &&
                   !policy->known->has_authority
               ? HOST_KEY_NEW
               : HOST_KEY_KNOWN;
}

enum host_key_verdict
host_key_policy_judge(const struct host_key_policy *policy, const void *blob,
                      size_t len, const struct known_hosts_key **which)
{
    char fingerprint[KNOWN_HOSTS_FINGERPRINT_BYTES];
    const struct known_hosts_key *line, *known = known_key(policy->known);
    enum known_hosts_verdict verdict =
        known_hosts_judge(policy->known, blob, len, &line);

    if (which)
        *which = line ? line : known;
    if (verdict == KNOWN_HOSTS_REVOKED)
        return HOST_KEY_REVOKED;
    if (*policy->pin) {
        known_hosts_fingerprint(blob, len, fingerprint);
        return strcmp(policy->pin, fingerprint) == 0 ? HOST_KEY_ACCEPTED
                                                     : HOST_KEY_NOT_THE_PIN;
    }
    if (verdict == KNOWN_HOSTS_MATCH)
        return HOST_KEY_ACCEPTED;
    if (verdict == KNOWN_HOSTS_CHANGED)
        return HOST_KEY_CHANGED;
    if (host_key_policy_before(policy, NULL) == HOST_KEY_NEW)
        return HOST_KEY_ADDED;
    return known ? HOST_KEY_OTHER_TYPE : HOST_KEY_UNKNOWN;
}
