#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/exchange/kernel_tuner.h"
#include "coordinator/exchange/nvbench.h"
#include "coordinator/exchange/t4.h"
#include "coordinator/exchange/trace.h"
#include "coordinator/exchange/views.h"
#include "coordinator/export/export.h"
#include "coordinator/export/export_dispatch.h"
#include "coordinator/inspect/landscape_db.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/replay/replay.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/outfile.h"
#include "coordinator/text/suggest.h"
#include "coordinator/text/terminal.h"

static int print_header(struct export *export, FILE *to, struct err *err)
{
    (void)err;
    export_header(export, to);
    return 0;
}

static int print_flags(struct export *export, FILE *to, struct err *err)
{
    (void)err;
    export_flags(export, to);
    return 0;
}

typedef void whole_fn(const struct landscape *landscape, FILE *to);

static const struct format {
    const char *name;
    bool binary;      /* not for a terminal */
    bool of_a_kernel; /* a record has none */
    int (*winner)(struct export *export, FILE *to, struct err *err);
    int (*shapes)(struct store *store, const struct report *report,
                  struct stored_spec *stored, FILE *to, struct err *err);
    whole_fn *whole; /* of a format that has all configurations */
    int (*store)(struct store *store, FILE *to, struct err *err);
} formats[] = {
    { "header", .winner = print_header },
    { "json", .winner = export_json },
    { "flags", .winner = print_flags },
    { "torch", .winner = export_torch, .of_a_kernel = true },
    { "cubin", .winner = export_cubin, .binary = true, .of_a_kernel = true },
    { "dispatch", .shapes = export_dispatch, .of_a_kernel = true },
    { "kernel-tuner", .whole = kernel_tuner_write },
    { "t4", .whole = t4_write },
    { "nvbench", .whole = nvbench_write },
    { "trace", .store = trace_write },
    { "csv", .store = views_csv },
    { "views", .store = views_script },
};

#define FORMATS                                                       \
    "header|json|flags|torch|cubin|dispatch|kernel-tuner|t4|nvbench|" \
    "trace|csv|views"
#define FORMATS_OF_WINNER "header, json or flags"
#define FORMATS_MORE                                                           \
    "torch for it in PyTorch, cubin for its machine code, dispatch for every " \
    "shape's"
#define FORMATS_OF_SWEEP "kernel-tuner, t4, nvbench, trace, csv or views"

struct settings {
    const char *sweep, *db, *format, *config, *shape, *out;
    bool force;
    const struct format *as;
};

static int unknown_format(const char *name, struct err *err)
{
    const char *names[sizeof(formats) / sizeof(formats[0])];
    char ending[SUGGEST_BYTES];
    size_t n = 0;

    for (; n < sizeof(formats) / sizeof(formats[0]); n++)
        names[n] = formats[n].name;
    return err_set(err, ERR_INPUT,
                   "export: --format=%.32s: choose " FORMATS_OF_WINNER
                   " for the winner, " FORMATS_MORE ", or " FORMATS_OF_SWEEP
                   " for the whole sweep%s",
                   name, suggest_ending(name, strlen(name), names, n, ending));
}

static int read_format(struct settings *settings, struct err *err)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(settings->format, formats[i].name) == 0) {
            settings->as = &formats[i];
            break;
        }
    if (!settings->as)
        return unknown_format(settings->format, err);
    if (settings->as->binary && !settings->out)
        return err_set(err, ERR_INPUT,
                       "export: --format %s is not text; name a file with "
                       "--out",
                       settings->as->name);
    if (!settings->as->winner && settings->config)
        return err_set(err, ERR_INPUT,
                       "export: --format %s has all configurations%s, so "
                       "--config does not apply",
                       settings->as->name,
                       settings->as->shapes ? " that a shape prefers" : "");
    if ((settings->as->store || settings->as->shapes) && settings->shape)
        return err_set(err, ERR_INPUT,
                       "export: --format %s has all shapes, so --shape does "
                       "not apply",
                       settings->as->name);
    return 0;
}

/* ---- the file */

struct page {
    char *text;
    size_t len;
    FILE *to;
};

static void page_open(struct page *page)
{
    *page = (struct page){ .text = NULL };
    page->to = mem_stream(&page->text, &page->len);
}

/* The whole text is there first, so that no partial file is written. */
static int page_save(struct page *page, const struct settings *settings, int rc,
                     struct err *err)
{
    mem_stream_close(page->to, &page->text);
    if (rc == 0 && settings->out) {
        rc = outfile_save(settings->out, page->text, page->len, settings->force,
                          err);
    } else if (rc == 0) {
        fwrite(page->text, 1, page->len, stdout);
        rc = terminal_flush(stdout, err);
    }
    free(page->text);
    return rc;
}

/* ---- what is in it */

