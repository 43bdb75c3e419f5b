#include "coordinator/ssh_keys/ssh_agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/ssh_keys/known_hosts.h"
#include "coordinator/ssh_keys/rsa_key.h"
#include "coordinator/ssh_keys/ssh_wire.h"

/* numbers of messages and flags */
#define REQUEST_IDENTITIES 11
#define IDENTITIES_ANSWER 12
#define SIGN_REQUEST 13
#define SIGN_RESPONSE 14
#define RSA_SHA2_512 4

#define REQUEST_MAX (64 << 10)
#define KEYS_MAX 1000
#define BUSY_MS 20

struct ssh_agent {
    int fd;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct buf list; /* the answer, from the first key on */
    size_t n;        /* keys in it */
};

static int no_answer(const struct ssh_agent *agent, int64_t began_ns,
                     struct err *err)
{
    return err_set(err, ERR_NETWORK,
                   "the agent at %s gave no answer within %.0f s; is it "
                   "stopped, or does it wait for a confirmation?",
                   agent->path,
                   (double)(clock_boot_ns() - began_ns) / (double)NS_PER_S);
}

static int closed(const struct ssh_agent *agent, struct err *err)
{
    return err_set(err, ERR_NETWORK,
                   "the agent at %s closed the connection; does 'ssh-add -l' "
                   "work?",
                   agent->path);
}

/* Write or read all of it. */
static int move(struct ssh_agent *agent, void *bytes, size_t len, bool sending,
                int64_t deadline_ns, struct err *err)
{
    struct pollfd fd = { .fd = agent->fd,
                         .events = sending ? POLLOUT : POLLIN };
    int64_t began_ns = clock_boot_ns();

    for (size_t done = 0; done < len;) {
        char *at = (char *)bytes + done;
        ssize_t n = sending ? send(agent->fd, at, len - done,
                                   MSG_DONTWAIT | MSG_NOSIGNAL)
                            : recv(agent->fd, at, len - done, MSG_DONTWAIT);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            return closed(agent, err);
        else if (poll_until(&fd, 1, deadline_ns) < 0)
            return no_answer(agent, began_ns, err);
    }
    return 0;
}

/* Send a message and read the answer, which must be of this kind: 0, or 1 if it
 * is of another one. */
static int ask(struct ssh_agent *agent, const struct buf *message,
               unsigned char want, int64_t deadline_ns, struct buf *answer,
               struct err *err)
{
    unsigned char head[4];
    struct ssh_wire wire = { head, sizeof(head) };
    uint32_t len = 0;
    struct buf packet;
    char *bytes;
    int rc;

    buf_init(&packet, REQUEST_MAX + 4);
    ssh_wire_add_string(&packet, message->bytes, message->len);
    rc = move(agent, packet.bytes, packet.len, true, deadline_ns, err);
    buf_fini(&packet);
    if (rc == 0)
        rc = move(agent, head, sizeof(head), false, deadline_ns, err);
    (void)ssh_wire_u32(&wire, &len);
    if (rc == 0 && (len == 0 || len > SSH_AGENT_ANSWER_MAX))
        rc = err_set(err, ERR_PROTO,
                     "what answers at %s is no ssh-agent; check SSH_AUTH_SOCK "
                     "and IdentityAgent",
                     agent->path);
    if (rc < 0)
        return rc;
    bytes = mem_new(len, 1);
    rc = move(agent, bytes, len, false, deadline_ns, err);
    if (rc == 0 && (unsigned char)*bytes != want)
        rc = 1;
    if (rc == 0)
        buf_add(answer, bytes + 1, len - 1);
    free(bytes);
    return rc;
}

static int dial(struct ssh_agent *agent, const char *path, int64_t deadline_ns,
                struct err *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    snprintf(agent->path, sizeof(agent->path), "%s", path);
    if (strlen(path) >= sizeof(address.sun_path))
        return err_set(err, ERR_NETWORK,
                       "the agent's path %s is longer than a socket's may be",
                       path);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    agent->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    while (agent->fd >= 0 && connect(agent->fd, (struct sockaddr *)&address,
                                     sizeof(address)) < 0) {
        /* Many hosts at once may fill the queue of the agent. */
        if (errno == EAGAIN && clock_boot_ns() < deadline_ns)
            (void)poll_until(NULL, 0, clock_boot_ns() + BUSY_MS * NS_PER_MS);
        else
            return err_set(err, ERR_NETWORK,
                           "there is no agent at %s (%s); check SSH_AUTH_SOCK "
                           "and IdentityAgent",
                           path, strerror(errno));
    }
    return agent->fd >= 0
               ? 0
               : err_set(err, ERR_NETWORK, "%s: %s", path, strerror(errno));
}

