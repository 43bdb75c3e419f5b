/* fa-coord explain: all that is known of one configuration, and with --sanitize
 * a check by compute-sanitizer (docs/sanitize.md) */
#include "coordinator/cli/cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "coordinator/inspect/explain.h"
#include "coordinator/inspect/findings.h"
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
#include "coordinator/text/terminal.h"

/* compute-sanitizer makes a kernel 10 to 100 times slower. */
#define LIMIT_S 1800
#define LIMIT_MOST_S 86400
/* The launches end first, so that the tool can still say what it found. */
#define LAUNCHES_SHARE 0.8

struct order {
    const char *which;      /* A=1,B=2, or the first digits of a key */
    const char *shape_name; /* NULL: the first where it failed */
    int64_t limit_s;
    bool sanitize;

    char key[HASH_HEX];
    struct spec_shape shape; /* its contents are borrowed */
    struct config_selection choice;
    int64_t newest; /* the last check before this one */
};

/* ---- from the database ---- */

static int print(struct store *store, const char *which, bool json,
                 struct err *err)
{
    struct report *report = NULL;
    struct stored_spec stored = { NULL, NULL, NULL };
    struct explain explain;
    int rc = report_load(store, &report, err);

    if (rc == 0)
        rc = stored_spec_open(report, &stored, err);
    if (rc == 0)
        rc = explain_find(report, &stored, which, &explain, err);
    if (rc == 0) {
        rc = explain_print(&explain, report, &stored, store, json, stdout, err);
        explain_fini(&explain);
    }
    if (rc == 0)
        rc = terminal_flush(stdout, err);
    stored_spec_close(&stored);
    report_free(report);
    return rc;
}

static int explain_from(const char *db, const char *which, bool json)
{
    struct store *store = NULL;
    struct err err;
    int rc = store_open(db, STORE_WHOLE, &store, &err);

    if (rc == 0)
        rc = print(store, which, json, &err);
    store_close(store);
    return rc < 0 ? fail_with(rc, &err) : EXIT_DONE;
}

/* ---- what is to be checked ---- */

static int no_kernel(const struct explain *found, const struct stored_spec *is,
                     struct err *err)
{
    if (found->config)
        return err_set(err, ERR_INPUT,
                       "%s does not compile, so there is no kernel to check; "
                       "fa-coord explain shows why",
                       found->text);
    if (found->rejected_by >= 0)
        return err_set(err, ERR_INPUT, "gate '%s' rejects %s",
                       is->spec->space.gates[found->rejected_by].name,
                       found->text);
    return err_set(err, ERR_INPUT, "%s was not tried in this sweep",
                   found->text);
}

static bool has_failed(enum outcome outcome)
{
    return outcome == OUTCOME_RUNTIME || outcome == OUTCOME_CORRECTNESS ||
           outcome == OUTCOME_TIMEOUT || outcome == OUTCOME_CRASH;
}

static int choose_shape(struct order *order, const struct run *run,
                        const struct report *report,
                        const struct report_config *config, struct err *err)
{
    const char *name = order->shape_name;
    struct option_list named = { .n = 1 };
    size_t at, n;
    const struct spec_shape *list = spec_shapes(run->spec, run->set.device, &n);
    int rc;

    for (size_t i = 0; !name && i < report->n_shapes; i++)
        if (has_failed(config->cells[i].outcome))
            name = report->shapes[i].name;
    named.items[0] = name ? name : report->shapes[0].name;
    rc = shape_choice(list, n, &named, "in the sweep", "", &order->shape, err);
    if (rc == 0 && report_find_shape(report, order->shape.name, &at) &&
        config->cells[at].outcome == OUTCOME_CONSTRAINTS)
        rc = err_set(err, ERR_INPUT, "it is not run at %s: %s",
                     order->shape.name, config->cells[at].reason);
    return rc;
}

static int choose_from(struct order *order, const struct run *run,
                       const struct report *report, struct stored_spec *stored,
                       struct err *err)
{
    struct explain found;
    int rc = explain_find(report, stored, order->which, &found, err);

    if (rc < 0)
        return rc;
    memcpy(order->key, found.key, sizeof(order->key));
    if (!found.config || found.config->outcome == OUTCOME_COMPILE)
        rc = no_kernel(&found, stored, err);
    else
        rc = choose_shape(order, run, report, found.config, err);
    if (rc == 0 && !config_selection_params(&order->choice, run->spec,
                                            &found.config->params))
        rc = err_set(err, ERR_INPUT,
                     "the tunables of %s changed since the sweep: run "
                     "fa-coord sweep first",
                     run->sweep);
    explain_fini(&found);
    return rc;
}

static int choose(struct order *order, const struct run *run,
                  const struct report *report, struct err *err)
{
    struct stored_spec stored;
    int rc = stored_spec_open(report, &stored, err);

    if (rc < 0)
        return rc;
    rc = choose_from(order, run, report, &stored, err);
    stored_spec_close(&stored);
    return rc;
}

/* ---- the check ---- */

static int load(const struct run *run, const struct order *order,
                struct findings *out, struct err *err)
{
    struct store *store;
    int rc = store_open(run->db, STORE_WHOLE, &store, err);

    *out = (struct findings){ NULL, 0 };
    if (rc < 0)
        return rc;
    rc = findings_load(store, order->key, out, err);
    store_close(store);
    return rc;
}

static int show(const struct run *run, const struct order *order,
                struct err *err)
{
    struct findings findings;
    struct json_out out;
    int rc = load(run, order, &findings, err), code = EXIT_NO_RESULT;

