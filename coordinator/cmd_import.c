/* fa-coord import: what another tuner recorded, as a database or sweep file. */
#include "coordinator/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/import.h"
#include "coordinator/options.h"
#include "coordinator/replay.h"
#include "coordinator/spec.h"
#include "coordinator/store.h"

#define TEXT_MAX (8 << 20)

struct settings {
    const char *file, *out, *sweep;
};

static int is_new(const char *path, struct err *err)
{
    if (access(path, F_OK) < 0)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s is there already; name another file, or remove it",
                   path);
}

static int write_sweep(const struct replay *replay, const char *path,
                       struct err *err)
{
    struct buf text;
    FILE *to;
    int rc = is_new(path, err);

    if (rc < 0)
        return rc;
    buf_init(&text, TEXT_MAX);
    replay_sweep_text(replay, &text);
    to = fopen(path, "wxe");
    if (!to || fputs(buf_text(&text), to) < 0)
        rc = err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (to && fclose(to) != 0 && rc == 0)
        rc = err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    buf_fini(&text);
    if (rc == 0)
        fprintf(stderr,
                "%s: to sweep it: fa-coord sweep %s --device replay=%s\n", path,
                path, replay_path(replay));
    return rc;
}

static void say(const struct replay *replay, const char *path, int n)
{
    const struct landscape *land = replay_landscape(replay);

    fprintf(stderr, "%s: %d configurations, recorded on %s\n", path, n,
            land->device[0] ? land->device : "an unnamed device");
    if (land->repeated)
        fprintf(stderr, "%d came again in the file; the first counts\n",
                land->repeated);
    if (land->unclosed)
        fprintf(stderr, "the file ends before its last brace; what it has is "
                        "in\n");
}

static int write_database(struct replay *replay, const struct spec *spec,
                          const char *path, struct err *err)
{
    struct store *store = NULL;
    int n = 0, rc = is_new(path, err);

    if (rc == 0)
        rc = store_open(path, STORE_CREATE, &store, err);
    if (rc == 0)
        rc = import_put(store, spec, replay, &n, err);
    if (rc == 0)
        say(replay, path, n);
    store_close(store);
    return rc;
}

static int import(const struct settings *settings, struct err *err)
{
    const struct replay_options options = { .file = settings->file,
                                            .speed_up = 1 };
    struct replay *replay = NULL;
    struct spec *spec = NULL;
    char *path = NULL;
    int rc;

    if (!settings->file)
        return err_set(err, ERR_INPUT,
                       "import: name the file, a cache of Kernel Tuner");
    rc = replay_open(&options, &replay, err);
    if (rc == 0 && replay_facts(replay) && !settings->sweep)
        rc = err_set(err, ERR_INPUT,
                     "%s is a database already: report, explain and compare "
                     "read it as it is",
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

int cmd_import(int argc, char *argv[])
{
    struct settings settings = { .file = NULL };
    const struct option list[] = {
        { "out", OPTION_TEXT, &settings.out, "DB",
          "the database to make; NAME.db here", "sweep" },
        { "sweep", OPTION_TEXT, &settings.sweep, "FILE",
          "make a sweep file instead, to replay it with settings", "out" },
    };
    const struct options options = {
        .command = "import",
        .arguments = "FILE",
        .what = "What another tuner measured, to report, explain and compare "
                "(docs/import.md).",
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
    return rc ? cmd_fail(rc, &err) : 0;
}
