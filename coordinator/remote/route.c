#include "coordinator/remote/route.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/remote.h"

#define FILE_BYTES_MAX 4096

/* What a name of a jump host may consist of: it becomes a word of the command
 * line of ProxyCommand, which a shell reads. */
#define SAFE                                               \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" \
    "0123456789._-+:@/[]"

static const char *config_file(const struct route *route)
{
    return route->options->config ? route->options->config : "";
}

static struct route_hop *hop_new(void)
{
    struct route_hop *hop = mem_new(1, sizeof(*hop));

    hop->fd = -1;
    known_hosts_init(&hop->known, "", 22);
    return hop;
}

static void hop_free(struct route_hop *hop)
{
    known_hosts_fini(&hop->known);
    if (hop->fd >= 0)
        close(hop->fd);
    free(hop);
}

static int too_long(const char *jump, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "jump host '%s': the way has more than %d jump hosts; does "
                   "ProxyJump in ~/.ssh/config go round in a ring?",
                   jump, ROUTE_MAX - 1);
}

static int add_jumps(struct route *route, const char *list, int depth,
                     struct err *err);

/* [ssh://][user@]host[:port], where an IPv6 address with a port is in square
 * brackets.  ssh takes these apart in ProxyJump, but not for a login. */
static void read_jump(const char *jump, struct host *out)
{
    const char *name = strncmp(jump, "ssh://", 6) == 0 ? jump + 6 : jump;
    const char *at = strrchr(name, '@'), *colon;
    size_t len;

    snprintf(out->name, sizeof(out->name), "%s", name);
    if (at) {
        snprintf(out->user, sizeof(out->user), "%.*s", (int)(at - name), name);
        name = at + 1;
    }
    len = strlen(name);
    colon = strrchr(name, ':');
    if (colon && (strchr(name, ':') == colon || colon[-1] == ']')) {
        out->port = (int)strtol(colon + 1, NULL, 10);
        len = (size_t)(colon - name);
    }
    if (len > 1 && *name == '[' && name[len - 1] == ']') {
        name++;
        len -= 2;
    }
    snprintf(out->address, sizeof(out->address), "%.*s", (int)len, name);
}

/* Add one jump host.  The first one of a list may itself have a ProxyJump; for
 * the others the list says what comes before. */
static int add_jump(struct route *route, const char *jump, bool first,
                    int depth, struct err *err)
{
    struct route_hop *hop;
    int rc;

    if (strspn(jump, SAFE) != strlen(jump) || !*jump || *jump == '-')
        return err_set(err, ERR_INPUT,
                       "jump host '%s': write [user@]host[:port] or an alias "
                       "of ~/.ssh/config",
                       jump);
    hop = hop_new();
    read_jump(jump, &hop->host);
    rc = ssh_config_read(&hop->host, config_file(route), route->options->home,
                         &hop->config, err);
    if (rc < 0)
        err_within(err, rc, "jump host '%s'", jump);
    if (rc == 0 && first && *hop->config.proxy_jump)
        rc = add_jumps(route, hop->config.proxy_jump, depth + 1, err);
    if (rc == 0 && route->n == ROUTE_MAX - 1)
        rc = too_long(jump, err);
    if (rc < 0)
        hop_free(hop);
    else
        route->hops[route->n++] = hop;
    return rc;
}

static int add_jumps(struct route *route, const char *list, int depth,
                     struct err *err)
{
    bool first = true;
    int rc = 0;

    if (depth == ROUTE_MAX)
        return too_long(list, err);
    while (rc == 0 && *list) {
        char jump[256];
        size_t len = strcspn(list, ",");

        snprintf(jump, sizeof(jump), "%.*s", (int)len, list);
        rc = add_jump(route, jump, first, depth, err);
        first = false;
        list += len + (list[len] == ',');
    }
    return rc;
}

/* Read what known_hosts says, and apply the policy. */
static int judge(const struct route *route, struct route_hop *hop, bool target,
                 struct err *err)
{
    const struct ssh_config *config = &hop->config;
    bool alias = *config->host_key_alias;
    const struct known_hosts_key *which;
    int rc = 0;

    known_hosts_fini(&hop->known);
    known_hosts_init(&hop->known,
                     alias ? config->host_key_alias : config->hostname,
                     alias ? 22 : config->port);
    for (size_t i = 0; i < config->n_known_hosts && rc == 0; i++)
        rc = known_hosts_load(&hop->known, config->known_hosts[i], err);
    if (rc < 0)
        return err_within(err, rc, "host key");
    hop->policy = (struct host_key_policy){
        .known = &hop->known,
        .pin = target ? route->host->hostkey : "",
        .accept_new = route->options->accept_new_host_keys,
    };
    hop->rule = host_key_policy_before(&hop->policy, &which);
    if (hop->rule == HOST_KEY_NONE)
        return err_set(err, ERR_HOST_KEY,
                       "host key: REVOKED: hostkey= pins %s %s, which %s marks "
                       "@revoked; do not use this machine",
                       which->type, which->fingerprint, which->place);
    return 0;
}

