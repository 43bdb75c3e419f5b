/* fa-coord profile: shows what limits a configuration (docs/profile.md) */
#include "coordinator/cli/cmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/inspect/profile.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/spec/spec.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/confirm_pipeline.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run.h"
#include "coordinator/options/shape_choice.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/shell_word.h"
#include "coordinator/text/terminal.h"

/* For all launches of a configuration: the profiler replays each some forty
 * times. */
#define LAUNCHES_S 300
/* For all of a run: it restores the launch's memory each time. */
#define LIMIT_MS 600000

struct order {
    const char *config;      /* NULL: the winner and the baseline */
    const char *shape_name;  /* NULL: the headline */
    struct spec_shape shape; /* its contents are borrowed */
    struct config_selection choice;
};

static int choose_named(struct order *order, const struct run *run,
                        const struct report *report, struct err *err)
{
    struct stored_spec stored;
    struct winner named;
    int rc = stored_spec_open(report, &stored, err);

    if (rc < 0)
        return rc;
    rc = winner_named(report, &stored, order->config, &named, err);
    if (rc == 0 && !config_selection_params(&order->choice, run->spec,
                                            &named.config->params))
        rc = err_set(err, ERR_INPUT,
                     "the tunables of %s changed since the sweep: run "
                     "fa-coord sweep first",
                     run->sweep);
    stored_spec_close(&stored);
    return rc;
}

/* The shape's winner, and the baseline next to it. */
static int choose_winner(struct order *order, const struct run *run,
                         struct store *store, const struct report *report,
                         struct err *err)
{
    struct winner winner;
    int rc = winner_load(store, report, order->shape_name, &winner, err);

    if (rc == WINNER_NONE) {
        char *db = shell_word(run->db);

        rc = err_set(err, ERR_INPUT,
                     "there is no winner to profile: no configuration is "
                     "correct; name one: fa-coord profile %s A=1,B=2",
                     db);
        free(db);
    }
    if (rc < 0)
        return rc;
    config_selection_baseline(&order->choice, run->spec);
    if (!winner.config->baseline)
        (void)config_selection_params(&order->choice, run->spec,
                                      &winner.config->params);
    if (!run->set.quiet && winner.config->baseline)
        fprintf(stderr, "profiling the baseline, which is the best at %s\n",
                winner.shape);
    else if (!run->set.quiet)
        fprintf(stderr,
                "profiling the baseline and %.8s, the best at %s (%s)\n",
                winner.config->key, winner.shape, winner.state);
    return 0;
}

static int choose_configs(struct order *order, const struct run *run,
                          const struct report *report, struct err *err)
{
    struct store *store;
    int rc;

    if (order->config)
        return choose_named(order, run, report, err);
    rc = store_open(run->db, STORE_WHOLE, &store, err);
    if (rc == 0) {
        rc = choose_winner(order, run, store, report, err);
        store_close(store);
    }
    return rc;
}

static int choose_shape(struct order *order, const struct run *run,
                        struct plan_ask *ask, struct err *err)
{
    const struct option_list named = { { order->shape_name }, 1 };
    size_t n;
    const struct spec_shape *list = spec_shapes(run->spec, run->set.device, &n);

    *ask = (struct plan_ask){ &order->choice, &order->shape, 1 };
    order->shape = list[0];
    return order->shape_name ? shape_choice(list, n, &named, "in the sweep", "",
                                            &order->shape, err)
                             : 0;
}

/* Does every profile of the newest round exist? */
static int code_of(const struct profile *profiles)
{
    int64_t newest = 0;
    bool ran = true;

    for (size_t i = 0; i < profiles->n; i++)
        if (profiles->entries[i].round > newest)
            newest = profiles->entries[i].round;
    for (size_t i = 0; i < profiles->n; i++)
        ran = ran && (profiles->entries[i].round != newest ||
                      profiles->entries[i].ran);
    return ran && profiles->n > 0 ? EXIT_DONE : EXIT_NO_RESULT;
}

static int show(const struct run *run, const struct report *report,
                struct err *err)
{
    struct profile profiles = { NULL, 0 };
    struct json_out out;
    struct store *store;
    int rc = store_open(run->db, STORE_WHOLE, &store, err), code = EXIT_DONE;

    if (rc == 0)
        rc = profile_load(store, report, &profiles, err);
    if (rc == 0 && run->set.json) {
        json_out_init(&out, stdout);
        json_out_open(&out, NULL, '{');
        profile_json(&profiles, report, &out, "profiles");
        json_out_close(&out);
    } else if (rc == 0) {
        profile_print(&profiles, report, stdout);
    }
    code = code_of(&profiles);
    profile_fini(&profiles);
    store_close(store);
    if (rc == 0)
        rc = terminal_flush(stdout, err);
    return rc < 0 ? fail_with(rc, err) : code;
}

static int profile_work(struct run *run, void *arg)
{
    struct order *order = arg;
    struct plan_ask ask;
    const struct sweep_tool ncu = { .limit_ms = LIMIT_MS };
    const struct sweep_options options = { .command = "profile",
                                           .ask = &ask,
                                           .tool = &ncu };
    struct report *report;
    struct report_cost *cost;
    struct err err;
    int rc = confirm_pipeline_look(run->db, &report, &cost, &err), code;

    if (rc == 0)
        rc = choose_shape(order, run, &ask, &err);
    if (rc == 0)
        rc = choose_configs(order, run, report, &err);
    if (rc < 0) {
        code = fail_with(rc, &err);
    } else {
        run->spec->measure.timeout_s =
            fmax(run->spec->measure.timeout_s, LAUNCHES_S);
        code = run_engine(run, &options, &err);
    }
    if (code == EXIT_DONE)
        code = show(run, report, &err);
    report_cost_free(cost);
    report_free(report);
    return code;
}

/* "[DB] [CONFIG]": with 'given', the database of --db, a single argument is the
 * configuration.  Without it, one that names no configuration is the
 * database. */
static int find_db(const char *given, char **db, struct order *order,
                   const char *const plain[2], struct err *err)
{
    bool config = plain[0] && !plain[1] && (given || strchr(plain[0], '='));
    const char *name = config ? plain[0] : plain[1];

    if (name && order->config)
        return err_set(err, ERR_INPUT,
                       "profile: '%.64s' and --config=%.64s both name a "
                       "configuration; give one of them",
                       name, order->config);
    if (plain[1] && dbpath_check_order("profile", plain[0], plain[1], err) < 0)
        return ERR_INPUT;
    if (name)
        order->config = name;
    return dbpath_find(config || !plain[0] ? given : plain[0], db, err);
}

int cmd_profile(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS, .runs_kernels = true };
    struct order order = { .config = NULL };
    const char *plain[2] = { NULL, NULL };
    const struct option list[] = {
        { "shape", OPTION_TEXT, &order.shape_name, "NAME",
          "profile at this shape (default: the headline)", NULL },
        { "config", OPTION_TEXT, &order.config, "A=1,B=2|KEY",
          "profile this configuration instead of winner and baseline", NULL },
    };
    const struct options options = {
        .command = "profile",
        .arguments = "[DB] [CONFIG]",
        .what = "Profile winner and baseline, or A=1,B=2, with Nsight Compute.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .arguments_max = 2,
        .plain = plain,
    };
    struct err err;
    int rc =
        run_settings_parse(&run.set, RUN_PROFILE, &options, argc, argv, &err);
    int code;

    if (rc == 0)
        rc = find_db(run.set.db, &run.db, &order, plain, &err);
    code = run_by_db(&run, rc, &err, profile_work, &order);
    config_selection_fini(&order.choice);
    return code;
}
