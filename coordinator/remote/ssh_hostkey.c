#include <string.h>

#include "common/err.h"
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

int ssh_hostkey_prepare(struct ssh *ssh, struct known_hosts_set *known,
                        struct err *err)
{
    struct buf order;
    int rc = 0;

    for (size_t i = 0; i < ssh->config.n_known_hosts && rc == 0; i++)
        rc = known_hosts_load(known, ssh->config.known_hosts[i], err);
    if (rc < 0)
        return err_within(err, rc, "host key");
    buf_add(&ssh->base.warnings, known->warnings.bytes, known->warnings.len);
    buf_init(&order, 256);
    order_types(known, &order);
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
        err, ERR_AUTH,
        "host key: the server has %s %s, but the hosts file pins %s; if the "
        "machine was reinstalled, or this is its key of another type, check "
        "the fingerprint on the machine and pin it",
        type, shown, ssh->base.host->hostkey);
}

static int refuse_unknown(struct ssh *ssh, const struct known_hosts_set *known,
                          const char *type, const char *shown, struct err *err)
{
    char name[320];

    known_match_name(known->host, known->port, name, sizeof(name));
    return err_set(err, ERR_AUTH,
                   "host key: unknown: the server has %s %s, and %s has no "
                   "such key of '%s'%s; compare it on the machine (ssh-keygen "
                   "-lf /etc/ssh/ssh_host_ed25519_key.pub), then use "
                   "--accept-new-host-keys, or hostkey=%s in the hosts file",
                   type, shown,
                   ssh->config.n_known_hosts ? ssh->config.known_hosts[0]
                                             : "known_hosts",
                   name,
                   known->has_authority ? " (a @cert-authority line covers it; "
                                          "certificates need --ssh=openssh)"
                   : known->n ? " (only keys of types that libssh2 or the "
                                "server lacks; try --ssh=openssh)"
                              : "",
                   shown);
}

static int refuse_known(const struct known_hosts_set *known, bool revoked,
                        const char *type, const char *shown,
                        const struct known_hosts_key *which, struct err *err)
{
    char name[320];

    known_match_name(known->host, known->port, name, sizeof(name));
    if (revoked)
        return err_set(err, ERR_AUTH,
                       "host key: REVOKED: the server has %s %s, which %s "
                       "marks @revoked; do not use this machine",
                       type, shown, which->place);
    return err_set(
        err, ERR_AUTH,
        "host key: CHANGED: the server has %s %s, but %s has %s; someone may "
        "be intercepting the connection; if the machine was reinstalled, run "
        "ssh-keygen -R '%s' and use --accept-new-host-keys",
        type, shown, which->place, which->fingerprint, name);
}

int ssh_hostkey_check(struct ssh *ssh, const struct known_hosts_set *known,
                      struct err *err)
{
    char shown[KNOWN_HOSTS_FINGERPRINT_BYTES], type[KNOWN_HOSTS_TYPE_BYTES];
    const struct known_hosts_key *which;
    enum known_hosts_verdict verdict;
    const char *blob;
    size_t len;

    blob = libssh2_session_hostkey(ssh->session, &len, NULL);
    if (!blob)
        return err_set(err, ERR_NETWORK, "host key: the server has none");
    known_hosts_fingerprint(blob, len, shown);
    known_hosts_type(blob, len, type);
    verdict = known_hosts_judge(known, blob, len, &which);
    if (verdict == KNOWN_HOSTS_REVOKED)
        return refuse_known(known, true, type, shown, which, err);
    if (*ssh->base.host->hostkey)
        return strcmp(ssh->base.host->hostkey, shown) == 0
                   ? 0
                   : refuse_pin(ssh, type, shown, err);
    if (verdict == KNOWN_HOSTS_CHANGED)
        return refuse_known(known, false, type, shown, which, err);
    if (verdict == KNOWN_HOSTS_MATCH)
        return 0;
    if (!ssh->options->accept_new_host_keys || ssh->config.n_known_hosts == 0)
        return refuse_unknown(ssh, known, type, shown, err);
    return known_hosts_append(ssh->config.known_hosts[0], known->host,
                              known->port, blob, len, err);
}
