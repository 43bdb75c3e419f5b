/* fa-coord prune: removes what is not needed any more (docs/prune.md) */
#include "coordinator/cli/cmd.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/err.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/prune/prune_age.h"
#include "coordinator/prune/prune_cache.h"
#include "coordinator/prune/prune_host.h"
#include "coordinator/prune/prune_list.h"
#include "coordinator/prune/prune_local.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/ssh.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/terminal.h"

struct settings {
    const char *db, *hosts, *older, *ssh;
    bool json;
    struct prune_list list;
};

/* The error of a host is printed; the others are still visited.  Returns the
 * first. */
static int visit(struct settings *settings, const struct hosts *hosts,
                 const struct remote_options *remote,
                 const struct worker_binary *program)
{
    int first = 0;

    for (size_t i = 0; i < hosts->n; i++) {
        struct err err;
        int rc =
            prune_host(&hosts->list[i], remote, program, &settings->list, &err);

        if (rc < 0)
            (void)fail_with(rc, &err);
        if (first == 0)
            first = rc;
    }
    return first;
}

static int prune_hosts(struct settings *settings,
                       const struct remote_options *remote, int *failed,
                       struct err *err)
{
    struct worker_binary program = { 0 };
    struct hosts hosts = { NULL, 0 };
    int rc = hosts_load(settings->hosts, &hosts, err);

    if (rc == 0)
        rc = worker_binary_load_own(&program, err);
    if (rc == 0)
        rc = ssh_setup(err);
    if (rc == 0) {
        *failed = visit(settings, &hosts, remote, &program);
        ssh_cleanup();
    }
    worker_binary_fini(&program);
    hosts_fini(&hosts);
    return rc;
}

/* Beside the database that is named, or the one of this folder where no hosts
 * are named; and what this user's coordinators kept. */
static int prune_here(struct settings *settings, struct err *err)
{
    char *found = NULL, *cache;
    int rc = 0;

    if (!settings->db && settings->hosts)
        return 0;
    cache = artifact_cache_folder();
    if (!settings->db)
        rc = dbpath_find(NULL, &found, err);
    if (rc == 0)
        rc = prune_local(settings->db ? settings->db : found, time(NULL),
                         &settings->list, err);
    if (rc == 0 && cache)
        prune_cache(cache, time(NULL), &settings->list);
    free(cache);
    free(found);
    return rc;
}

static int run(struct settings *settings, struct remote_options *remote,
               struct err *err)
{
    int failed = 0,
        rc = prune_age_parse(settings->older, &settings->list.older_s, err);

    if (rc == 0)
        rc = remote_ssh_read(settings->ssh, &remote->ssh, err);
    if (rc == 0)
        rc = prune_here(settings, err);
    if (rc == 0 && settings->hosts)
        rc = prune_hosts(settings, remote, &failed, err);
    if (rc < 0)
        return fail_with(rc, err);
    (settings->json ? prune_list_json : prune_list_print)(&settings->list,
                                                          stdout);
    rc = terminal_flush(stdout, err);
    if (rc < 0)
        return fail_with(rc, err);
    return failed ? exit_code_of(failed) : EXIT_DONE;
}

int cmd_prune(int argc, char *argv[])
{
    struct settings settings = { .older = "7d", .ssh = "auto" };
    struct remote_options remote = { .home = getenv("HOME"),
                                     .agent = getenv("SSH_AUTH_SOCK") };
    const struct option list[] = {
        { "db", OPTION_TEXT, &settings.db, "FILE",
          "the database, instead of as an argument", NULL },
        { "hosts", OPTION_TEXT, &settings.hosts, "FILE",
          "prune the work folders of these hosts", NULL },
        { "older", OPTION_TEXT, &settings.older, "AGE",
          "only what was not used for 90s, 30min, 12h, 7d, 2w (default: 7d)",
          NULL },
        { "dry-run", OPTION_FLAG, &settings.list.dry_run, NULL,
          "say what would be removed, and remove nothing", NULL },
        { "set-aside", OPTION_FLAG, &settings.list.set_aside, NULL,
          "also the databases that sweep --fresh renamed", NULL },
        { "ssh", OPTION_TEXT, &settings.ssh, "CLIENT",
          "auto, libssh2 or openssh: how to reach the hosts", NULL },
        { "accept-new-host-keys", OPTION_FLAG, &remote.accept_new_host_keys,
          NULL, "add unknown host keys to known_hosts", NULL },
        { "json", OPTION_FLAG, &settings.json, NULL, "for programs", NULL },
    };
    const struct options options = {
        .command = "prune",
        .arguments = "[DB]",
        .what = "Remove what sweeps left beside a database, in the cache of "
                "artifacts and in the work folders of hosts, and what no "
                "sweep needs any more.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &settings.db,
    };
    struct err err;
    int code, rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    code = rc < 0 ? fail_with(rc, &err) : run(&settings, &remote, &err);
    prune_list_fini(&settings.list);
    return code;
}
