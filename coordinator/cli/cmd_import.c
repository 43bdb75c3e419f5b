/* fa-coord import: converts a record of another tuner to a database or sweep
 * file, and a tuning problem to a sweep file. */
#include "coordinator/cli/cmd.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/dbnew.h"
#include "coordinator/options/fail.h"
#include "coordinator/tasks/import.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/record_file.h"
#include "coordinator/text/outfile.h"
#include "coordinator/text/shell_word.h"

#define TEXT_MAX (8 << 20)

struct settings {
    const char *file, *out, *sweep;
    bool lenient;
};

static int is_new(const char *path, struct err *err)
{
    if (access(path, F_OK) < 0)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s exists already; remove it, or name another file", path);
}

static int write_sweep(const struct replay *replay, const char *path,
                       struct err *err)
{
    struct buf text;
    int rc = is_new(path, err);

    if (rc < 0)
        return rc;
    buf_init(&text, TEXT_MAX);
    replay_sweep_text(replay, &text);
    rc = outfile_save(path, buf_text(&text), text.len, false, err);
    buf_fini(&text);
    if (rc == 0) {
        char *sweep = shell_word(path), *record;

        record = shell_word(replay_path(replay));
        fprintf(stderr,
                "%s: to sweep it, run: fa-coord sweep %s --device replay=%s\n",
                path, sweep, record);
        free(sweep);
        free(record);
    }
    return rc;
}

static void say(const struct replay *replay, const char *path, int n)
{
    const struct landscape *land = replay_landscape(replay);

    fprintf(stderr, "%s: %d configuration%s, recorded on %s\n", path, n,
            n == 1 ? "" : "s",
            land->device[0] ? land->device : "an unnamed device");
    if (land->repeated)
        fprintf(stderr, "%d %s a configuration; the first one counts\n",
                land->repeated,
                land->repeated == 1 ? "entry repeats" : "entries repeat");
    if (land->unclosed)
        fprintf(stderr, "the file ends before its last brace; the entries "
                        "before that were imported\n");
}

static int write_database(struct replay *replay, const struct spec *spec,
                          const char *path, struct err *err)
{
    struct dbnew *to = NULL;
    int n = 0, rc = dbnew_open(path, &to, err);

    if (rc == 0)
        rc = import_put(dbnew_store(to), spec, replay, &n, err);
    rc = dbnew_close(to, rc, err);
    if (rc == 0)
        say(replay, path, n);
    return rc;
}

/* ---- a T1 file */

static void say_problem(const struct t1 *problem, const char *path)
{
    char *sweep;

    const char *const *notes;
    size_t n = t1_notes(problem, &notes);

    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "note: %s\n", notes[i]);
    if (t1_passing(problem) < 0)
        fprintf(stderr,
                "%s: %" PRId64 " configurations; those that pass the "
                "conditions are too many to count\n",
                path, t1_points(problem));
    else
        fprintf(stderr,
                "%s: %" PRId64 " configuration%s, %" PRId64
                " pass%s the conditions\n",
                path, t1_points(problem), t1_points(problem) == 1 ? "" : "s",
                t1_passing(problem), t1_passing(problem) == 1 ? "es" : "");
    sweep = shell_word(path);
    fprintf(stderr,
            "write reference.cu beside it, then run: fa-coord check %s\n",
            sweep);
    free(sweep);
}

/* What a T1 file leaves out, such as the arguments, has to be written yet. */
static void say_unfinished(const char *path, const struct buf *text)
{
    struct spec *spec = NULL;
    struct err flaw;

    if (spec_parse(".", path, buf_text(text), text->len, &spec, &flaw) < 0)
        fprintf(stderr,
                "note: %s is not complete; fa-coord check refuses it until "
                "you mend this:\n%s\n",
                path, flaw.text);
    spec_free(spec);
}

static int import_problem(const struct settings *settings, struct err *err)
{
    struct t1 *problem = NULL;
    struct buf text;
    int rc;

    if (!settings->sweep)
        return err_set(err, ERR_INPUT,
                       "%s is a T1 file, which has no results; --sweep FILE "
                       "makes a sweep file of it",
                       settings->file);
    rc = is_new(settings->sweep, err);
    if (rc == 0)
        rc = t1_load(settings->file, settings->lenient, &problem, err);
    if (rc < 0)
        return rc;
    buf_init(&text, TEXT_MAX);
    t1_sweep_text(problem, &text);
    rc = outfile_save(settings->sweep, buf_text(&text), text.len, false, err);
    if (rc == 0) {
        say_unfinished(settings->sweep, &text);
        say_problem(problem, settings->sweep);
    }
    buf_fini(&text);
    t1_free(problem);
    return rc;
}

/* ---- a record */

static int import_record(const struct settings *settings, struct err *err)
{
    const struct replay_options options = { .file = settings->file,
                                            .speed_up = 1 };
    struct landscape *read;
    struct replay *replay = NULL;
    struct spec *spec = NULL;
    char *path = NULL;
    int rc;

    if (settings->lenient)
        return err_set(err, ERR_INPUT,
                       "import: --lenient is for the conditions of T1 files");
    rc = record_file_load(settings->file, &read, err);
    if (rc == 0)
        rc = replay_open(&options, &read, &replay, err);
    if (rc == 0 && replay_facts(replay) && !settings->sweep)
        rc = err_set(err, ERR_INPUT,
                     "%s is already a database; report, explain and compare "
                     "read it directly",
                     settings->file);
    if (rc == 0)
        rc = replay_spec(replay, NULL, &spec, err);
    if (rc == 0 && settings->sweep) {
        rc = write_sweep(replay, settings->sweep, err);
    } else if (rc == 0) {
        path = settings->out ? mem_strdup(settings->out)
                             : mem_printf("%s.db", spec->name);
        rc = write_database(replay, spec, path, err);
    }
    free(path);
    spec_free(spec);
    replay_close(replay);
    return rc;
}

static int import(const struct settings *settings, struct err *err)
{
    if (!settings->file)
        return err_set(err, ERR_INPUT,
                       "import: name a Kernel Tuner cache file, a T4 file or a "
                       "T1 file");
    return t1_is(settings->file) ? import_problem(settings, err)
                                 : import_record(settings, err);
}

int cmd_import(int argc, char *argv[])
{
    struct settings settings = { .file = NULL };
    const struct option list[] = {
        { "out", OPTION_TEXT, &settings.out, "DB",
          "the database to make (default: NAME.db here)", "sweep" },
        { "sweep", OPTION_TEXT, &settings.sweep, "FILE",
          "make a sweep file instead: of a record for a replay, of a T1 file "
          "for its kernel",
          "out" },
        { "lenient", OPTION_FLAG, &settings.lenient, NULL,
          "of a T1 file: leave out conditions that cannot be read", NULL },
    };
    const struct options options = {
        .command = "import",
        .arguments = "FILE",
        .what = "Import results of another tuner for report, explain and "
                "compare, or a tuning problem (docs/import.md).",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_max = 1,
        .plain = &settings.file,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = import(&settings, &err);
    return rc ? fail_with(rc, &err) : 0;
}
