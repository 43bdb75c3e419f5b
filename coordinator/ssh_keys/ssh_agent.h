/* ssh_agent.h - the keys that an ssh-agent holds (draft-ietf-sshm-ssh-agent)
 *
 * libssh2's own client of the agent waits for ever.  This one has a deadline
 * for each answer, and asks for RSA signatures with SHA-512.
 * Thread rule: one thread an agent.
 */
#ifndef FA_COORDINATOR_SSH_KEYS_SSH_AGENT_H
#define FA_COORDINATOR_SSH_KEYS_SSH_AGENT_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct ssh_agent;

#define SSH_AGENT_ANSWER_MAX (256 << 10)

struct ssh_agent_key {
    const unsigned char *blob; /* the public half; both are the agent's */
    size_t blob_len;
    char comment[96]; /* without control characters */
};

/* Connect, and list the keys.
 *   ERR_NETWORK  no agent there, or no answer in time; the text names the path
 *   ERR_PROTO    the answer is no list of keys */
int ssh_agent_open(const char *path, int64_t deadline_ns,
                   struct ssh_agent **out, struct err *err);
void ssh_agent_close(struct ssh_agent *agent); /* NULL is fine */

/* Fill in key 'n' and return 1, or return 0 when there are no more. */
int ssh_agent_key(const struct ssh_agent *agent, size_t n,
                  struct ssh_agent_key *out);

/* Sign; appends the signature without the name of its algorithm.  An RSA key
 * signs with SHA-512.
 *   ERR_AUTH     the agent refuses
 *   ERR_NETWORK  no answer in time
 *   ERR_PROTO    the answer is no signature */
int ssh_agent_sign(struct ssh_agent *agent, const struct ssh_agent_key *key,
                   const void *bytes, size_t len, int64_t deadline_ns,
                   struct buf *out, struct err *err);

#endif
