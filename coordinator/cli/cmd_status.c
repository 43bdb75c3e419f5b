#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/live/live_text.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/status.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/model_sweeps/model_sweeps.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_rental.h"
#include "coordinator/text/json_out.h"
#include "coordinator/print/table.h"
#include "coordinator/text/terminal.h"

static void put_hosts(struct json_out *out, const struct status *status)
{
    json_out_open(out, "hosts", '[');
    for (size_t i = 0; i < status->n_hosts; i++) {
        const struct status_host *host = &status->hosts[i];

        json_out_open(out, NULL, '{');
        json_out_text(out, "host", host->name);
        json_out_text(out, "category", host->category);
        json_out_int(out, "building", host->building);
        json_out_int(out, "measuring", host->measuring);
        json_out_close(out);
    }
    json_out_close(out);
}

static void print_json(const struct report *report,
                       const struct report_cost *cost,
                       const struct status *status)
{
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "name", report->name);
    json_out_text(&out, "device", report->device);
    json_out_bool(&out, "running", status->running);
    if (status->running) {
        json_out_int(&out, "pid", status->holder.pid);
        json_out_text(&out, "machine", status->holder.machine);
        json_out_utc(&out, "since", status->holder.since_utc);
    } else {
        json_out_null(&out, "pid");
        json_out_null(&out, "machine");
        json_out_null(&out, "since");
    }
    json_out_text(&out, "ending", status->running ? "" : report->sweep.ending);
    json_out_int(&out, "asked", status->asked);
    json_out_int(&out, "tried", report->counts.tally.tried);
    json_out_int(&out, "correct", report->counts.tally.correct);
    json_out_int(&out, "done", status->done);
    json_out_int(&out, "total", status->total);
    json_out_open(&out, "counts", '{');
    for (int i = 0; i < OUTCOMES_OF_CONFIG; i++)
        json_out_int(&out, outcome_name((enum outcome)i),
                     report->counts.outcomes[i]);
    json_out_close(&out);
    json_out_real(&out, "per_hour", status->per_hour);
    json_out_real(&out, "eta_s", status->left_s.likely);
    json_out_interval(&out, "eta_range_s", status->left_s.low,
                      status->left_s.high);
    json_out_real(&out, "left_usd", status->left_usd.likely);
    json_out_interval(&out, "left_usd_range", status->left_usd.low,
                      status->left_usd.high);
    json_out_real(&out, "total_hours", cost->total_hours);
    json_out_real(&out, "total_usd", cost->total_usd);
    json_out_real(&out, "priced_usd", cost->priced_usd);
    put_hosts(&out, status);
    json_out_open(&out, "waiting", '[');
    for (size_t i = 0; i < status->n_waiting; i++)
        json_out_text(&out, NULL, status->waiting[i]);
    json_out_close(&out);
    json_out_close(&out);
}

static void print_holder(const struct status *status)
{
    char since[CLOCK_ISO_BYTES];

    clock_iso(status->holder.since_utc, since);
    printf("running since %s, pid %" PRId64 " on %s\n", since,
           status->holder.pid, status->holder.machine);
}

static void print_waiting(const struct status *status)
{
    for (size_t i = 0; i < status->n_waiting; i++)
        printf("waiting: %s\n", status->waiting[i]);
}

static void print_state(const struct report *report,
                        const struct status *status)
{
    printf("%s on %s: ", report->name, report->arch);
    if (status->running)
        print_holder(status);
    else if (report->sweep.ending[0])
        printf("not running; the last run ended: %s\n", report->sweep.ending);
    else
        printf("not running; the last run was killed; 'fa-coord resume' "
               "continues it\n");
    print_waiting(status);
}

/* There is no sweep before a GPU has told its facts.  Returns 1 if one runs
 * that waits for that. */
static int look_for_start(struct store *store, struct status *status,
                          struct err *err)
{
    int rc = status_load(store, NULL, clock_utc_ns(), status, err);

    return rc < 0 ? rc : status->running && status->n_waiting > 0;
}

