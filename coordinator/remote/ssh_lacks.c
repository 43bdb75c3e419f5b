#include "coordinator/remote/ssh_lacks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/route.h"

bool ssh_lacks_setting(const struct ssh_config *config,
                       char out[SSH_LACKS_BYTES])
{
    *out = '\0';
    if (*config->only_openssh)
        snprintf(out, SSH_LACKS_BYTES, "follow %s of ~/.ssh/config",
                 config->only_openssh);
    return *out;
}

/* Servers do not sign with "ssh-rsa" any more, and libssh2 knows no other way
 * for an RSA host key. */
static bool can_verify(const char *type)
{
    return strcmp(type, "ssh-ed25519") == 0 ||
           strncmp(type, "ecdsa-sha2-", 11) == 0;
}

bool ssh_lacks_host_key(const struct known_hosts_set *known,
                        char out[SSH_LACKS_BYTES])
{
    const char *other = NULL;

    *out = '\0';
    for (size_t i = 0; i < known->n; i++) {
        const struct known_hosts_key *key = &known->keys[i];

        if (!key->revoked && can_verify(key->type))
            return false;
        if (!key->revoked && !key->without_port)
            other = key->type;
    }
    if (other)
        snprintf(out, SSH_LACKS_BYTES,
                 "verify host keys of the type %s, and known_hosts has no "
                 "other for '%s'",
                 other, known->host);
    else if (known->has_authority)
        snprintf(out, SSH_LACKS_BYTES,
                 "verify the certificate that known_hosts wants of '%s'",
                 known->host);
    return *out;
}

static bool has_certificate(const char *key, char out[SSH_LACKS_BYTES])
{
    char path[SSH_CONFIG_PATH_BYTES + 16];

    snprintf(path, sizeof(path), "%s-cert.pub", key);
    if (access(path, F_OK) != 0 || access(key, F_OK) != 0)
        return false;
    snprintf(out, SSH_LACKS_BYTES, "use the certificate %.200s", path);
    return true;
}

bool ssh_lacks_before(const struct route *route, char out[SSH_LACKS_BYTES])
{
    const struct route_hop *hop = route_target(route);
    const struct ssh_config *config = &hop->config;

    if (ssh_lacks_setting(config, out))
        return true;
    if (hop->rule == HOST_KEY_KNOWN && ssh_lacks_host_key(&hop->known, out))
        return true;
    for (size_t i = 0; i < config->n_identities; i++)
        if (has_certificate(config->identities[i], out))
            return true;
    *out = '\0';
    return false;
}
