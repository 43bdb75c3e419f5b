#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/ssh_session.h"
#include "coordinator/ssh_keys/known_hosts.h"
#include "coordinator/ssh_keys/known_match.h"

/* In our order of preference; libssh2 puts ECDSA first. */
static const char *const key_types[] = {
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "ssh-rsa",
};

#define KEY_TYPES (sizeof(key_types) / sizeof(key_types[0]))

static bool is_known(const struct known_hosts_set *known, const char *type)
{
    for (size_t i = 0; i < known->n; i++)
        if (!known->keys[i].revoked && strcmp(known->keys[i].type, type) == 0)
            return true;
    return false;
}

/* Types with a known key come first, so that a server that has such a key shows
 * it. */
static void order_types(const struct known_hosts_set *known, struct buf *out)
{
    for (int wanted = 1; wanted >= 0; wanted--)
        for (size_t i = 0; i < KEY_TYPES; i++)
            if (is_known(known, key_types[i]) == wanted)
                buf_printf(out, "%s%s", out->len ? "," : "", key_types[i]);
}

int ssh_hostkey_prepare(struct ssh *ssh, struct err *err)
{
    struct buf order;
    int rc;

    buf_init(&order, 256);
    order_types(&route_target(ssh->route)->known, &order);
    rc = libssh2_session_method_pref(ssh->session, LIBSSH2_METHOD_HOSTKEY,
                                     buf_text(&order));
    buf_fini(&order);
    return rc == 0
               ? 0
               : err_set(err, ERR_SYSTEM, "host key: %s", ssh_complaint(ssh));
}

static int refuse_pin(struct ssh *ssh, const char *type, const char *shown,
                      struct err *err)
{
    return err_set(
        err, ERR_HOST_KEY,
        "host key: the server has %s %s, but the hosts file pins %s; if the "
        "machine was reinstalled, or this is its key of another type, check "
        "the fingerprint on the machine and pin it",
        type, shown, ssh->base.host->hostkey);
}

/* What can be done about the key of a machine that was just started. */
static const char *rented_remedy(const struct ssh *ssh)
{
    return host_is_rented(ssh->base.host)
               ? "; for a machine that start= acquires, let it print "
                 "hostkey=SHA256:..."
               : "";
}

static int refuse_unknown(struct ssh *ssh, const char *name, const char *type,
                          const char *shown, struct err *err)
{
    const struct ssh_config *config = ssh->config;

    return err_set(
        err, ERR_HOST_KEY,
        "host key: unknown: the server has %s %s, and %s has no such key of "
        "'%s'%s; compare it on the machine (ssh-keygen -lf "
        "/etc/ssh/ssh_host_ed25519_key.pub), then use --accept-new-host-keys, "
        "or hostkey=%s in the hosts file%s",
        type, shown,
        config->n_known_hosts ? config->known_hosts[0] : "known_hosts", name,
        route_target(ssh->route)->known.has_authority
            ? " (a @cert-authority line covers it; certificates need "
              "--ssh=openssh)"
            : "",
        shown, rented_remedy(ssh));
}

static int refuse_other(const char *type, const char *shown, const char *name,
                        const struct known_hosts_key *which, struct err *err)
{
    return err_set(
        err, ERR_HOST_KEY,
        "host key: of another type: the server shows %s %s, but %s has only "
        "%s %s; try --ssh=openssh, which can ask for that type; if the machine "
        "was reinstalled, run ssh-keygen -R '%s' and use "
        "--accept-new-host-keys",
        type, shown, which->place, which->type, which->fingerprint, name);
}

static int refuse_changed(const struct ssh *ssh, const char *type,
                          const char *shown, const char *name,
                          const struct known_hosts_key *which, struct err *err)
{
    return err_set(
        err, ERR_HOST_KEY,
        "host key: CHANGED: the server has %s %s, but %s has %s; someone may "
        "be intercepting the connection; if the machine was reinstalled, or "
        "another one had its address before, run ssh-keygen -R '%s' and use "
        "--accept-new-host-keys%s",
        type, shown, which->place, which->fingerprint, name,
        rented_remedy(ssh));
}

int ssh_hostkey_check(struct ssh *ssh, struct err *err)
{
    const struct route_hop *hop = route_target(ssh->route);
    char shown[KNOWN_HOSTS_FINGERPRINT_BYTES], type[KNOWN_HOSTS_TYPE_BYTES];
    const struct known_hosts_key *which;
    const char *blob;
    char name[320];
    size_t len;

    blob = libssh2_session_hostkey(ssh->session, &len, NULL);
    if (!blob)
        return err_set(err, ERR_NETWORK, "host key: the server has none");
    known_hosts_fingerprint(blob, len, shown);
    known_hosts_type(blob, len, type);
    known_match_name(hop->known.host, hop->known.port, name, sizeof(name));
    switch (host_key_policy_judge(&hop->policy, blob, len, &which)) {
    case HOST_KEY_ACCEPTED:
        return 0;
    case HOST_KEY_ADDED:
        if (hop->config.n_known_hosts == 0)
            break;
        return known_hosts_append(hop->config.known_hosts[0], hop->known.host,
                                  hop->known.port, blob, len, err);
    case HOST_KEY_REVOKED:
        return err_set(err, ERR_HOST_KEY,
                       "host key: REVOKED: the server has %s %s, which %s "
                       "marks @revoked; do not use this machine",
                       type, shown, which->place);
    case HOST_KEY_NOT_THE_PIN:
        return refuse_pin(ssh, type, shown, err);
    case HOST_KEY_CHANGED:
        return refuse_changed(ssh, type, shown, name, which, err);
    case HOST_KEY_OTHER_TYPE:
        return refuse_other(type, shown, name, which, err);
    case HOST_KEY_UNKNOWN:
        break;
    }
    return refuse_unknown(ssh, name, type, shown, err);
}
