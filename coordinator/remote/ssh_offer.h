/* ssh_offer.h - offer one key of the user to the server
 *
 * Private to the libssh2 backend.  RSA keys, and all keys of an agent, sign
 * through rsa_key.h and ssh_agent.h; libssh2 signs with the other key files.
 */
#ifndef FA_COORDINATOR_REMOTE_SSH_OFFER_H
#define FA_COORDINATOR_REMOTE_SSH_OFFER_H

#include <stdint.h>

struct err;
struct ssh;
struct ssh_agent;
struct ssh_agent_key;

#define SSH_OFFER_WHY_BYTES 160

enum ssh_offer_answer {
    SSH_OFFER_REFUSED, /* 'why' says why */
    SSH_OFFER_LOGGED_IN,
    SSH_OFFER_PARTIAL, /* accepted, but the server wants more than this key */
};

/* The server does not answer any more: sets 'err' and returns ERR_NETWORK. */
int ssh_offer_lost(struct ssh *ssh, struct err *err);

/* Both return an answer, or
 *   ERR_NETWORK  the server, or the agent, stopped answering */
int ssh_offer_file(struct ssh *ssh, const char *path, int64_t deadline_ns,
                   char why[SSH_OFFER_WHY_BYTES], struct err *err);
int ssh_offer_agent(struct ssh *ssh, struct ssh_agent *agent,
                    const struct ssh_agent_key *key, int64_t deadline_ns,
                    char why[SSH_OFFER_WHY_BYTES], struct err *err);

#endif