    if (rc == 0 && findings_newest(&findings) == order->newest)
        fprintf(stderr,
                "fa-coord: %.8s was not checked: it could not be built, or "
                "its host was lost; --log=FILE tells more\n",
                order->key);
    else if (rc == 0 && findings_are_whole(&findings))
        code = EXIT_DONE;
    if (rc == 0 && run->set.json) {
        json_out_init(&out, stdout);
        json_out_open(&out, NULL, '{');
        json_out_text(&out, "key", order->key);
        findings_json(&findings, &out, "sanitizer");
        json_out_close(&out);
    } else if (rc == 0) {
        findings_print(&findings, stdout);
    }
    findings_fini(&findings);
    if (rc == 0)
        rc = terminal_flush(stdout, err);
    return rc < 0 ? fail_with(rc, err) : code;
}

static int check(struct run *run, const struct order *order, struct err *err)
{
    const struct plan_ask ask = { &order->choice, &order->shape, 1 };
    const struct sweep_tool tool = { .is_sanitizer = true,
                                     .limit_ms = order->limit_s * 1000 };
    const struct sweep_options options = { .command = "explain",
                                           .ask = &ask,
                                           .tool = &tool };
    int code;

    if (!run->set.quiet)
        fprintf(stderr,
                "checking %.8s at %s with compute-sanitizer's memcheck, "
                "racecheck, initcheck and synccheck, at most %" PRId64
                " s each (--limit): kernels are 10 to 100 times slower\n",
                order->key, order->shape.name, order->limit_s);
    run->spec->measure.timeout_s = fmax(
        run->spec->measure.timeout_s, (double)order->limit_s * LAUNCHES_SHARE);
    code = run_engine(run, &options, err);
    return code == EXIT_DONE ? show(run, order, err) : code;
}

static int sanitize(struct run *run, void *arg)
{
    struct order *order = arg;
    struct report *report;
    struct report_cost *cost;
    struct findings before = { NULL, 0 };
    struct err err;
    int rc = confirm_pipeline_look(run->db, &report, &cost, &err), code;

    if (rc == 0)
        rc = choose(order, run, report, &err);
    if (rc == 0)
        rc = load(run, order, &before, &err);
    order->newest = findings_newest(&before);
    findings_fini(&before);
    code = rc < 0 ? fail_with(rc, &err) : check(run, order, &err);
    report_cost_free(cost);
    report_free(report);
    return code;
}

/* Only a driver of CUDA can be watched. */
static int refuse_emulation(const char *db, struct err *err)
{
    struct report *report = NULL;
    struct store *store = NULL;
    int rc = store_open(db, STORE_WHOLE, &store, err);

    if (rc == 0)
        rc = report_load_outcomes(store, &report, err);
    if (rc == 0 && device_kind_is(report->device, DEVICE_KIND_CPU))
        rc = err_set(err, ERR_INPUT,
                     "--sanitize needs a GPU, and this sweep emulates it; what "
                     "the cpu device finds in each launch, explain shows "
                     "without it");
    report_free(report);
    store_close(store);
    return rc;
}

/* ---- the command ---- */

static int check_limit(const struct order *order, struct err *err)
{
    if (order->limit_s < 1 || order->limit_s > LIMIT_MOST_S)
        return err_set(err, ERR_INPUT, "--limit: 1 to %d seconds",
                       LIMIT_MOST_S);
    return 0;
}

static int parse(int argc, char *argv[], struct run *run, struct order *order,
                 struct err *err)
{
    const char *plain[2] = { NULL, NULL };
    const struct option list[] = {
        { "sanitize", OPTION_FLAG, &order->sanitize, NULL,
          "check it with compute-sanitizer on a GPU first", NULL },
        { "shape", OPTION_TEXT, &order->shape_name, "NAME",
          "check at this shape (default: the first where it failed)", NULL },
        { "limit", OPTION_INT, &order->limit_s, "S",
          "seconds for each of its tools (default: 1800)", NULL },
    };
    const struct options options = {
        .command = "explain",
        .arguments = "[DB] CONFIG",
        .what = "Explain why a configuration was skipped, failed, was retried "
                "or has its rank.  CONFIG is the first digits of its key, or "
                "A=1,B=2 with all tunables that have several values.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        /* a look into the database uses no host */
        .needing = "shape limit hosts ssh accept-new-host-keys max-hours "
                   "linger log",
        .needed = "sanitize",
        .first_flag = "db",
        .arguments_min = 1,
        .arguments_max = 2,
        .plain = plain,
    };
    int rc =
        run_settings_parse(&run->set, RUN_EXPLAIN, &options, argc, argv, err);

    if (rc == 0)
        rc = check_limit(order, err);
    if (rc != 0)
        return rc;
    order->which = plain[1] ? plain[1] : plain[0];
    if (plain[1] && dbpath_check_order("explain", plain[0], plain[1], err) < 0)
        return ERR_INPUT;
    return dbpath_find(plain[1] ? plain[0] : run->set.db, &run->db, err);
}

int cmd_explain(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS, .runs_kernels = true };
    struct order order = { .limit_s = LIMIT_S };
    struct err err;
    int rc = parse(argc, argv, &run, &order, &err), code;

    if (rc == 0 && !order.sanitize) {
        code = explain_from(run.db, order.which, run.set.json);
        free(run.db);
        return code;
    }
    if (rc == 0)
        rc = refuse_emulation(run.db, &err);
    code = run_by_db(&run, rc, &err, sanitize, &order);
    config_selection_fini(&order.choice);
    return code;
}
