/* fa-coord resume: a sweep whose settings come from its database. */
#include "coordinator/cli/cmd.h"

#include <stddef.h>

#include "common/err.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/model_sweeps/model_sweeps.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run.h"

int cmd_resume(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    struct dbpath_models models = { .n = 0 };
    const char *plain = NULL;
    const struct options options = {
        .command = "resume",
        .arguments = "[DB]",
        .what = "Continue the sweep of a database.",
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc;

    run.set.effort = NULL; /* that of the sweep */
    rc = run_settings_parse(&run.set, RUN_RESUME, &options, argc, argv, &err);
    if (rc == 0 && !plain && !run.set.db)
        dbpath_models_find(&models);
    if (models.n > 0) {
        rc = model_sweeps_resume(&run.set, &models);
        dbpath_models_fini(&models);
        return rc;
    }
    if (rc == 0)
        rc = dbpath_find(plain ? plain : run.set.db, &run.db, &err);
    return run_by_db(&run, rc, &err, run_sweep, NULL);
}
