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
    int code = passes_confirm(run, true);

    (void)arg;
    run_say_how_to_go_on(run, code, "confirm");
    return code;
}

int cmd_confirm(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    const char *plain = NULL;
    const struct options options = {
        .command = "confirm",
        .arguments = "[DB]",
        .what = "compare the best of a sweep with its baseline, in blocks",
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc =
        run_settings_parse(&run.set, RUN_CONFIRM, &options, argc, argv, &err);

    if (rc == 0)
        rc = dbpath_find(plain, &run.db, &err);
    return run_by_db(&run, rc, &err, confirm_work, NULL);
}
