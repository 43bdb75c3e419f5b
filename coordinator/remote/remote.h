/* remote.h - a machine to run programs on, over SSH or locally
 *
 * Three backends share one interface: libssh2, the system's ssh, and no SSH for
 * 'localhost'.  By default libssh2 is used, which needs one login only, and the
 * system's ssh where libssh2 lacks something that the login needs
 * (ssh_lacks.h); never because a host key or a key of the user was refused.
 * Every error text names the host, the phase, the cause and the remedy.  Codes:
 *   ERR_AUTH     credentials; trying again cannot help, unless the machine
 *                was just started
 *   ERR_HOST_KEY the host key; trying again cannot help
 *   ERR_NETWORK  unreachable, closed or too slow; a retry can help
 *   ERR_BUSY     the server closed the connection without a word, as sshd does
 *                beyond its MaxStartups; a retry helps soon
 *   ERR_INPUT    the configuration of ssh or the hosts file
 *   ERR_SYSTEM   this machine refused (no ssh program, no descriptors)
 * Thread rule: a remote and its stream belong to one thread.  ssh_setup()
 * (ssh.h) and hash_setup() in main, before any thread.
 */
#ifndef FA_COORDINATOR_REMOTE_REMOTE_H
#define FA_COORDINATOR_REMOTE_REMOTE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct host;
struct remote;
struct stream;

enum remote_ssh {
    REMOTE_SSH_AUTO,
    REMOTE_SSH_LIBSSH2,
    REMOTE_SSH_OPENSSH,
};

/* The word of --ssh: auto, libssh2 or openssh.  ERR_INPUT for another one. */
int remote_ssh_read(const char *word, enum remote_ssh *out, struct err *err);

/* Called before each login with the server that it reaches first, as
 * "ADDRESS:PORT", the address as a number if it can be resolved: returns 0 when
 * the login may begin, or an error. */
struct remote_gate {
    int (*enter)(void *self, const char *server, struct err *err);
    void *self;
};

/* main() reads these from the environment; the texts outlive the remotes. */
struct remote_options {
    enum remote_ssh ssh;
    bool accept_new_host_keys;
    const char *config;      /* replaces ~/.ssh/config; "" or NULL: use that */
    const char *home;        /* $HOME; what "~" means */
    const char *agent;       /* $SSH_AUTH_SOCK; NULL for none */
    struct remote_gate gate; /* without a function: every login may begin */
};

/* Reach the host and log in: at most 10 s to connect, 10 s for the key
 * exchange, 15 s to authenticate.  'host' is borrowed until the close. */
int remote_open(const struct host *host, const struct remote_options *options,
                struct remote **out, struct err *err);
void remote_close(struct remote *remote); /* NULL is fine */

/* What the user should know about the login, one remark a line: warnings about
 * the known_hosts files ("known_hosts:3: ..."), and why the system's ssh is
 * used without being asked for.  "" if there is nothing. */
const char *remote_remarks(const struct remote *remote);

/* The server that the login reached first: the fingerprint of its key, and its
 * banner.  "" if that is not known: a jump host, the system's ssh. */
const char *remote_identity(const struct remote *remote);

/* Is every command a login of its own? */
bool remote_logs_in_again(const struct remote *remote);

/* Run a command of the login shell to its end.  'input' goes to its stdin, and
 * its stdout to 'out'; what exceeds the ceiling of 'out' is dropped.  Returns 0
 * and the exit status (128 + n for a signal). 'said', at least 1 byte, gets the
 * end of stderr. */
struct remote_io {
    const void *input;
    size_t input_len;
    struct buf *out;
    char *said;
    size_t said_size;
    int64_t deadline_ns; /* of clock_boot_ns() */
    int64_t idle_ns;     /* 0, or each byte puts the deadline off until then */
    /* Called when more of the input is on its way, with how much; or NULL. */
    void (*sent)(void *self, size_t bytes);
    void *self;
};
int remote_exec(struct remote *remote, const char *command,
                const struct remote_io *io, int *status, struct err *err);

/* Start a command and keep its stdin and stdout as a stream of bytes.  Only one
 * stream at a time, and no remote_exec() while it is open. */
int remote_stream(struct remote *remote, const char *command,
                  struct stream **out, struct err *err);

#endif