static int open_spec(const struct report *report,
                     const struct settings *settings,
                     struct stored_spec *stored, struct err *err)
{
    int rc = stored_spec_open(report, stored, err);

    if (rc == 0 && settings->as->of_a_kernel &&
        !replay_has_kernel(stored->spec))
        rc = err_set(err, ERR_INPUT,
                     "export: the results are those of a record, which has no "
                     "kernel for --format %s; " FORMATS_OF_WINNER
                     " have its tunables",
                     settings->as->name);
    return rc;
}

static int write_winner(struct store *store, const struct report *report,
                        const struct settings *settings, FILE *to,
                        struct err *err)
{
    struct stored_spec stored = { NULL, NULL, NULL };
    struct export *export = NULL;
    struct winner winner;
    int rc = open_spec(report, settings, &stored, err);

    if (rc == 0)
        rc = settings->config
                 ? winner_named(report, &stored, settings->config, &winner, err)
                 : winner_load(store, report, settings->shape, &winner, err);
    if (rc == 0)
        rc = export_make(report, &stored, &winner, store, &export, err);
    if (rc == 0)
        rc = settings->as->winner(export, to, err);
    export_free(export);
    stored_spec_close(&stored);
    return rc;
}

static int write_shapes(struct store *store, const struct report *report,
                        const struct settings *settings, FILE *to,
                        struct err *err)
{
    struct stored_spec stored = { NULL, NULL, NULL };
    int rc = open_spec(report, settings, &stored, err);

    if (rc == 0)
        rc = settings->as->shapes(store, report, &stored, to, err);
    stored_spec_close(&stored);
    return rc;
}

static int write_whole(struct store *store, const struct report *report,
                       const struct settings *settings, FILE *to,
                       struct err *err)
{
    struct landscape *landscape = NULL;
    size_t shape = 0;
    int rc = 0;

    if (settings->shape)
        rc = winner_shape(report, settings->shape, &shape, err);
    if (rc == 0)
        rc = landscape_of_report(store, report, shape, &landscape, err);
    if (rc == 0)
        settings->as->whole(landscape, to);
    landscape_free(landscape);
    return rc;
}

static int run(struct store *store, const struct settings *settings,
               struct err *err)
{
    struct report *report = NULL;
    struct page page;
    int rc = 0;

    page_open(&page);
    if (!settings->as->store)
        rc = report_load(store, &report, err);
    if (rc == 0)
        rc = settings->as->store ? settings->as->store(store, page.to, err)
             : settings->as->shapes
                 ? write_shapes(store, report, settings, page.to, err)
             : settings->as->whole
                 ? write_whole(store, report, settings, page.to, err)
                 : write_winner(store, report, settings, page.to, err);
    rc = page_save(&page, settings, rc, err);
    report_free(report);
    return rc;
}

static int open_database(const struct settings *settings, struct store **out,
                         struct err *err)
{
    char *path = NULL;
    int rc = settings->sweep ? dbpath_of_sweep(settings->sweep, &path, err)
                             : dbpath_find(settings->db, &path, err);

    if (rc == 0)
        rc = store_open(path, STORE_WHOLE, out, err);
    free(path);
    return rc;
}

int cmd_export(int argc, char *argv[])
{
    struct settings settings = { .format = "header" };
    const struct option list[] = {
        { "format", OPTION_TEXT, &settings.format, FORMATS,
          FORMATS_OF_WINNER " for the winner (default: header), " FORMATS_MORE
                            ", " FORMATS_OF_SWEEP " for the whole sweep",
          NULL },
        { "config", OPTION_TEXT, &settings.config, "A=1,B=2|KEY",
          "export this configuration instead of the winner", NULL },
        { "shape", OPTION_TEXT, &settings.shape, "NAME",
          "the best, or all times, at this shape instead of the headline",
          NULL },
        { "db", OPTION_TEXT, &settings.db, "FILE",
          "the database (default: NAME.db beside the sweep file)", NULL },
        { "out", OPTION_TEXT, &settings.out, "FILE",
          "write to this file instead of stdout", NULL },
        { "force", OPTION_FLAG, &settings.force, NULL,
          "overwrite the --out file", NULL },
    };
    const struct options options = {
        .command = "export",
        .arguments = "[SWEEP]",
        .what =
            "Export the winner of a sweep for your build, or the whole sweep "
            "for another tool (docs/export.md).",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &settings.sweep,
    };
    struct store *store = NULL;
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = read_format(&settings, &err);
    if (rc == 0 && settings.config && settings.shape)
        rc = err_set(
            &err, ERR_INPUT,
            "export: give --config or --shape, not both: --config names a "
            "configuration, --shape takes the best at that shape");
    if (rc == 0)
        rc = open_database(&settings, &store, &err);
    if (rc == 0)
        rc = run(store, &settings, &err);
    store_close(store);
    return rc ? fail_with(rc, &err) : 0;
}
