#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/export/export.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/store/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/fail.h"
#include "coordinator/tasks/options.h"
#include "coordinator/text/outfile.h"
#include "coordinator/text/terminal.h"

enum format {
    FORMAT_HEADER,
    FORMAT_JSON,
    FORMAT_FLAGS,
    FORMATS,
};

static const char *const format_names[FORMATS] = { "header", "json", "flags" };

struct settings {
    const char *sweep, *db, *format, *config, *shape, *out;
    bool force;
    enum format as;
};

static int read_format(struct settings *settings, struct err *err)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(settings->format, format_names[i]) == 0) {
            settings->as = (enum format)i;
            return 0;
        }
    return err_set(err, ERR_INPUT,
                   "export: --format=%.32s: choose header, json or flags",
                   settings->format);
}

static int print(struct export *export, const struct settings *settings,
                 FILE *to, struct err *err)
{
    if (settings->as == FORMAT_JSON)
        return export_json(export, to, err);
    if (settings->as == FORMAT_HEADER)
        export_header(export, to);
    else
        export_flags(export, to);
    return 0;
}

/* ---- the file */

/* Generate the whole text first, so that no partial file is written. */
static int write_out(struct export *export, const struct settings *settings,
                     struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = mem_stream(&text, &len);
    int rc = print(export, settings, memory, err);

    mem_stream_close(memory, &text);
    if (rc == 0 && settings->out) {
        rc = outfile_save(settings->out, text, len, settings->force, err);
    } else if (rc == 0) {
        fwrite(text, 1, len, stdout);
        rc = terminal_flush(stdout, err);
    }
    free(text);
    return rc;
}

static int run(struct store *store, const struct settings *settings,
               struct err *err)
{
    struct stored_spec stored = { NULL, NULL, NULL };
    struct report *report = NULL;
    struct export *export = NULL;
    struct winner winner;
    int rc = report_load(store, &report, err);

    if (rc == 0)
        rc = stored_spec_open(report, &stored, err);
    if (rc == 0)
        rc = settings->config
                 ? winner_named(report, &stored, settings->config, &winner, err)
                 : winner_load(store, report, settings->shape, &winner, err);
    if (rc == 0)
        rc = export_make(report, &stored, &winner, store, &export, err);
    if (rc == 0)
        rc = write_out(export, settings, err);
    export_free(export);
    stored_spec_close(&stored);
    report_free(report);
    return rc;
}

static int open_database(const struct settings *settings, struct store **out,
                         struct err *err)
{
    char *path = NULL;
    int rc =
        settings->sweep && settings->db
            ? err_set(err, ERR_INPUT, "export: give a sweep or --db, not both")
        : settings->sweep ? dbpath_of_sweep(settings->sweep, &path, err)
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
        { "format", OPTION_TEXT, &settings.format, "header|json|flags",
          "a C header (the default), JSON, or -D options for nvcc", NULL },
        { "config", OPTION_TEXT, &settings.config, "A=1,B=2|KEY",
          "export this configuration instead of the winner", NULL },
        { "shape", OPTION_TEXT, &settings.shape, "NAME",
          "export the best at this shape instead of the headline", NULL },
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
        .what = "Export the winner of a sweep for your build (docs/export.md).",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
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
