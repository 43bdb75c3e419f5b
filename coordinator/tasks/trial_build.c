#include "coordinator/tasks/trial_build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/passes/passes.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/text/exit_code.h"

/* The baseline alone; the reference is a unit of every plan. */
static int build(struct spec *spec, struct store *store,
                 struct sweep_options *sweep, struct err *err)
{
    struct config_selection choice = { .cover = false };
    struct plan_ask ask = { .choice = &choice };
    struct hosts hosts;
    int code;

    ask.shapes = spec_shapes(spec, sweep->device, &ask.n_shapes);
    config_selection_baseline(&choice, spec);
    sweep->ask = &ask;
    hosts_local(&hosts);
    hosts.list[0].role = HOST_BUILDER;
    err->text[0] = '\0';
    code = sweep_run(spec, &hosts, store, sweep, err);
    sweep->ask = NULL; /* it ends here, and the options go on */
    hosts_fini(&hosts);
    config_selection_fini(&choice);
    if (code == EXIT_DONE || code == EXIT_NO_RESULT)
        return 0;
    if (exit_code_is_signal(code))
        return err_set(err, ERR_SYSTEM, "stopped");
    return code == EXIT_NO_HOST    ? ERR_NETWORK
           : code == EXIT_DATABASE ? ERR_STORE
                                   : ERR_INPUT;
}

/* What the database consists of: files, no folders. */
static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);

    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(dir), entry->d_name, 0); /* rmdir fails then */
    if (dir)
        closedir(dir);
    (void)rmdir(folder); /* a stray folder in the folder for such */
}

int trial_build_run(struct spec *spec, const char *device, const char *arch,
                    trial_build_flaw *tell, void *arg, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = mem_printf("%s/fa-check-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    char *db;
    struct sweep_options sweep = {
        .device = device,
        .builds_only = true,
        .unbuilt = { tell, arg },
        .arch = arch,
        .command = "check",
        .passes = sweep_passes,
        .hosts_file = "",
        .remote = { .home = getenv("HOME") },
        .stay = { .linger_s = SWEEP_LINGER_S },
        .attempts = SWEEP_ATTEMPTS,
        .watch.quiet = true,
    };
    struct store *store = NULL;
    int rc;

    if (!mkdtemp(folder)) {
        rc = err_set(err, ERR_SYSTEM, "%s: %s", folder, strerror(errno));
        free(folder);
        return rc;
    }
    db = mem_printf("%s/check.db", folder);
    rc = store_open(db, STORE_CREATE, &store, err);
    if (rc == 0)
        rc = build(spec, store, &sweep, err);
    store_close(store);
    remove_folder(folder);
    free(db);
    free(folder);
    return rc;
}
