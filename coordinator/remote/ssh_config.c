#include "coordinator/remote/ssh_config.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/process/stderr_tail.h"

#define OUTPUT_MAX (256 << 10)
#define ASK_MS 20000 /* a Match exec in the configuration may be slow */

void ssh_config_path(const char *path, const char *home, char *out, size_t size)
{
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
        snprintf(out, size, "%s%s", home, path + 1);
    else
        snprintf(out, size, "%s", path);
}

static void set_text(char *out, size_t size, const char *value)
{
    snprintf(out, size, "%s", strcmp(value, "none") == 0 ? "" : value);
}

static void add_path(char list[][SSH_CONFIG_PATH_BYTES], size_t *n,
                     const char *path, const char *home)
{
    if (*n < SSH_CONFIG_FILES_MAX && strcmp(path, "none") != 0)
        ssh_config_path(path, home, list[(*n)++], SSH_CONFIG_PATH_BYTES);
}

/* Paths separated by blanks, which the paths may have as well. */
static void add_paths(struct ssh_config *out, const char *value,
                      const char *home)
{
    char path[SSH_CONFIG_PATH_BYTES];

    while (*value) {
        size_t len = strcspn(value, " ");

        while (value[len] && value[len + 1] != '/' && value[len + 1] != '~')
            len += 1 + strcspn(value + len + 1, " ");
        snprintf(path, sizeof(path), "%.*s", (int)len, value);
        if (len > 0)
            add_path(out->known_hosts, &out->n_known_hosts, path, home);
        value += len + (value[len] == ' ');
    }
}

