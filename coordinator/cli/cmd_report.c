#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/page/page.h"
#include "coordinator/page/page_history.h"
#include "coordinator/report/report_loaded.h"
#include "coordinator/report/report_print.h"
#include "coordinator/report/report_sections.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/model_sweeps/model_sweeps.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_rental.h"
#include "coordinator/text/outfile.h"
#include "coordinator/text/terminal.h"

#define TOP_DEFAULT 20 /* rows of the table; JSON and CSV have all */

struct settings {
    bool cost, json, csv, force;
    int64_t top; /* -1: not given */
    const char *where, *html;
    const char *show; /* NULL: the summary */
};

static int save_page(struct store *store, const struct report_view *view,
                     const struct settings *settings, struct err *err)
{
    struct page_history history;
    char *text = NULL;
    size_t len = 0;
    int rc = page_history_load(store, view->report, &history, err);

    if (rc == 0) {
        FILE *memory = mem_stream(&text, &len);

        page_write(view, &history, NULL, memory);
        mem_stream_close(memory, &text);
        rc = outfile_save(settings->html, text, len, settings->force, err);
    }
    page_history_fini(&history);
    free(text);
    return rc;
}

static void say_what_there_is(const struct report_view *view, const char *asked)
{
    char *names = report_sections_names(report_sections_present(view));

    fprintf(stderr, "the report has nothing under %s; it has %s\n", asked,
            names);
    free(names);
}

/* The sections that were asked for, or else the summary; what selects rows of
 * the ranking shows it. */
static int print_text(const struct report_view *view,
                      const struct settings *settings, struct err *err)
{
    report_sections_set set = 0;
    int rc = 0;

    if (settings->show)
        rc = report_sections_parse(settings->show, &set, err);
    if (rc < 0)
        return rc;
    if (set == REPORT_SECTIONS_ALL) {
        report_table(view, stdout);
        report_cost_table(view, stdout);
        return 0;
    }
    if (!settings->show)
        report_summary(view, stdout);
    if (settings->top >= 0 || settings->where)
        set |= report_sections_of("ranking");
    if (settings->cost)
        set |= report_sections_of("cost");
    report_sections_print(view, set, stdout);
    if (settings->show && !(set & report_sections_present(view)))
        say_what_there_is(view, settings->show);
    return 0;
}

static int print(struct store *store, struct report_view view,
                 const struct settings *settings, struct err *err)
{
    int rc = 0;

    if (settings->top >= 0)
        view.top = (size_t)settings->top;
    else if (!settings->json && !settings->csv)
        view.top = TOP_DEFAULT;
    if (settings->json) {
        rc = report_json(&view, stdout, err);
    } else if (settings->csv && settings->cost) {
        report_spending_csv(&view, stdout);
    } else if (settings->csv) {
        rc = report_csv(&view, stdout, err);
    } else if (settings->html) {
        return save_page(store, &view, settings, err);
    } else {
        rc = print_text(&view, settings, err);
        if (rc == 0)
            rc = run_rental_print(store, stdout, err);
    }
    if (rc < 0)
        return rc;
    return terminal_flush(stdout, err);
}

/* A page and a table of all rows need all at once. */
static struct report_wanted wanted_of(const struct settings *settings)
{
    bool rows = settings->json || settings->csv;

    return (struct report_wanted){
        .whole = settings->html || (!rows && settings->top == 0),
        .top = rows || settings->top < 0 ? TOP_DEFAULT : (size_t)settings->top,
        .where = settings->where,
    };
}

static int run(struct store *store, const struct settings *settings,
               struct err *err)
{
    const struct report_wanted wanted = wanted_of(settings);
    struct report_loaded loaded;
    int rc = report_loaded_init(store, &wanted, &loaded, err);

