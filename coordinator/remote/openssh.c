#include "coordinator/remote/openssh.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/process/child.h"
#include "coordinator/process/stderr_tail.h"
#include "coordinator/remote/ssh_config.h"
#include "coordinator/ssh_keys/known_hosts.h"

#define KEYSCAN_MS 12000 /* the own limit of ssh-keyscan is 10 s */
#define KEYSCAN_BYTES_MAX 65536
#define BLOB_MAX 8192
#define SAID_LINES 2 /* lines of stderr in the message */

struct openssh {
    struct ssh_args args;
    size_t n_fixed;  /* words before the command */
    char pinned[64]; /* path of a file with the only acceptable key, or "" */
    char pin_option[128];
};

static const char *const options_always[] = {
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=10",
    "-oEscapeChar=none",
    "-oClearAllForwardings=yes",
    "-oControlMaster=no",
    "-oControlPath=none",
    "-oRequestTTY=no",
    "-oRemoteCommand=none",
    "-oPermitLocalCommand=no",
    "-oLogLevel=ERROR",
    "-oServerAliveInterval=15",
};

static void add(struct ssh_args *args, const char *word)
{
    args->argv[args->n++] = word;
}

/* The line of ssh-keyscan with the key of this fingerprint, or NULL. */
static const char *pinned_line(const char *text, const char *fingerprint,
                               size_t *len)
{
    for (const char *p = text; *p; p += *len + (p[*len] == '\n')) {
        unsigned char blob[BLOB_MAX];
        char have[KNOWN_HOSTS_FINGERPRINT_BYTES];
        const char *key = p;
        size_t n = 0;

        *len = strcspn(p, "\n");
        for (int i = 0; i < 2 && key; i++) {
            key = memchr(key, ' ', (size_t)(p + *len - key));
            key = key ? key + 1 : NULL;
        }
        if (*p == '#' || !key ||
            sodium_base642bin(blob, sizeof(blob), key, (size_t)(p + *len - key),
                              NULL, &n, NULL,
                              sodium_base64_VARIANT_ORIGINAL) < 0)
            continue;
        known_hosts_fingerprint(blob, n, have);
        if (strcmp(have, fingerprint) == 0)
            return p;
    }
    return NULL;
}

static int scan_keys(const struct ssh_config *config, struct buf *out,
                     struct err *err)
{
    int64_t deadline = clock_boot_ns() + KEYSCAN_MS * NS_PER_MS;
    char port[16];
    const char *const argv[] = { "ssh-keyscan",    "-T", "10", "-p", port, "--",
                                 config->hostname, NULL };
    int status;

    snprintf(port, sizeof(port), "%d", config->port);
    return child_output(argv, deadline, out, NULL, &status, err);
}

/* Write the pinned key under the alias that ssh will look up. */
static int write_pin(struct openssh *ssh, const char *line, size_t len,
                     struct err *err)
{
    const char *key = memchr(line, ' ', len);
    int fd, n;

