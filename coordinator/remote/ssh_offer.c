#include "coordinator/remote/ssh_offer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/remote/ssh_session.h"
#include "coordinator/ssh_keys/known_hosts.h"
#include "coordinator/ssh_keys/rsa_key.h"
#include "coordinator/ssh_keys/ssh_agent.h"

/* Who signs, for libssh2's call back; one of rsa and agent. */
struct signer {
    const struct rsa_key *rsa;
    struct ssh_agent *agent;
    const struct ssh_agent_key *key;
    int64_t deadline_ns;
    int rc; /* of the agent */
    struct err err;
};

int ssh_offer_lost(struct ssh *ssh, struct err *err)
{
    return err_set(err, ERR_NETWORK,
                   "login: the server stopped answering (%s); its log says why "
                   "(journalctl -u ssh)",
                   ssh_complaint(ssh));
}

/* libssh2 frees what this allocates. */
static int sign(LIBSSH2_SESSION *session, unsigned char **out, size_t *out_len,
                const unsigned char *bytes, size_t len, void **abstract)
{
    struct signer *signer = *abstract;
    struct buf signature;

    (void)session;
    buf_init(&signature, SSH_AGENT_ANSWER_MAX);
    if (signer->rsa) {
        unsigned char made[RSA_KEY_BLOB_MAX];

        buf_add(&signature, made, rsa_key_sign(signer->rsa, bytes, len, made));
    } else {
        signer->rc =
            ssh_agent_sign(signer->agent, signer->key, bytes, len,
                           signer->deadline_ns, &signature, &signer->err);
    }
    if (signature.len > 0) {
        *out_len = signature.len;
        *out = mem_dup(signature.bytes, signature.len);
    }
    buf_fini(&signature);
    return *out_len > 0 && signer->rc == 0 ? 0 : -1;
}

/* What libssh2's code means.  It says "unverified" if the key was known to the
 * server but the signature did not log in: more is wanted, or there was no
 * signature. */
static int answer(struct ssh *ssh, int rc, const struct signer *signer,
                  char why[SSH_OFFER_WHY_BYTES], struct err *err)
{
    snprintf(why, SSH_OFFER_WHY_BYTES, "not accepted");
    if (rc == 0)
        return SSH_OFFER_LOGGED_IN;
    if (rc == LIBSSH2_ERROR_EAGAIN || rc == LIBSSH2_ERROR_SOCKET_DISCONNECT ||
        rc == LIBSSH2_ERROR_SOCKET_SEND || rc == LIBSSH2_ERROR_SOCKET_RECV)
        return ssh_offer_lost(ssh, err);
    if (signer && signer->rc == ERR_NETWORK)
        return err_set(err, ERR_NETWORK, "login: %s", signer->err.text);
    if (signer && signer->rc < 0)
        snprintf(why, SSH_OFFER_WHY_BYTES, "%.150s", signer->err.text);
    else if (rc == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED &&
             !strstr(ssh_complaint(ssh), "allback"))
        return SSH_OFFER_PARTIAL;
    else if (rc != LIBSSH2_ERROR_AUTHENTICATION_FAILED)
        snprintf(why, SSH_OFFER_WHY_BYTES, "%.150s", ssh_complaint(ssh));
    return SSH_OFFER_REFUSED;
}

static int offer_signer(struct ssh *ssh, struct signer *signer,
                        const struct buf *blob, char why[SSH_OFFER_WHY_BYTES],
                        struct err *err)
{
    void *abstract = signer;
    int rc;

    do {
        rc = libssh2_userauth_publickey(ssh->session, ssh->config->user,
                                        (const unsigned char *)blob->bytes,
                                        blob->len, sign, &abstract);
    } while (rc == LIBSSH2_ERROR_EAGAIN &&
             ssh_wait(ssh, signer->deadline_ns) == 0);
    return answer(ssh, rc, signer, why, err);
}

static int offer_rsa(struct ssh *ssh, struct rsa_key *key, int64_t deadline_ns,
                     char why[SSH_OFFER_WHY_BYTES], struct err *err)
{
    struct signer signer = { .rsa = key, .deadline_ns = deadline_ns };
    struct buf blob;
    int rc = SSH_OFFER_REFUSED;

    snprintf(why, SSH_OFFER_WHY_BYTES, "too long for an RSA key");
    buf_init(&blob, RSA_KEY_BLOB_MAX);
    if (rsa_key_login_blob(key, &blob))
        rc = offer_signer(ssh, &signer, &blob, why, err);
    buf_fini(&blob);
    rsa_key_free(key);
    return rc;
}

int ssh_offer_file(struct ssh *ssh, const char *path, int64_t deadline_ns,
                   char why[SSH_OFFER_WHY_BYTES], struct err *err)
{
    const char *user = ssh->config->user;
    struct rsa_key *rsa;
    int rc = rsa_key_read(path, &rsa, err);

    if (rc == 0)
        return offer_rsa(ssh, rsa, deadline_ns, why, err);
    do {
        rc = libssh2_userauth_publickey_fromfile_ex(
            ssh->session, user, (unsigned)strlen(user), NULL, path, NULL);
    } while (rc == LIBSSH2_ERROR_EAGAIN && ssh_wait(ssh, deadline_ns) == 0);
    return answer(ssh, rc, NULL, why, err);
}

int ssh_offer_agent(struct ssh *ssh, struct ssh_agent *agent,
                    const struct ssh_agent_key *key, int64_t deadline_ns,
                    char why[SSH_OFFER_WHY_BYTES], struct err *err)
{
    struct signer signer = { .agent = agent,
                             .key = key,
                             .deadline_ns = deadline_ns };
    struct buf blob;
    int rc;

    buf_init(&blob, SSH_AGENT_ANSWER_MAX);
    if (!rsa_key_login_blob_of(key->blob, key->blob_len, &blob))
        buf_add(&blob, key->blob, key->blob_len);
    rc = offer_signer(ssh, &signer, &blob, why, err);
    buf_fini(&blob);
    return rc;
}
