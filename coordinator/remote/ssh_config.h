/* ssh_config.h - what the user's ~/.ssh/config says about a host
 *
 * The file is not parsed here.  `ssh -G -- HOST` prints the resolved settings,
 * with Match, Include and patterns applied, and does not connect.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_REMOTE_SSH_CONFIG_H
#define FA_COORDINATOR_REMOTE_SSH_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct host;

#define SSH_CONFIG_FILES_MAX 16
#define SSH_CONFIG_PATH_BYTES 512

struct ssh_config {
    char hostname[256];
    char user[64];
    int port;
    char identities[SSH_CONFIG_FILES_MAX][SSH_CONFIG_PATH_BYTES];
    size_t n_identities;
    bool identities_only;
    char known_hosts[SSH_CONFIG_FILES_MAX][SSH_CONFIG_PATH_BYTES];
    size_t n_known_hosts; /* the user's files first, then the global ones */
    char agent[SSH_CONFIG_PATH_BYTES]; /* socket; "" for SSH_AUTH_SOCK,
                                          "none" for no agent */
    char host_key_alias[256]; /* name to look up in known_hosts, or "" */
    char proxy_jump[512];     /* "" for none */
    char proxy_command[512];  /* "" for none */
    bool revoked_keys;        /* RevokedHostKeys is set */
    char only_openssh[32];    /* the first setting that only the system's ssh
                                 can follow, "ProxyCommand"; "" for none */
};

/* Parse the output of `ssh -G`; '~' and "~/" become 'home'.  It prints several
 * known_hosts files on one line without quotes: what does not begin like a path
 * (with '/' or '~') is taken as the end of a name with blanks.  ERR_PROTO if a
 * hostname, user or port is missing. */
int ssh_config_parse(const char *text, const char *home, struct ssh_config *out,
                     struct err *err);

/* The settings of a host without any configuration file, for machines that have
 * neither ssh nor ~/.ssh/config.  ERR_INPUT without a user. */
int ssh_config_plain(const struct host *host, const char *home,
                     struct ssh_config *out, struct err *err);

/* Ask ssh about a host of the hosts file; its attributes in the hosts file take
 * precedence.  'file' is used instead of ~/.ssh/config unless it is "".
 * ERR_SYSTEM without ssh, ERR_INPUT when ssh refuses the configuration. */
int ssh_config_read(const struct host *host, const char *file, const char *home,
                    struct ssh_config *out, struct err *err);

/* Write the words that name the host and its attributes to ssh into argv from
 * argv[n] on: -F -p -l -i -J.  Returns the new n; needs 16 places. */
#define SSH_CONFIG_ARGS 16
struct ssh_args {
    const char *argv[64];
    size_t n;
    char port[16];
    char key[SSH_CONFIG_PATH_BYTES + 32];
};
void ssh_config_args(const struct host *host, const char *file,
                     const char *home, struct ssh_args *args);

/* "~/x" becomes HOME/x; other paths stay. */
void ssh_config_path(const char *path, const char *home, char *out,
                     size_t size);

#endif
