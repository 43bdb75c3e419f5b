/* fa-coord fuzz: is a configuration right at every shape? (docs/fuzz.md) */
#include "coordinator/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/choice.h"
#include "coordinator/cmd_run.h"
#include "coordinator/fuzz.h"
#include "coordinator/options.h"
#include "coordinator/plan.h"
#include "coordinator/report.h"
#include "coordinator/shape_choice.h"
#include "coordinator/spec.h"
#include "coordinator/store.h"
#include "coordinator/sweep.h"

struct order {
    struct option_list configs, shape_names;
    int64_t best; /* -1: not given */
    bool cover, all;

    struct choice choice;
    struct spec_shape *shapes; /* those of shape_names, borrowed pieces */
    struct plan_ask ask;
    const struct spec *spec;
    struct fuzz fuzz;
    bool judged;
};

char *fuzz_path(const char *db)
{
    size_t len = strlen(db);

    if (len > 3 && strcmp(db + len - 3, ".db") == 0)
        len -= 3;
    return mem_printf("%.*s.fuzz.db", (int)len, db);
}

/* How many of the best there were; none without a database. */
static int choose_best(struct order *order, const char *db, size_t most,
                       size_t *found, struct err *err)
{
    struct report *report;
    struct store *store;
    int rc;

    *found = 0;
    if (access(db, F_OK) < 0)
        return 0;
    rc = store_open(db, STORE_READ, &store, err);
    if (rc < 0)
        return rc;
    rc = report_load(store, &report, err);
    if (rc == 0) {
        *found = choice_best(&order->choice, order->spec, report, most);
        report_free(report);
    }
    store_close(store);
    return rc;
}

static int choose_configs(struct order *order, const char *db, struct err *err)
{
    bool named = order->configs.n || order->cover || order->all;
    size_t found;
    int rc = 0;

    order->choice.cover = order->cover;
    order->choice.all = order->all;
    for (size_t i = 0; rc == 0 && i < order->configs.n; i++) {
        rc = choice_named(&order->choice, order->spec, order->configs.items[i],
                          err);
        if (rc < 0)
            err_within(err, rc, "--config %.80s", order->configs.items[i]);
    }
    if (rc == 0 && order->best >= 0) {
        rc = choose_best(order, db, (size_t)order->best, &found, err);
        if (rc == 0 && found == 0)
            rc = err_set(err, ERR_INPUT,
                         "--best: %s holds no configuration that is right and "
                         "has all tunables; run fa-coord sweep first",
                         db);
        return rc;
    }
    if (rc < 0 || named)
        return rc;
    choice_baseline(&order->choice, order->spec);
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

struct judging {
    const struct spec *spec;
    struct fuzz *out;
    bool *judged;
};

static int judge(void *arg, const struct plan *plan, struct store *store,
                 struct err *err)
{
    struct judging *judging = arg;
    int rc = fuzz_collect(plan, judging->spec, store, judging->out, err);

    *judging->judged = rc == 0;
    return rc;
}

int run_fuzz(struct run *run, const struct plan_ask *ask, double usd_before,
             struct fuzz *out, bool *judged)
{
    struct judging judging = { run->spec, out, judged };
    const struct sweep_options options = {
        .command = "fuzz",
        .ask = ask,
        .usd_before = usd_before,
        .done = judge,
        .done_arg = &judging,
    };
    const struct spec_measure measure = run->spec->measure;
    char *db = run->db;
    struct err err;
    int code;

    run->spec->measure.least = 1; /* only what is right is asked */
    run->spec->measure.most = 1;
    run->spec->measure.warmups = 0;
    run->db = fuzz_path(db);
    code = run_engine(run, &options, &err);
    free(run->db);
    run->db = db;
    run->spec->measure = measure;
    return code;
}

/* What the engine says is about hosts; what is asked here is whether all is
 * right.  A database that failed and a signal stay what they are. */
static int conclude(const struct run *run, const struct order *order, int code,
                    const char *db)
{
    if (order->judged && run->set.json)
        fuzz_json(&order->fuzz, stdout);
    else if (order->judged)
        fuzz_print(&order->fuzz, stdout);
    if (code >= 128)
        fprintf(stderr,
                "nothing is lost in %s; to go on, the same command again\n",
                db);
    if (code == 7 || code >= 128)
        return code;
    return order->judged ? fuzz_exit_code(&order->fuzz) : code == 1 ? 1 : 2;
}

static int fuzz_work(struct run *run, void *arg)
{
    struct order *order = arg;
    char *db = fuzz_path(run->db);
    struct err err;
    int code, rc;

    order->spec = run->spec;
    rc = choose_configs(order, run->db, &err);
    if (rc == 0)
        rc = choose_shapes(order, run->set.device, &err);
    if (rc < 0)
        code = cmd_fail(rc, &err);
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
        return err_set(err, ERR_INPUT, "--best: one at least");
    return 0;
}

int cmd_fuzz(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    struct order order = { .best = -1 };
    const char *plain = NULL;
    const struct option list[] = {
        { "config", OPTION_LIST, &order.configs, "A=1,B=2",
          "this one, the rest as the baseline; may be repeated", NULL },
        { "best", OPTION_INT, &order.best, "N", "the N best of the sweep",
          NULL },
        { "cover", OPTION_FLAG, &order.cover, NULL,
          "a few that show every pair of values", "all" },
        { "all", OPTION_FLAG, &order.all, NULL, "all that pass the gates",
          NULL },
        { "shape", OPTION_LIST, &order.shape_names, "NAME",
          "this shape alone; may be repeated", NULL },
    };
    const struct options options = {
        .command = "fuzz",
        .arguments = "[SWEEP]",
        .what = "are configurations right at many shapes? 0 yes, 1 no, 2 "
                "some could not be run",
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
        return cmd_fail(rc, &err);
    run.sweep = mem_strdup(plain ? plain : "sweep.json");
    run.runs_kernels = true;
    code = run_command(&run, fuzz_work, &order);
    choice_fini(&order.choice);
    fuzz_fini(&order.fuzz);
    free(order.shapes);
    return code;
}
