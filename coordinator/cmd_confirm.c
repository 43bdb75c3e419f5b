/* fa-coord confirm: are the best of a sweep faster than its baseline, for
 * certain? (docs/confirm.md) */
#include "coordinator/cmd.h"

#include <stddef.h>

#include "common/err.h"
#include "coordinator/cmd_run.h"
#include "coordinator/dbpath.h"
#include "coordinator/options.h"
#include "coordinator/passes.h"

static int confirm_work(struct run *run, void *arg)
{
    (void)arg;
    return passes_confirm(run, true);
}

int cmd_confirm(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    struct run_settings *set = &run.set;
    const char *plain = NULL;
    const struct option list[] = {
        { "hosts", OPTION_TEXT, &set->hosts, "FILE",
          "other machines than before", NULL },
        { "ssh", OPTION_TEXT, &set->ssh, "libssh2|openssh",
          "how to reach the hosts", NULL },
        { "accept-new-host-keys", OPTION_FLAG, &set->accept_new_host_keys, NULL,
          "add unknown host keys to known_hosts", NULL },
        { "budget", OPTION_REAL, &set->budget_usd, "USD",
          "stop when the sweep has cost this much", NULL },
        { "max-hours", OPTION_REAL, &set->max_hours, "H",
          "stop this run after so many hours", NULL },
        { "linger", OPTION_INT, &set->linger_s, "S",
          "seconds a worker stays without a coordinator", NULL },
        { "log", OPTION_TEXT, &set->log, "FILE", "append events to a file",
          NULL },
        { "quiet", OPTION_FLAG, &set->quiet, NULL, "no progress", NULL },
    };
    const struct options options = {
        .command = "confirm",
        .arguments = "[DB]",
        .what = "compare the best of a sweep with its baseline, in blocks",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = dbpath_find(plain, &run.db, &err);
    if (rc == 0)
        rc = run_recall(&run, &err);
    if (rc < 0) {
        run_free(&run);
        return cmd_fail(rc, &err);
    }
    return run_command(&run, confirm_work, NULL);
}