static void print_progress(const struct report *report,
                           const struct report_cost *cost,
                           const struct status *status)
{
    const struct tally *tally = &report->counts.tally;
    char text[LIVE_TEXT_BYTES];

    printf("%" PRId64 " of %" PRId64 " configurations tried: %" PRId64
           " correct, %" PRId64 " failed\n",
           tally->tried, status->asked, tally->correct,
           tally->tried - tally->correct);
    printf("%" PRId64 " of %" PRId64 " measurements settled", status->done,
           status->total);
    if (!isnan(status->per_hour))
        printf(", %.0f an hour", status->per_hour);
    if (!isnan(status->left_s.likely))
        printf(", %s to go", live_text_left(&status->left_s, text));
    printf("\n");
    for (int i = 0; i < REPORT_SHOWN_COUNTS; i++) {
        int64_t count;
        const char *name = report_shown_count(report, i, &count);

        if (count)
            printf("  %-18s %" PRId64 "\n", name, count);
    }
    printf("%.4f host-hours so far", cost->total_hours);
    if (cost->n_hosts > cost->unpriced)
        printf(", %s", live_text_usd(cost->priced_usd, text));
    if (!isnan(status->left_usd.likely))
        printf(", %s%s to come",
               estimate_is_narrow(&status->left_usd) ? "about " : "",
               live_text_left_usd(&status->left_usd, text));
    if (cost->unpriced)
        printf(", %zu host%s unpriced", cost->unpriced,
               cost->unpriced == 1 ? "" : "s");
    printf("\n");
}

static void print_hosts(const struct status *status)
{
    struct table *table;

    if (status->n_hosts == 0)
        return;
    table = table_new();
    table_column(table, 'l', "host");
    table_column(table, 'l', "last held for");
    table_column(table, 'r', "building");
    table_column(table, 'r', "measuring");
    for (size_t i = 0; i < status->n_hosts; i++) {
        const struct status_host *host = &status->hosts[i];

        table_cell(table, "%s", host->name);
        table_cell(table, "%s", host->category[0] ? host->category : "-");
        table_cell(table, "%" PRId64, host->building);
        table_cell(table, "%" PRId64, host->measuring);
    }
    printf("\n");
    table_print(table, stdout);
    table_free(table);
}

static int run(struct store *store, bool json, struct err *err)
{
    struct report *report = NULL;
    struct report_cost *cost = NULL;
    struct status status = { 0 };
    struct err why;
    int rc = report_load_outcomes(store, &report, err);

    if (rc == ERR_INPUT && !json && look_for_start(store, &status, &why) == 1) {
        print_holder(&status);
        print_waiting(&status);
        status_fini(&status);
        return terminal_flush(stdout, err);
    }
    if (rc == 0)
        rc = report_cost_load(store, &cost, err);
    if (rc == 0)
        rc = status_load(store, report, clock_utc_ns(), &status, err);
    if (rc == 0 && json) {
        print_json(report, cost, &status);
    } else if (rc == 0) {
        print_state(report, &status);
        rc = run_rental_print(store, stdout, err);
        print_progress(report, cost, &status);
        print_hosts(&status);
    }
    if (rc == 0)
        rc = terminal_flush(stdout, err);
    status_fini(&status);
    report_cost_free(cost);
    report_free(report);
    return rc;
}

int cmd_status(int argc, char *argv[])
{
    bool json = false;
    struct dbpath_models models = { .n = 0 };
    const char *given = NULL;
    const struct option list[] = {
        { "json", OPTION_FLAG, &json, NULL, "for programs", NULL },
        { "db", OPTION_TEXT, &given, "FILE",
          "the database, instead of as an argument", NULL },
    };
    const struct options options = {
        .command = "status",
        .arguments = "[DB]",
        .what = "Show the progress of a sweep, also while it runs.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &given,
    };
    struct store *store = NULL;
    char *path = NULL;
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0 && !given)
        dbpath_models_find(&models);
    if (models.n > 0) {
        rc = model_sweeps_each(argv, json, &models);
        dbpath_models_fini(&models);
        return rc;
    }
    if (rc == 0)
        rc = dbpath_find(given, &path, &err);
    if (rc == 0)
        rc = store_open(path, STORE_WHOLE, &store, &err);
    if (rc == 0)
        rc = run(store, json, &err);
    store_close(store);
    free(path);
    return rc < 0 ? fail_with(rc, &err) : 0;
}