    if (loaded.no_metrics.text[0])
        fprintf(stderr, "fa-coord: the report has no metrics: %s\n",
                loaded.no_metrics.text);
    if (loaded.no_match.text[0])
        fprintf(stderr, "fa-coord: %s\n", loaded.no_match.text);
    if (loaded.no_lessons.text[0])
        fprintf(stderr, "fa-coord: the report has no lessons: %s\n",
                loaded.no_lessons.text);
    if (rc == 0 && (settings->cost || settings->json || settings->show))
        rc = report_loaded_costs(store, &loaded, err);
    if (rc == 0)
        rc = print(store, loaded.view, settings, err);
    report_loaded_fini(&loaded);
    return rc;
}

/* Of several databases, or of a sweep that has one for each model of GPU.
 * Returns 1 if there is one database only. */
static int report_models(const struct settings *settings, const char *db,
                         const char *const *plain, struct err *err)
{
    struct dbpath_models models = { .n = 0 };
    size_t n = 0;
    int rc = 1;

    while (n < DBPATH_MODELS_MAX && plain[n])
        n++;
    if (n > 1)
        dbpath_models_given(plain, n, &models);
    else if (n == 0 && !db)
        dbpath_models_find(&models);
    if (models.n > 0 &&
        (settings->cost || settings->show || settings->top >= 0 ||
         settings->where || settings->csv || settings->html)) {
        rc = err_set(err, ERR_INPUT,
                     "the report of several models takes only --json; name "
                     "one database, such as %s",
                     models.paths[0]);
    } else if (models.n > 0) {
        struct err lost;
        int flushed;

        rc = model_sweeps_report(&models, settings->json, err);
        flushed = terminal_flush(stdout, &lost);
        if (rc == 0 && flushed < 0) {
            rc = flushed;
            *err = lost;
        }
    }
    dbpath_models_fini(&models);
    return rc;
}

static int report_one(const struct settings *settings, const char *given,
                      struct err *err)
{
    struct store *store = NULL;
    char *path = NULL;
    int rc = dbpath_find(given, &path, err);

    if (rc == 0)
        rc = store_open(path, STORE_WHOLE, &store, err);
    if (rc == 0)
        rc = run(store, settings, err);
    store_close(store);
    free(path);
    return rc;
}

int cmd_report(int argc, char *argv[])
{
    struct settings settings = { .top = -1 };
    const char *given = NULL, *plain[DBPATH_MODELS_MAX] = { NULL };
    const struct option list[] = {
        { "cost", OPTION_FLAG, &settings.cost, NULL,
          "add hours and dollars by host and category, and what they were "
          "spent on; with --csv these alone",
          NULL },
        { "show", OPTION_TEXT, &settings.show, "SECTIONS",
          "show these instead of the summary: all, or some of ranking, "
          "confirmation, gpus, floors, profiles, failures, lessons, gates, "
          "cost, separated by commas",
          "json csv html" },
        { "top", OPTION_INT, &settings.top, "N",
          "rows of the ranking to show, 0 for all (default 20; JSON has all)",
          NULL },
        { "where", OPTION_TEXT, &settings.where, "SQL",
          "show only these, such as \"BLOCK_M = 64 AND median_s < 1e-3\"",
          NULL },
        { "json", OPTION_FLAG, &settings.json, NULL,
          "print everything as JSON (docs/report.md)", "csv" },
        { "csv", OPTION_FLAG, &settings.csv, NULL,
          "print one line per configuration and shape as CSV", "json" },
        { "html", OPTION_TEXT, &settings.html, "FILE",
          "write report, cost and pictures to this file, as a web page",
          "json csv" },
        { "force", OPTION_FLAG, &settings.force, NULL,
          "overwrite the --html file", NULL },
        { "db", OPTION_TEXT, &given, "FILE",
          "the database, instead of as an argument", NULL },
    };
    const struct options options = {
        .command = "report",
        .arguments = "[DB...]",
        .what = "Show the results of a sweep and its cost; for several "
                "databases, the winners of their GPU models.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .all_first = true,
        .arguments_max = DBPATH_MODELS_MAX,
        .plain = plain,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = report_models(&settings, given, plain, &err);
    if (rc == 1)
        rc = report_one(&settings, given ? given : plain[0], &err);
    return rc < 0 ? fail_with(rc, &err) : 0;
}