/* What libssh2 does not know of, and a login may depend on. */
static void take_only_openssh(struct ssh_config *out, const char *key,
                              const char *value)
{
    static const char *const rows[][2] = {
        { "proxycommand", "ProxyCommand" },
        { "certificatefile", "CertificateFile" },
        { "knownhostscommand", "KnownHostsCommand" },
        { "revokedhostkeys", "RevokedHostKeys" },
        { "pkcs11provider", "PKCS11Provider" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(key, rows[i][0]) == 0 && strcmp(value, "none") != 0 &&
            !*out->only_openssh)
            set_text(out->only_openssh, sizeof(out->only_openssh), rows[i][1]);
}

static void take(struct ssh_config *out, const char *key, const char *value,
                 const char *home)
{
    take_only_openssh(out, key, value);
    if (strcmp(key, "hostname") == 0)
        set_text(out->hostname, sizeof(out->hostname), value);
    else if (strcmp(key, "user") == 0)
        set_text(out->user, sizeof(out->user), value);
    else if (strcmp(key, "port") == 0)
        out->port = (int)strtol(value, NULL, 10);
    else if (strcmp(key, "identityfile") == 0)
        add_path(out->identities, &out->n_identities, value, home);
    else if (strcmp(key, "identitiesonly") == 0)
        out->identities_only = strcmp(value, "yes") == 0;
    else if (strcmp(key, "userknownhostsfile") == 0 ||
             strcmp(key, "globalknownhostsfile") == 0)
        add_paths(out, value, home);
    else if (strcmp(key, "identityagent") == 0 &&
             strcmp(value, "SSH_AUTH_SOCK") != 0)
        ssh_config_path(value, home, out->agent, sizeof(out->agent));
    else if (strcmp(key, "hostkeyalias") == 0)
        set_text(out->host_key_alias, sizeof(out->host_key_alias), value);
    else if (strcmp(key, "revokedhostkeys") == 0)
        out->revoked_keys = strcmp(value, "none") != 0;
    else if (strcmp(key, "proxyjump") == 0)
        set_text(out->proxy_jump, sizeof(out->proxy_jump), value);
    else if (strcmp(key, "proxycommand") == 0)
        set_text(out->proxy_command, sizeof(out->proxy_command), value);
}

/* `ssh -G` prints the global files before the user's.  A new host key belongs
 * in the user's file. */
static void take_pass(struct ssh_config *out, const char *text,
                      const char *home, bool global)
{
    char key[64], value[2048];

    for (const char *p = text; *p;) {
        size_t len = strcspn(p, "\n"), klen = strcspn(p, " \n");

        snprintf(key, sizeof(key), "%.*s", (int)klen, p);
        snprintf(value, sizeof(value), "%.*s",
                 klen < len ? (int)(len - klen - 1) : 0,
                 klen < len ? p + klen + 1 : "");
        if ((strcmp(key, "globalknownhostsfile") == 0) == global)
            take(out, key, value, home);
        p += len + (p[len] == '\n');
    }
}

int ssh_config_parse(const char *text, const char *home, struct ssh_config *out,
                     struct err *err)
{
    *out = (struct ssh_config){ 0 };
    take_pass(out, text, home, false);
    take_pass(out, text, home, true);
    if (!*out->hostname || !*out->user || out->port < 1 || out->port > 65535)
        return err_set(err, ERR_PROTO,
                       "ssh -G printed no hostname, user or port; is 'ssh' the "
                       "program of OpenSSH?");
    return 0;
}

static void add(struct ssh_args *args, const char *word)
{
    args->argv[args->n++] = word;
}

static void add_pair(struct ssh_args *args, const char *flag, const char *value)
{
    if (!*value)
        return;
    add(args, flag);
    add(args, value);
}

void ssh_config_args(const struct host *host, const char *file,
                     const char *home, struct ssh_args *args)
{
    if (host->port)
        snprintf(args->port, sizeof(args->port), "%d", host->port);
    if (*host->key) {
        ssh_config_path(host->key, home, args->key, sizeof(args->key));
        add_pair(args, "-o", "IdentitiesOnly=yes");
    }
    add_pair(args, "-F", file);
    add_pair(args, "-p", args->port);
    add_pair(args, "-l", host->user);
    add_pair(args, "-i", args->key);
    add_pair(args, "-J", host->jump);
}

/* The answer of ssh if there were no configuration file. */
int ssh_config_plain(const struct host *host, const char *home,
                     struct ssh_config *out, struct err *err)
{
    struct passwd entry, *me = NULL;
    char names[1024];
    struct buf text;
    int rc;

    if (!*host->user)
        (void)getpwuid_r(geteuid(), &entry, names, sizeof(names), &me);
    if (!*host->user && !me)
        return err_set(err, ERR_INPUT, "the user is missing; write user@%s",
                       host->address);
    buf_init(&text, OUTPUT_MAX);
    buf_printf(&text, "hostname %s\nuser %s\nport %d\n", host->address,
               me ? me->pw_name : host->user, host->port ? host->port : 22);
    if (*host->key)
        buf_printf(&text, "identitiesonly yes\nidentityfile %s\n", host->key);
    else
        buf_printf(&text, "identityfile ~/.ssh/id_ed25519\n"
                          "identityfile ~/.ssh/id_ecdsa\n");
    buf_printf(&text, "userknownhostsfile ~/.ssh/known_hosts\n"
                      "globalknownhostsfile /etc/ssh/ssh_known_hosts\n");
    rc = ssh_config_parse(buf_text(&text), home, out, err);
    buf_fini(&text);
    return rc;
}

/* Is there anything that only the ssh program can read?  If not, a machine
 * without it still works. */
static bool needs_ssh(const struct host *host, const char *file,
                      const char *home)
{
    char path[SSH_CONFIG_PATH_BYTES];

    ssh_config_path("~/.ssh/config", home, path, sizeof(path));
    return *file || *host->jump || access(path, F_OK) == 0;
}

int ssh_config_read(const struct host *host, const char *file, const char *home,
                    struct ssh_config *out, struct err *err)
{
    struct ssh_args args = { .argv = { "ssh", "-G" }, .n = 2 };
    int64_t deadline = clock_boot_ns() + ASK_MS * NS_PER_MS;
    struct stderr_tail errors = { 0 };
    struct buf text;
    char said[256];
    int status, rc;

    ssh_config_args(host, file, home, &args);
    add(&args, "--");
    add(&args, host->address);
    buf_init(&text, OUTPUT_MAX);
    rc = subprocess_output(args.argv, deadline, &text, &errors, &status, err);
    if (rc == ERR_SYSTEM && !needs_ssh(host, file, home)) {
        buf_fini(&text);
        return ssh_config_plain(host, home, out, err);
    }
    if (rc == ERR_SYSTEM)
        err_set(err, rc,
                "the program 'ssh' cannot be started; install openssh-client, "
                "which reads ~/.ssh/config");
    if (rc == ERR_NETWORK)
        err_set(err, rc,
                "ssh -G gave no answer within %d s; does ~/.ssh/config have a "
                "'Match exec' whose command is slow?",
                ASK_MS / 1000);
    if (rc == 0 && status != 0) {
        stderr_tail_say(&errors, 2, said, sizeof(said));
        rc = err_set(err, ERR_INPUT, "ssh -G: %s", said);
    }
    if (rc == 0)
        rc = ssh_config_parse(buf_text(&text), home, out, err);
    buf_fini(&text);
    return rc;
}
