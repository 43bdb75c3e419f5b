/* fa-coord confirm: tests whether the best configurations of a sweep are really
 * faster than its baseline (docs/confirm.md) */
#include "coordinator/cli/cmd.h"

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/forecast/forecast.h"
#include "coordinator/tasks/confirm_pipeline.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run.h"
#include "coordinator/text/exit_code.h"

/* Nothing is to be tried any more. */
static void say_next(const struct run *run, int code)
{
    struct forecast forecast;
    struct err none;

    if (code != EXIT_CAP || forecast_make(run, 0, 1, &forecast, &none) < 0)
        forecast = (struct forecast){ .run = NULL };
    forecast_say_next(&forecast, run, code, "confirm");
    forecast_fini(&forecast);
}

static int confirm_work(struct run *run, void *arg)
{
    bool early;
    int code;

    (void)arg;
    run_say_effort(run);
    code = confirm_pipeline_confirm(run, true, &early);
    if (code == EXIT_DONE && early)
        code = EXIT_CAP;
    run->next.say = say_next;
    return code;
}

int cmd_confirm(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    const char *plain = NULL;
    const struct options options = {
        .command = "confirm",
        .arguments = "[DB]",
        .what = "Compare the best of a sweep with its baseline, in blocks.",
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc =
        run_settings_parse(&run.set, RUN_CONFIRM, &options, argc, argv, &err);

    if (rc == 0)
        rc = dbpath_find(plain ? plain : run.set.db, &run.db, &err);
    return run_by_db(&run, rc, &err, confirm_work, NULL);
}