/* ssh asks this command whether it knows the key that the server showed: it
 * does if the fingerprint is the pinned one.  Otherwise the fingerprint is
 * printed for the message. */
static void add_pin(struct buf *out, const char *pin)
{
    buf_printf(out,
               "KnownHostsCommand /bin/sh -c 'if test \"$1\" = \"$2\"; then "
               "echo \"$3 $4 $5\"; elif test \"$1\" != NONE; then echo "
               "\"" ROUTE_PIN_SAYS " $4 $1\" >&2; fi' sh %%f %s %%H %%t %%K\n"
               "UserKnownHostsFile /dev/null\n"
               "GlobalKnownHostsFile /dev/null\n",
               pin);
}

/* The server before carries the bytes. */
static void add_proxy(struct buf *out, const struct route_hop *before)
{
    buf_printf(out, "ProxyUseFdpass no\nProxyCommand ssh -F %s", before->file);
    if (*before->host.user)
        buf_printf(out, " -l '%s'", before->host.user);
    if (before->host.port)
        buf_printf(out, " -p %d", before->host.port);
    buf_printf(out, " -W '[%%h]:%%p' -- '%s'\n", before->host.address);
}

static void write_settings(const struct route *route, size_t i, struct buf *out)
{
    const struct route_hop *hop = route->hops[i];
    const char *file = config_file(route);
    bool target = i + 1 == route->n;
    char path[SSH_CONFIG_PATH_BYTES];

    buf_printf(out,
               "BatchMode yes\nConnectTimeout 10\nControlMaster no\n"
               "RemoteCommand none\nPermitLocalCommand no\nLogLevel ERROR\n"
               "StrictHostKeyChecking %s\n",
               hop->rule == HOST_KEY_NEW ? "accept-new" : "yes");
    if (hop->rule == HOST_KEY_PIN)
        add_pin(out, hop->policy.pin);
    if (!target && *route->host->jump && *route->host->key) {
        ssh_config_path(route->host->key, route->options->home, path,
                        sizeof(path));
        buf_printf(out, "IdentityFile \"%s\"\n", path);
    }
    if (i > 0)
        add_proxy(out, route->hops[i - 1]);
    if (*file)
        buf_printf(out, "Include \"%s\"\n", file);
    else
        buf_printf(out, "Include ~/.ssh/config\n"
                        "Include /etc/ssh/ssh_config\n");
}

/* The path is that of our descriptor, and so works for the programs that we
 * start and for those that they start. */
static int write_file(struct route *route, size_t i, struct err *err)
{
    struct route_hop *hop = route->hops[i];
    struct buf text;
    ssize_t n = -1;

    buf_init(&text, FILE_BYTES_MAX);
    write_settings(route, i, &text);
    hop->fd = memfd_create("fa-coord", MFD_CLOEXEC);
    if (hop->fd >= 0)
        n = write(hop->fd, text.bytes, text.len);
    snprintf(hop->file, sizeof(hop->file), "/proc/%ld/fd/%d", (long)getpid(),
             hop->fd);
    buf_fini(&text);
    return n > 0 ? 0
                 : err_set(err, ERR_SYSTEM, "a file in memory for ssh: %s",
                           strerror(errno));
}

int route_open(const struct host *host, const struct remote_options *options,
               struct route **out, struct err *err)
{
    struct route *route = mem_new(1, sizeof(*route));
    struct route_hop *target = hop_new();
    int rc;

    route->host = host;
    route->options = options;
    target->host = *host;
    *target->host.jump = '\0';
    rc = ssh_config_read(host, config_file(route), options->home,
                         &target->config, err);
    if (rc == 0)
        rc = add_jumps(route, target->config.proxy_jump, 0, err);
    route->hops[route->n++] = target;
    for (size_t i = 0; i < route->n && rc == 0; i++) {
        rc = judge(route, route->hops[i], i + 1 == route->n, err);
        if (rc == 0)
            rc = write_file(route, i, err);
    }
    if (rc < 0) {
        route_free(route);
        route = NULL;
    }
    *out = route;
    return rc;
}

void route_free(struct route *route)
{
    if (!route)
        return;
    for (size_t i = 0; i < route->n; i++)
        hop_free(route->hops[i]);
    free(route);
}

const struct route_hop *route_target(const struct route *route)
{
    return route->hops[route->n - 1];
}

const struct route_hop *route_jump(const struct route *route)
{
    return route->n > 1 ? route->hops[route->n - 2] : NULL;
}

void route_command(const struct route *route, size_t n, struct buf *out)
{
    const struct host *host = &route->hops[n - 1]->host;

    buf_printf(out, "ssh");
    if (*config_file(route))
        buf_printf(out, " -F %s", config_file(route));
    if (*route->host->key && (n == route->n || *route->host->jump))
        buf_printf(out, " -i %s", route->host->key);
    for (size_t i = 0; i + 1 < n; i++)
        buf_printf(out, "%s%s", i ? "," : " -J ", route->hops[i]->host.name);
    if (host->port)
        buf_printf(out, " -p %d", host->port);
    if (*host->user)
        buf_printf(out, " -l %s", host->user);
    buf_printf(out, " %s", host->address);
}
