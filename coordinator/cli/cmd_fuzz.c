/* fa-coord fuzz: checks configurations at many shapes (docs/fuzz.md) */
#include "coordinator/cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/result/fuzz.h"
#include "coordinator/result/report.h"
#include "coordinator/result/screening.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run.h"
#include "coordinator/options/shape_choice.h"
#include "coordinator/text/exit_code.h"

struct order {
    struct option_list configs, shape_names;
    int64_t best; /* -1: not given */
    bool cover, all;

    struct config_selection choice;
    struct spec_shape *shapes; /* by shape_names; contents borrowed */
    struct plan_ask ask;
    const struct spec *spec;
    struct fuzz fuzz;
    bool judged;
};

/* How many of the best there were; none if there is no database. */
static int choose_best(struct order *order, const char *db, size_t most,
                       size_t *found, struct err *err)
{
    struct report *report;
    struct store *store;
    int rc;

    *found = 0;
    if (access(db, F_OK) < 0)
        return 0;
    rc = store_open(db, STORE_WHOLE, &store, err);
    if (rc < 0)
        return rc;
    rc = report_load_screened(store, &report, err);
    if (rc == 0) {
        *found = screening_best(&order->choice, order->spec, report, most);
        report_free(report);
    }
    store_close(store);
    return rc;
}

/* Values of the newest configuration that no other one has. */
static void remark(const struct order *order)
{
    const struct spec *spec = order->spec;
    struct err odd;

    config_remark(
        spec, order->choice.values + (order->choice.n - 1) * spec->space.n_axes,
        &odd);
    if (odd.text[0])
        fprintf(stderr, "fa-coord: warning: --config: %s\n", odd.text);
}

static int choose_configs(struct order *order, const char *db, struct err *err)
{
    bool named = order->configs.n || order->cover || order->all;
    size_t found;
    int rc = 0;

    order->choice.cover = order->cover;
    order->choice.all = order->all;
    for (size_t i = 0; rc == 0 && i < order->configs.n; i++) {
        rc = config_selection_named(&order->choice, order->spec,
                                    order->configs.items[i], err);
        if (rc < 0)
            err_within(err, rc, "--config %.80s", order->configs.items[i]);
        else
            remark(order);
    }
    if (rc == 0 && order->best >= 0) {
        rc = choose_best(order, db, (size_t)order->best, &found, err);
        if (rc == 0 && found == 0)
            rc = err_set(err, ERR_INPUT,
                         "--best: %s has no correct configuration with all "
                         "tunables of the sweep file; run fa-coord sweep first",
                         db);
        return rc;
    }
    if (rc < 0 || named)
        return rc;
    config_selection_baseline(&order->choice, order->spec);
    return choose_best(order, db, 1, &found, err);
}

static int choose_shapes(struct order *order, const char *device,
                         struct err *err)
{
    size_t n;
    const struct spec_shape *list = spec_fuzz_shapes(order->spec, device, &n);

    order->ask = (struct plan_ask){ &order->choice, list, n };
    if (order->shape_names.n == 0)
        return 0;
    order->shapes = mem_new(order->shape_names.n, sizeof(*order->shapes));
    order->ask.shapes = order->shapes;
    order->ask.n_shapes = order->shape_names.n;
    return shape_choice(list, n, &order->shape_names, "to fuzz", "",
                        order->shapes, err);
}

/* The exit code of the sweep is about hosts, but this command reports
 * correctness.  Only a database error and a signal are passed on. */
static int conclude(const struct run *run, const struct order *order, int code,
                    const char *db)
{
    if (order->judged && run->set.json)
        fuzz_json(&order->fuzz, stdout);
    else if (order->judged)
        fuzz_print(&order->fuzz, stdout);
    if (exit_code_is_signal(code))
        fprintf(
            stderr,
            "%s keeps all results; run the same command again to continue\n",
            db);
    if (code == EXIT_DATABASE || exit_code_is_signal(code))
        return code;
    if (order->judged)
        return fuzz_exit_code(&order->fuzz);
    return code == EXIT_NO_RESULT ? EXIT_ANSWER_BAD : EXIT_ANSWER_UNKNOWN;
}

static int fuzz_work(struct run *run, void *arg)
{
    struct order *order = arg;
    char *db = run_fuzz_path(run->db);
    struct err err;
    int code, rc;

    order->spec = run->spec;
    rc = choose_configs(order, run->db, &err);
    if (rc == 0)
        rc = choose_shapes(order, run->set.device, &err);
    if (rc < 0)
        code = fail_with(rc, &err);
    else
        code = conclude(
            run, order,
            run_fuzz(run, &order->ask, 0, &order->fuzz, &order->judged), db);
    free(db);
    return code;
}

static int check_order(const struct order *order, struct err *err)
{
    if (order->best == 0)
        return err_set(err, ERR_INPUT, "--best: at least 1");
    return 0;
}

int cmd_fuzz(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    struct order order = { .best = -1 };
    const char *plain = NULL;
    const struct option list[] = {
        { "config", OPTION_LIST, &order.configs, "A=1,B=2",
          "test this configuration; values left out are the baseline's; "
          "repeatable",
          NULL },
        { "best", OPTION_INT, &order.best, "N", "test the N best of the sweep",
          NULL },
        { "cover", OPTION_FLAG, &order.cover, NULL,
          "test few configurations that together have every pair of values",
          "all" },
        { "all", OPTION_FLAG, &order.all, NULL, "test all that pass the gates",
          NULL },
        { "shape", OPTION_LIST, &order.shape_names, "NAME",
          "test at this shape only; repeatable", NULL },
    };
    const struct options options = {
        .command = "fuzz",
        .arguments = "[SWEEP]",
        .what = "Check configurations at many shapes.  Exit code: 0 all "
                "correct, 1 some wrong, 2 some could not be run.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc = run_settings_parse(&run.set, RUN_FUZZ, &options, argc, argv, &err);
    int code;

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = check_order(&order, &err);
    if (rc < 0)
        return fail_with(rc, &err);
    run.sweep = mem_strdup(plain ? plain : "sweep.json");
    run.runs_kernels = true;
    code = run_command(&run, fuzz_work, &order);
    config_selection_fini(&order.choice);
    fuzz_fini(&order.fuzz);
    free(order.shapes);
    return code;
}
