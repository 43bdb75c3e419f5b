#include <string.h>

#include "common/err.h"
#include "coordinator/known_hosts.h"
#include "coordinator/known_match.h"
#include "coordinator/ssh_session.h"

/* In the order we prefer; libssh2's own puts ECDSA first. */
static const char *const key_types[] = {
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "ssh-rsa",
};

#define KEY_TYPES (sizeof(key_types) / sizeof(key_types[0]))

static bool is_known(const struct known_set *known, const char *type)
{
    for (size_t i = 0; i < known->n; i++)
        if (!known->keys[i].revoked && strcmp(known->keys[i].type, type) == 0)
            return true;
    return false;
}

/* Types with a known key first: a server that has one of them shows it. */
static void order_types(const struct known_set *known, struct buf *out)
{
    for (int wanted = 1; wanted >= 0; wanted--)
        for (size_t i = 0; i < KEY_TYPES; i++)
            if (is_known(known, key_types[i]) == wanted)
                buf_printf(out, "%s%s", out->len ? "," : "", key_types[i]);
}

int ssh_hostkey_prepare(struct ssh *ssh, struct known_set *known,
                        struct err *err)
{
    struct buf order;
    int rc = 0;

    for (size_t i = 0; i < ssh->config.n_known_hosts && rc == 0; i++)
        rc = known_load(known, ssh->config.known_hosts[i], err);
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
    return err_set(err, ERR_AUTH,
                   "host key: the server shows %s %s, and the hosts file pins "
                   "%s; if the machine was installed anew, or that is its key "
                   "of another type, pin the fingerprint shown after checking "
                   "it on the machine",
                   type, shown, ssh->base.host->hostkey);
}

static int refuse_unknown(struct ssh *ssh, const struct known_set *known,
                          const char *type, const char *shown, struct err *err)
{
    char name[320];

    known_name(known->host, known->port, name, sizeof(name));
    return err_set(
        err, ERR_AUTH,
        "host key: unknown: the server shows %s %s and %s has no such key of "
        "'%s'%s; compare it on the machine (ssh-keygen -lf "
        "/etc/ssh/ssh_host_ed25519_key.pub), then use --accept-new-host-keys, "
        "or hostkey=%s in the hosts file",
        type, shown,
        ssh->config.n_known_hosts ? ssh->config.known_hosts[0] : "known_hosts",
        name,
        known->has_authority ? " (a @cert-authority line covers it; "
                               "certificates need --ssh=openssh)"
        : known->n ? " (only of types that libssh2 or the server does "
                     "not have; --ssh=openssh may)"
                   : "",
        shown);
}

static int refuse_known(const struct known_set *known, bool revoked,
                        const char *type, const char *shown,
                        const struct known_key *which, struct err *err)
{
    char name[320];

    known_name(known->host, known->port, name, sizeof(name));
    if (revoked)
        return err_set(err, ERR_AUTH,
                       "host key: REVOKED: the server shows %s %s, which %s "
                       "marks @revoked; do not use this machine",
                       type, shown, which->place);
    return err_set(err, ERR_AUTH,
                   "host key: CHANGED: the server shows %s %s, and %s has %s; "
                   "someone may be in between, or the machine was installed "
                   "anew: then ssh-keygen -R '%s' and --accept-new-host-keys",
                   type, shown, which->place, which->fingerprint, name);
}

int ssh_hostkey_check(struct ssh *ssh, const struct known_set *known,
                      struct err *err)
{
    char shown[KNOWN_FINGERPRINT_BYTES], type[KNOWN_TYPE_BYTES];
    const struct known_key *which;
    enum known_verdict verdict;
    const char *blob;
    size_t len;

    blob = libssh2_session_hostkey(ssh->session, &len, NULL);
    if (!blob)
        return err_set(err, ERR_NETWORK, "host key: the server shows none");
    known_fingerprint(blob, len, shown);
    known_type(blob, len, type);
    verdict = known_judge(known, blob, len, &which);
    if (verdict == KNOWN_REVOKED)
        return refuse_known(known, true, type, shown, which, err);
    if (*ssh->base.host->hostkey)
        return strcmp(ssh->base.host->hostkey, shown) == 0
                   ? 0
                   : refuse_pin(ssh, type, shown, err);
    if (verdict == KNOWN_CHANGED)
        return refuse_known(known, false, type, shown, which, err);
    if (verdict == KNOWN_MATCH)
        return 0;
    if (!ssh->options->accept_new_host_keys || ssh->config.n_known_hosts == 0)
        return refuse_unknown(ssh, known, type, shown, err);
    return known_append(ssh->config.known_hosts[0], known->host, known->port,
                        blob, len, err);
}
