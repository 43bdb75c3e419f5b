/* fa-coord bench: the baseline and the winners at each shape, in blocks
 * (docs/confirm.md) */
#include "coordinator/cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/conclusion/bench.h"
#include "coordinator/conclusion/conclusion.h"
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
#include "coordinator/text/terminal.h"

struct order {
    struct option_list shape_names, configs;
    struct spec_shape *shapes; /* their contents are borrowed */
    size_t n_shapes;
};

/* ---- what to measure ---- */

/* The headline if no shape is named. */
static int choose_shapes(struct order *order, const struct run *run,
                         struct err *err)
{
    size_t n;
    const struct spec_shape *list = spec_shapes(run->spec, run->set.device, &n);
    bool all = order->shape_names.n == 1 &&
               strcmp(order->shape_names.items[0], "all") == 0;

    order->shapes = mem_new(n + OPTION_LIST_MAX, sizeof(*order->shapes));
    if (all || order->shape_names.n == 0) {
        order->n_shapes = all ? n : 1;
        memcpy(order->shapes, list, order->n_shapes * sizeof(*list));
        return 0;
    }
    order->n_shapes = order->shape_names.n;
    return shape_choice(list, n, &order->shape_names, "in the sweep",
                        "; 'all' by itself takes all of them", order->shapes,
                        err);
}

static int add_named(const struct option_list *configs,
                     const struct report *report, struct bench *bench,
                     struct err *err)
{
    struct stored_spec stored = { NULL, NULL, NULL };
    struct winner named;
    int rc = configs->n ? stored_spec_open(report, &stored, err) : 0;

    for (size_t i = 0; rc == 0 && i < configs->n; i++) {
        rc = winner_named(report, &stored, configs->items[i], &named, err);
        if (rc == 0)
            bench_add(bench, named.config);
        else
            err_within(err, rc, "--config %.80s", configs->items[i]);
    }
    stored_spec_close(&stored);
    return rc;
}

/* 'out' borrows names from the order, everything else from the report. */
static int choose(const struct order *order, struct store *store,
                  const struct report *report, const struct report_cost *cost,
                  struct bench *out, struct err *err)
{
    const char **names = mem_new(order->n_shapes, sizeof(*names));
    struct conclusion *verdict = NULL;
    int rc = conclusion_load(store, report, cost, CONFIRMATION_CONFIRM,
                             &verdict, err);

    for (size_t i = 0; i < order->n_shapes; i++)
        names[i] = order->shapes[i].name;
    if (rc == 0)
        rc = bench_choose(report, verdict, names, order->n_shapes, out, err);
    if (rc == 0)
        rc = add_named(&order->configs, report, out, err);
    conclusion_free(verdict);
    free(names);
    return rc;
}

/* ---- resume an interrupted bench ---- */

static bool is_same(const struct confirmation *a, const struct confirmation *b,
                    const struct order *order)
{
    if (a->n != b->n || a->blocks != b->blocks || a->samples != b->samples ||
        a->n_shapes != order->n_shapes)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->candidates[i].key, b->candidates[i].key) != 0)
            return false;
    for (size_t i = 0; i < a->n_shapes; i++)
        if (strcmp(a->shapes[i].name, order->shapes[i].name) != 0)
            return false;
    return true;
}

static int make_contest(const struct run *run, const struct order *order,
                        const struct report *report,
                        const struct report_cost *cost,
                        struct confirmation *out, struct err *err)
{
    struct confirmation old = { 0 };
    struct bench bench = { 0 };
    struct store *store;
    int rc = store_open(run->db, STORE_WHOLE, &store, err);

    if (rc < 0)
        return rc;
    confirm_pipeline_rules(run, report, out);
    out->kind = CONFIRMATION_BENCH;
    rc = choose(order, store, report, cost, &bench, err);
    if (rc == 0) {
        bench_enter(&bench, out);
        confirm_pipeline_enough_blocks(run, out);
        rc = confirmation_load(store, report->sweep.id, CONFIRMATION_BENCH, 0,
                               &old, err);
    }
    if (rc == 1 && !old.ended && is_same(&old, out, order)) {
        confirmation_fini(out);
        *out = old;
    } else {
        confirmation_fini(&old);
    }
    bench_fini(&bench);
    store_close(store);
    return err_only(rc);
}

static int show(const struct run *run, const struct order *order,
                struct err *err)
{
    struct conclusion *conclusion = NULL;
    struct bench bench = { 0 };
    struct report *report;
    struct report_cost *cost;
    struct store *store = NULL;
    int rc = confirm_pipeline_look(run->db, &report, &cost, err);

    if (rc == 0)
        rc = store_open(run->db, STORE_WHOLE, &store, err);
    if (rc == 0)
        rc = conclusion_load(store, report, cost, CONFIRMATION_BENCH,
                             &conclusion, err);
    if (rc == 0)
        rc = choose(order, store, report, cost, &bench, err);
    if (rc == 0 && run->set.json)
        bench_json(&bench, conclusion, report, stdout);
    else if (rc == 0)
        bench_print(&bench, conclusion, report, stdout);
    if (rc == 0)
        rc = terminal_flush(stdout, err);
    bench_fini(&bench);
    conclusion_free(conclusion);
    report_cost_free(cost);
    report_free(report);
    store_close(store);
    return rc;
}

static int bench_work(struct run *run, void *arg)
{
    struct order *order = arg;
    struct confirmation confirmation = { 0 };
    struct report *report;
    struct report_cost *cost;
    struct err err;
    int rc = confirm_pipeline_look(run->db, &report, &cost, &err),
        code = EXIT_DONE;

    if (rc == 0)
        rc = choose_shapes(order, run, &err);
    if (rc == 0)
        rc = make_contest(run, order, report, cost, &confirmation, &err);
    if (rc == 0)
        code = confirm_pipeline_contest(run, report, &confirmation,
                                        order->shapes, order->n_shapes);
    if (rc == 0 && code == EXIT_DONE)
        rc = show(run, order, &err);
    if (exit_code_is_resumable(code))
        fprintf(stderr,
                "nothing is lost; run the same command again to continue\n");
    confirmation_fini(&confirmation);
    report_cost_free(cost);
    report_free(report);
    return rc < 0 ? fail_with(rc, &err) : code;
}

int cmd_bench(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    struct order order = { .n_shapes = 0 };
    const char *plain = NULL;
    const struct option list[] = {
        { "shape", OPTION_LIST, &order.shape_names, "NAME|all",
          "compare at this shape; repeatable (default: the headline)", NULL },
        { "config", OPTION_LIST, &order.configs, "A=1,B=2|KEY",
          "compare this configuration too; repeatable", NULL },
    };
    const struct options options = {
        .command = "bench",
        .arguments = "[SWEEP]",
        .what =
            "Compare the baseline and the winners in blocks, at each shape.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc =
        run_settings_parse(&run.set, RUN_BENCH, &options, argc, argv, &err);
    int code;

    if (rc == 0 && run.set.db)
        run.db = mem_strdup(run.set.db);
    else if (rc == 0)
        rc = plain ? dbpath_of_sweep(plain, &run.db, &err)
                   : dbpath_find(NULL, &run.db, &err);
    code = run_by_db(&run, rc, &err, bench_work, &order);
    free(order.shapes);
    return code;
}