    snprintf(ssh->pinned, sizeof(ssh->pinned), "/tmp/fa-hostkey-XXXXXX");
    fd = mkostemp(ssh->pinned, O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", ssh->pinned, strerror(errno));
    n = dprintf(fd, "fa-pinned%.*s\n", (int)(line + len - key), key);
    close(fd);
    if (n < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", ssh->pinned, strerror(errno));
    snprintf(ssh->pin_option, sizeof(ssh->pin_option),
             "-oUserKnownHostsFile=%s", ssh->pinned);
    return 0;
}

static int pin(struct openssh *ssh, const struct host *host,
               const struct remote_options *options, struct err *err)
{
    const char *config_file = options->config ? options->config : "";
    struct ssh_config config;
    const char *line;
    struct buf text;
    size_t len;
    int rc = ssh_config_read(host, config_file, options->home, &config, err);

    if (rc < 0)
        return rc;
    if (*config.proxy_jump || *config.proxy_command)
        return err_set(
            err, ERR_INPUT,
            "hostkey= with a jump host does not work with --ssh=openssh; "
            "remove hostkey= and put the key into ~/.ssh/known_hosts");
    buf_init(&text, KEYSCAN_BYTES_MAX);
    rc = scan_keys(&config, &text, err);
    if (rc == 0 && text.len == 0)
        rc = err_set(err, ERR_NETWORK,
                     "connect: %s port %d shows no host key; is the machine "
                     "up, and does its sshd listen on this port?",
                     config.hostname, config.port);
    if (rc == 0) {
        line = pinned_line(buf_text(&text), host->hostkey, &len);
        if (line)
            rc = write_pin(ssh, line, len, err);
        else
            rc = err_set(err, ERR_AUTH,
                         "host key: the server does not have the pinned key "
                         "%s; if the machine was reinstalled, write its new "
                         "fingerprint into the hosts file",
                         host->hostkey);
    }
    buf_fini(&text);
    return rc;
}

int openssh_new(const struct host *host, const struct remote_options *options,
                struct openssh **out, struct err *err)
{
    struct openssh *ssh = mem_new(1, sizeof(*ssh));
    struct ssh_args *args = &ssh->args;
    int rc = *host->hostkey ? pin(ssh, host, options, err) : 0;

    if (rc < 0) {
        openssh_free(ssh);
        return rc;
    }
    add(args, "ssh");
    for (size_t i = 0; i < sizeof(options_always) / sizeof(char *); i++)
        add(args, options_always[i]);
    if (*ssh->pin_option) {
        add(args, ssh->pin_option);
        add(args, "-oGlobalKnownHostsFile=none");
        add(args, "-oHostKeyAlias=fa-pinned");
        add(args, "-oStrictHostKeyChecking=yes");
    } else {
        add(args, options->accept_new_host_keys
                      ? "-oStrictHostKeyChecking=accept-new"
                      : "-oStrictHostKeyChecking=yes");
    }
    ssh_config_args(host, options->config ? options->config : "", options->home,
                    args);
    add(args, "--");
    add(args, host->address);
    ssh->n_fixed = args->n;
    *out = ssh;
    return 0;
}

void openssh_free(struct openssh *ssh)
{
    if (!ssh)
        return;
    if (*ssh->pinned)
        unlink(ssh->pinned);
    free(ssh);
}

const char *const *openssh_argv(struct openssh *ssh, const char *command)
{
    ssh->args.argv[ssh->n_fixed] = command;
    ssh->args.argv[ssh->n_fixed + 1] = NULL;
    return ssh->args.argv;
}

int openssh_explain(const struct stderr_tail *tail, struct err *err)
{
    static const struct {
        const char *said;
        int code;
        const char *phase, *remedy;
    } rows[] = {
        { "REVOKED HOST KEY", ERR_AUTH, "host key",
          "known_hosts marks the key @revoked; do not use this machine" },
        { "IDENTIFICATION HAS CHANGED", ERR_AUTH, "host key",
          "someone may be intercepting the connection; if the machine was "
          "reinstalled, run ssh-keygen -R HOST and use "
          "--accept-new-host-keys" },
        { "Host key verification failed", ERR_AUTH, "host key",
          "if the machine is new, check its fingerprint and use "
          "--accept-new-host-keys (it never accepts a changed or @revoked "
          "key)" },
        { "Permission denied", ERR_AUTH, "login",
          "name the private key with key= or load it into ssh-agent, and add "
          "its public key to ~/.ssh/authorized_keys on the host" },
        { "Too many authentication failures", ERR_AUTH, "login",
          "name the right key with key=" },
        { "Could not resolve", ERR_NETWORK, "connect",
          "check the name in the hosts file or ~/.ssh/config" },
        { "", ERR_NETWORK, "connect",
          "is the machine up, and does its sshd listen on this port?" },
    };
    char said[512];
    size_t i = 0;

    stderr_tail_say(tail, SAID_LINES, said, sizeof(said));
    while (!strstr(tail->text, rows[i].said))
        i++;
    return err_set(err, rows[i].code, "%s: ssh said: %s; %s", rows[i].phase,
                   *said ? said : "nothing", rows[i].remedy);
}