static int list(struct ssh_agent *agent, int64_t deadline_ns, struct err *err)
{
    static const char kind[] = { REQUEST_IDENTITIES };
    struct buf message;
    struct ssh_wire wire;
    uint32_t n = 0;
    int rc;

    buf_init(&message, 1);
    buf_add(&message, kind, 1);
    rc =
        ask(agent, &message, IDENTITIES_ANSWER, deadline_ns, &agent->list, err);
    buf_fini(&message);
    if (rc < 0)
        return rc;
    wire = (struct ssh_wire){ (const unsigned char *)buf_text(&agent->list),
                              agent->list.len };
    if (rc == 1 || !ssh_wire_u32(&wire, &n))
        return err_set(err, ERR_PROTO,
                       "the agent at %s does not list its keys; does "
                       "'ssh-add -l' work?",
                       agent->path);
    agent->n = n < KEYS_MAX ? n : KEYS_MAX;
    buf_take(&agent->list, 4);
    return 0;
}

int ssh_agent_open(const char *path, int64_t deadline_ns,
                   struct ssh_agent **out, struct err *err)
{
    struct ssh_agent *agent = mem_new(1, sizeof(*agent));
    int rc;

    agent->fd = -1;
    buf_init(&agent->list, SSH_AGENT_ANSWER_MAX);
    rc = dial(agent, path, deadline_ns, err);
    if (rc == 0)
        rc = list(agent, deadline_ns, err);
    if (rc < 0) {
        ssh_agent_close(agent);
        agent = NULL;
    }
    *out = agent;
    return rc;
}

void ssh_agent_close(struct ssh_agent *agent)
{
    if (!agent)
        return;
    if (agent->fd >= 0)
        close(agent->fd);
    buf_fini(&agent->list);
    free(agent);
}

int ssh_agent_key(const struct ssh_agent *agent, size_t n,
                  struct ssh_agent_key *out)
{
    struct ssh_wire wire = { (const unsigned char *)buf_text(&agent->list),
                             agent->list.len };
    const unsigned char *comment = NULL;
    size_t len = 0;

    *out = (struct ssh_agent_key){ 0 };
    if (n >= agent->n)
        return 0;
    for (size_t i = 0; i <= n; i++) {
        out->blob = ssh_wire_string(&wire, &out->blob_len);
        comment = ssh_wire_string(&wire, &len);
        if (!out->blob || !comment)
            return 0;
    }
    snprintf(out->comment, sizeof(out->comment), "%.*s", (int)len,
             (const char *)comment);
    for (char *p = out->comment; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    return 1;
}

int ssh_agent_sign(struct ssh_agent *agent, const struct ssh_agent_key *key,
                   const void *bytes, size_t len, int64_t deadline_ns,
                   struct buf *out, struct err *err)
{
    static const char kind[] = { SIGN_REQUEST };
    char type[KNOWN_HOSTS_TYPE_BYTES];
    struct ssh_wire wire, inner = { NULL, 0 };
    struct buf message, answer;
    const unsigned char *signature = NULL;
    size_t n = 0;
    int rc;

    known_hosts_type(key->blob, key->blob_len, type);
    buf_init(&message, REQUEST_MAX);
    buf_init(&answer, SSH_AGENT_ANSWER_MAX);
    buf_add(&message, kind, 1);
    ssh_wire_add_string(&message, key->blob, key->blob_len);
    ssh_wire_add_string(&message, bytes, len);
    ssh_wire_add_u32(&message,
                     strcmp(type, RSA_KEY_TYPE) == 0 ? RSA_SHA2_512 : 0);
    rc = ask(agent, &message, SIGN_RESPONSE, deadline_ns, &answer, err);
    if (rc == 1)
        rc = err_set(err, ERR_AUTH, "the agent refuses to sign");
    if (rc == 0) {
        wire = (struct ssh_wire){ (const unsigned char *)buf_text(&answer),
                                  answer.len };
        inner.p = ssh_wire_string(&wire, &inner.left);
        if (inner.p && ssh_wire_string(&inner, &n)) /* the algorithm */
            signature = ssh_wire_string(&inner, &n);
        if (signature)
            buf_add(out, signature, n);
        else
            rc = err_set(err, ERR_PROTO, "the agent sent no signature");
    }
    buf_fini(&message);
    buf_fini(&answer);
    return rc;
}
