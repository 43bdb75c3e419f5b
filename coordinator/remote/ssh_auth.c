#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/remote/ssh_offer.h"
#include "coordinator/remote/ssh_session.h"
#include "coordinator/ssh_keys/key_file.h"
#include "coordinator/ssh_keys/known_hosts.h"
#include "coordinator/ssh_keys/ssh_agent.h"

#define ATTEMPTS_MAX 5 /* sshd's MaxAuthTries is 6, and counts "none" */
#define NOTES_MAX 400
#define AGENT_MS 5000 /* for the list of its keys */

/* What has been tried in a login. */
struct attempt {
    struct ssh *ssh;
    int64_t deadline_ns;
    int tries;
    struct buf notes; /* "what: why not; " for the error message at the end */
    struct key_file *files;
    size_t n_files;
    bool partial;                /* a key was accepted; more is wanted */
    bool agent_failed;           /* it gave no list of its keys */
    char lacks[SSH_LACKS_BYTES]; /* what the system's ssh could try */
};

static void note(struct attempt *a, const char *what, const char *why)
{
    buf_printf(&a->notes, "%s%s: %s", a->notes.len ? ", " : "", what, why);
}

/* If no other key is accepted, the login needs this one. */
static void lacks(struct attempt *a, const char *key)
{
    if (!*a->lacks)
        snprintf(a->lacks, sizeof(a->lacks), "use the key %.200s", key);
}

/* Ask which methods the server accepts now.  1: no login is needed, 0: it
 * accepts keys, or an error. */
static int ask_methods(struct attempt *a, struct err *err)
{
    static const char *const others[] = { "gssapi-with-mic", "hostbased" };
    const char *user = a->ssh->config->user;
    char *methods;

    do {
        methods = libssh2_userauth_list(a->ssh->session, user,
                                        (unsigned)strlen(user));
    } while (!methods &&
             libssh2_session_last_errno(a->ssh->session) ==
                 LIBSSH2_ERROR_EAGAIN &&
             ssh_wait(a->ssh, a->deadline_ns) == 0);
    if (!methods && libssh2_userauth_authenticated(a->ssh->session))
        return 1;
    if (!methods)
        return ssh_offer_lost(a->ssh, err);
    for (size_t i = 0; i < sizeof(others) / sizeof(char *); i++)
        if (strstr(methods, others[i]) && !*a->lacks)
            snprintf(a->lacks, sizeof(a->lacks),
                     "log in by %s, which the server offers", others[i]);
    if (strstr(methods, "publickey"))
        return 0;
    memcpy(a->ssh->lacks, a->lacks, sizeof(a->lacks));
    if (a->partial)
        return err_set(err, ERR_AUTH,
                       "login: the key was accepted (%s); the server wants %s "
                       "as well, which fa-coord cannot answer; set "
                       "AuthenticationMethods publickey in its sshd_config for "
                       "this user",
                       buf_text(&a->notes), methods);
    return err_set(err, ERR_AUTH,
                   "login: the server accepts %s but no keys; set "
                   "PubkeyAuthentication yes in its sshd_config",
                   methods);
}

/* What is to be done about the answer to a key: 1 logged in, 0 go on, or an
 * error. */
static int settle(struct attempt *a, int answer, const char *what,
                  const char *why, struct err *err)
{
    if (answer < 0 || answer == SSH_OFFER_LOGGED_IN)
        return answer;
    if (answer == SSH_OFFER_REFUSED) {
        note(a, what, why);
        return 0;
    }
    note(a, what, "accepted");
    a->partial = true;
    return ask_methods(a, err);
}

static int try_file(struct attempt *a, const char *path, struct err *err)
{
    char why[SSH_OFFER_WHY_BYTES];
    int rc = ssh_offer_file(a->ssh, path, a->deadline_ns, why, err);

    a->tries++;
    return settle(a, rc, path, why, err);
}

/* Read a key file, and log in with it if libssh2 can use it. */
static int consider_file(struct attempt *a, const char *path, bool asked_for,
                         struct err *err)
{
    struct key_file *file = &a->files[a->n_files];
    const char *obstacle;
    int rc = key_file_read(path, file, err);

    if (rc == 1 && asked_for)
        return err_set(err, ERR_AUTH,
                       "key: %s does not exist; check key= in the hosts file",
                       path);
    if (rc < 0 && asked_for)
        return rc;
    if (rc != 0)
        return 0;
    a->n_files++;
    obstacle = key_file_obstacle(file->type);
    if (obstacle)
        lacks(a, path);
    if (file->encrypted && !obstacle)
        obstacle = "encrypted; load it into ssh-agent with ssh-add";
    if (file->exposed)
        obstacle = "others may read it, so it is not used; run chmod 600";
    if (obstacle) {
        note(a, path, obstacle);
        return 0;
    }
    return a->tries < ATTEMPTS_MAX ? try_file(a, path, err) : 0;
}

