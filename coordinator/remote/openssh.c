#include "coordinator/remote/openssh.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/process/stderr_tail.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/route.h"

#define SAID_LINES 4 /* of stderr in the message; a jump host adds two */
#define COMMAND_MAX 1024
#define BUSY_REMEDY "is it an sshd, or has it too many logins (MaxStartups)?"

struct openssh {
    struct ssh_args args;
    size_t n_fixed; /* words before the command */
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

struct openssh *openssh_new(const struct route *route, bool use_agent)
{
    struct openssh *ssh = mem_new(1, sizeof(*ssh));
    const struct route_hop *target = route_target(route);
    struct ssh_args *args = &ssh->args;

    add(args, "ssh");
    for (size_t i = 0; i < sizeof(options_always) / sizeof(char *); i++)
        add(args, options_always[i]);
    if (!use_agent)
        add(args, "-oIdentityAgent=none");
    ssh_config_args(&target->host, target->file, route->options->home, args);
    add(args, "--");
    add(args, target->host.address);
    ssh->n_fixed = args->n;
    return ssh;
}

void openssh_free(struct openssh *ssh)
{
    free(ssh);
}

const char *const *openssh_argv(struct openssh *ssh, const char *command)
{
    ssh->args.argv[ssh->n_fixed] = command;
    ssh->args.argv[ssh->n_fixed + 1] = NULL;
    return ssh->args.argv;
}

/* What to do about a host key that ssh did not accept. */
static const char *key_remedy(const struct route *route)
{
    if (route->options->accept_new_host_keys)
        return "--accept-new-host-keys accepts a key only if known_hosts has "
               "none for the name (ssh-keygen -F NAME); if the machine was "
               "reinstalled, remove the old ones (ssh-keygen -R NAME)";
    return "if the machine is new, check its fingerprint and use "
           "--accept-new-host-keys (it never accepts a changed or @revoked "
           "key)";
}

/* The command of the pin says on stderr which key the server showed. */
static int refuse_pin(const struct route *route, const char *said,
                      struct err *err)
{
    return err_set(err, ERR_HOST_KEY,
                   "host key: the server does not have the pinned key %s "
                   "(ssh said: %s); if the machine was reinstalled, or this is "
                   "its key of another type, check the fingerprint on the "
                   "machine and pin it",
                   route->host->hostkey, said);
}

int openssh_explain(const struct route *route, const struct stderr_tail *tail,
                    struct err *err)
{
    const struct {
        const char *said;
        int code;
        const char *phase, *remedy;
    } rows[] = {
        { "REVOKED HOST KEY", ERR_HOST_KEY, "host key",
          "known_hosts marks the key @revoked; do not use this machine" },
        { "IDENTIFICATION HAS CHANGED", ERR_HOST_KEY, "host key",
          "someone may be intercepting the connection; if the machine was "
          "reinstalled, run ssh-keygen -R HOST and use "
          "--accept-new-host-keys" },
        { "Host key verification failed", ERR_HOST_KEY, "host key",
          key_remedy(route) },
        { "Permission denied (keyboard-interactive)", ERR_AUTH, "login",
          "the server wants a password or a code, which fa-coord cannot "
          "answer; if it accepted the key before that, set "
          "AuthenticationMethods publickey in its sshd_config for this user" },
        { "Permission denied", ERR_AUTH, "login",
          "name the private key with key= or load it into ssh-agent, and add "
          "its public key to ~/.ssh/authorized_keys on the host" },
        { "Too many authentication failures", ERR_AUTH, "login",
          "name the right key with key=" },
        { "kex_exchange_identification: Connection closed", ERR_BUSY,
          "key exchange", BUSY_REMEDY },
        { "kex_exchange_identification: read: Connection reset", ERR_BUSY,
          "key exchange", BUSY_REMEDY },
        { "Could not resolve", ERR_NETWORK, "connect",
          "check the name in the hosts file or ~/.ssh/config" },
        { "", ERR_NETWORK, "connect",
          "is the machine up, and does its sshd listen on this port?" },
    };
    char said[512];
    struct buf command;
    size_t i = 0;

    stderr_tail_say(tail, SAID_LINES, said, sizeof(said));
    if (strstr(said, ROUTE_PIN_SAYS))
        return refuse_pin(route, said, err);
    while (!strstr(tail->text, rows[i].said))
        i++;
    buf_init(&command, COMMAND_MAX);
    route_command(route, route->n, &command);
    err_set(err, rows[i].code, "%s: ssh said: %s; %s; try: %s", rows[i].phase,
            *said ? said : "nothing", rows[i].remedy, buf_text(&command));
    buf_fini(&command);
    return rows[i].code;
}

int openssh_explain_silence(const struct route *route, int64_t ms,
                            const struct stderr_tail *tail, struct err *err)
{
    struct buf command;
    char said[512];

    stderr_tail_say(tail, SAID_LINES, said, sizeof(said));
    buf_init(&command, COMMAND_MAX);
    route_command(route, route->n, &command);
    err_set(err, ERR_NETWORK,
            "login: ssh did not end within %d s (it said: %s); it may wait for "
            "the server, for a command of ~/.ssh/config (Match exec, "
            "ProxyCommand) or for a start-up file of the login shell; try: %s "
            "-v exit",
            (int)(ms / 1000), *said ? said : "nothing", buf_text(&command));
    buf_fini(&command);
    return ERR_NETWORK;
}
