/* fa-coord resume: sweep, found from the end of its database. */
#include "coordinator/cmd.h"

#include <stddef.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/arch.h"
#include "coordinator/cmd_run.h"
#include "coordinator/dbpath.h"
#include "coordinator/history.h"
#include "coordinator/options.h"
#include "coordinator/store.h"

int run_recall(struct run *run, struct err *err)
{
    struct store_sweep row = { .key = NULL };
    struct history *history = NULL;
    struct store *store;
    int64_t id;
    int rc = store_open(run->db, STORE_READ, &store, err);

    if (rc < 0)
        return rc;
    rc = history_open(store, &history, err);
    if (rc == 0) {
        rc = history_sweep(history, &row, &id, err);
        if (rc == 0)
            rc = err_set(err, ERR_INPUT,
                         "%s holds no sweep yet; start one with fa-coord "
                         "sweep",
                         run->db);
    }
    if (rc == 1) {
        run->sweep = mem_printf("%s/%s", row.folder, row.file);
        run->was_device = mem_strdup(row.device);
        run->was_hosts = mem_strdup(row.hosts_file);
        run_recall_record(run, row.settings);
        if (history_asked(&row))
            rc = err_set(err, ERR_INPUT,
                         "%s is of fa-coord fuzz: give that command again to "
                         "go on",
                         run->db);
        if (!run->set.device)
            run->set.device = run->was_device;
        if (!run->set.hosts)
            run->set.hosts = run->was_hosts;
        if (rc == 1 && terms_recall(row.settings, &run->terms,
                                    &run->was_strategy, err) < 0)
            rc = ERR_STORE;
        run->was_searched = true;
        if (rc == 1)
            rc = history_arch(history, &row, run->was_arch, err);
        if (arch_find(run->was_arch))
            run->set.arch = run->was_arch;
    }
    history_close(history);
    store_close(store);
    return rc;
}

int cmd_resume(int argc, char *argv[])
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
        { "strategy", OPTION_TEXT, &set->strategy, "TEXT",
          "auto, lhs:20,tpe:100, ...; 'help' lists them", NULL },
        { "evaluations", OPTION_INT, &set->evaluations, "N",
          "try at most so many configurations", NULL },
        { "seed", OPTION_INT, &set->seed, "N", "of the strategy", NULL },
        { "max-hours", OPTION_REAL, &set->max_hours, "H",
          "stop this run after so many hours", NULL },
        { "speed-up", OPTION_REAL, &set->speed_up, "N",
          "of a replay: another one than before", NULL },
        { "log", OPTION_TEXT, &set->log, "FILE", "append events to a file",
          NULL },
        { "quiet", OPTION_FLAG, &set->quiet, NULL, "no progress", NULL },
    };
    const struct options options = {
        .command = "resume",
        .arguments = "[DB]",
        .what = "go on with what a database holds",
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
    return run_command(&run, run_sweep, NULL);
}