static int try_files(struct attempt *a, struct err *err)
{
    const struct host *host = a->ssh->base.host;
    const struct ssh_config *config = a->ssh->config;
    char path[SSH_CONFIG_PATH_BYTES];
    int rc = 0;

    if (*host->key) {
        ssh_config_path(host->key, a->ssh->route->options->home, path,
                        sizeof(path));
        return consider_file(a, path, true, err);
    }
    for (size_t i = 0; i < config->n_identities && rc == 0; i++)
        rc = consider_file(a, config->identities[i], false, err);
    return rc;
}

/* With IdentitiesOnly or key=, only agent keys that have a key file are
 * offered. */
static bool may_offer(const struct attempt *a, const struct ssh_agent_key *key)
{
    if (!a->ssh->config->identities_only)
        return true;
    for (size_t i = 0; i < a->n_files; i++)
        if (a->files[i].blob_len == key->blob_len &&
            memcmp(a->files[i].blob, key->blob, key->blob_len) == 0)
            return true;
    return false;
}

static int try_agent_key(struct attempt *a, struct ssh_agent *agent,
                         const struct ssh_agent_key *key, struct err *err)
{
    char type[KNOWN_HOSTS_TYPE_BYTES], why[SSH_OFFER_WHY_BYTES], what[128];
    const char *obstacle;
    int rc;

    snprintf(what, sizeof(what), "agent's %s",
             *key->comment ? key->comment : "key");
    known_hosts_type(key->blob, key->blob_len, type);
    obstacle = key_file_obstacle(type);
    if (obstacle) {
        lacks(a, what);
        note(a, what, obstacle);
        return 0;
    }
    a->tries++;
    rc = ssh_offer_agent(a->ssh, agent, key, a->deadline_ns, why, err);
    return settle(a, rc, what, why, err);
}

/* An agent that does not answer is no reason to give up before the keys that
 * need none were tried; but then it is the reason. */
static int try_agent(struct attempt *a, struct err *err)
{
    const char *path = *a->ssh->config->agent ? a->ssh->config->agent
                                              : a->ssh->route->options->agent;
    int64_t soon = clock_boot_ns() + AGENT_MS * NS_PER_MS;
    struct ssh_agent *agent;
    struct ssh_agent_key key;
    int rc;

    if (!path || !*path || strcmp(path, "none") == 0)
        return 0;
    rc = ssh_agent_open(path, int64_min(soon, a->deadline_ns), &agent, err);
    if (rc < 0) {
        buf_printf(&a->notes, "%s%s", a->notes.len ? ", " : "", err->text);
        a->agent_failed = true;
        return 0;
    }
    for (size_t i = 0; rc == 0 && a->tries < ATTEMPTS_MAX; i++) {
        if (ssh_agent_key(agent, i, &key) == 0)
            break;
        if (may_offer(a, &key))
            rc = try_agent_key(a, agent, &key, err);
    }
    ssh_agent_close(agent);
    return rc;
}

static int refuse(const struct attempt *a, struct err *err)
{
    memcpy(a->ssh->lacks, a->lacks, sizeof(a->lacks));
    if (a->partial)
        return err_set(err, ERR_AUTH,
                       "login: the server wants more than one key (%s); load "
                       "the others into ssh-agent, or name them with "
                       "IdentityFile in ~/.ssh/config",
                       buf_text(&a->notes));
    return err_set(err, a->agent_failed ? ERR_NETWORK : ERR_AUTH,
                   "login: the server accepted no key of '%s' (%s); name the "
                   "private key with key=, add its public key to "
                   "~/.ssh/authorized_keys on the host, or try --ssh=openssh",
                   a->ssh->config->user,
                   a->notes.len ? buf_text(&a->notes)
                                : "there is no key file and no agent");
}

int ssh_auth(struct ssh *ssh, int64_t deadline_ns, struct err *err)
{
    struct attempt a = { .ssh = ssh, .deadline_ns = deadline_ns };
    int rc;

    buf_init(&a.notes, NOTES_MAX);
    a.files = mem_new(SSH_CONFIG_FILES_MAX, sizeof(*a.files));
    rc = ask_methods(&a, err);
    if (rc == 0)
        rc = try_files(&a, err);
    if (rc == 0)
        rc = try_agent(&a, err);
    if (rc == 0)
        rc = refuse(&a, err);
    free(a.files);
    buf_fini(&a.notes);
    return err_only(rc);
}
