/* What a run reads from a record, and from the database that it goes on with.
 */
#include "coordinator/tasks/record_file.h"
#include "coordinator/tasks/run.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/text/json.h"
#include "coordinator/text/shell_word.h"

int run_load_record(struct run *run, struct err *err)
{
    const struct run_settings *set = &run->set;
    const struct replay_options options = { .file = set->record,
                                            .cards = set->cards,
                                            .speed_up = set->speed_up };
    const struct landscape *land;
    struct landscape *read;
    int rc = record_file_load(set->record, &read, err);

    if (rc == 0)
        rc = replay_open(&options, &read, &run->replay, err);
    if (rc == 0)
        rc = replay_spec(run->replay, run->sweep, &run->spec, err);
    if (rc < 0 || set->quiet)
        return rc;
    land = replay_landscape(run->replay);
    fprintf(stderr,
            "replay device: times, failures and builds were recorded on %s; "
            "nothing is measured here\n",
            land->device[0] ? land->device : "an unnamed device");
    if (land->unclosed)
        fprintf(
            stderr,
            "%s ends before its last brace; the entries before that are used\n",
            set->record);
    return 0;
}

static const char *text_of(const struct json *object, const char *key)
{
    const struct json *text = json_find(object, key);

    return text && text->kind == JSON_TEXT && text->text[0] ? text->text : NULL;
}

/* A folder may be moved with all that is in it. */
static void follow(const struct run *run, const char *what, char **file)
{
    char *moved = dbpath_moved(*file, run->db);

    if (!moved)
        return;
    if (!run->set.quiet)
        fprintf(stderr, "the %s is not at %s any more; %s is taken\n", what,
                *file, moved);
    free(*file);
    *file = moved;
}

/* The record, if the stored sweep has one. */
static void recall_record(struct run *run, const char *settings)
{
    struct run_settings *set = &run->set;
    struct json_doc *doc;
    const struct json *recorded, *speed_up;
    const char *file, *cards;

    if (json_parse("settings", settings, strlen(settings), &doc, NULL) < 0)
        return;
    recorded = json_find(json_root(doc), "recorded");
    file = recorded ? text_of(recorded, "file") : NULL;
    if (file) {
        run->was.record = mem_strdup(file);
        follow(run, "record", &run->was.record);
        set->record = run->was.record;
        speed_up = json_find(recorded, "speed_up");
        cards = text_of(recorded, "cards");
        if (set->speed_up < 0 && speed_up)
            set->speed_up = speed_up->number;
        if (!set->cards && cards)
            set->cards = run->was.cards = mem_strdup(cards);
        if (strcmp(file, run->sweep) == 0) { /* no sweep file was given */
            free(run->sweep);
            run->sweep = NULL;
        }
    }
    json_free(doc);
}

/* Its text says how to go on with the file elsewhere. */
static int find_sweep(struct run *run, struct err *err)
{
    char *db;

    if (!run->sweep)
        return 0;
    follow(run, "sweep file", &run->sweep);
    if (access(run->sweep, F_OK) == 0 || errno != ENOENT)
        return 0;
    db = shell_word(run->db);
    (void)err_set(err, ERR_INPUT,
                  "there is no sweep file '%s' any more; put it back, or go on "
                  "with another: fa-coord sweep FILE --db %s",
                  run->sweep, db);
    free(db);
    return ERR_INPUT;
}

/* Settings that were given take precedence. */
static int recall_request(struct run *run, const struct store_request *was,
                          struct err *err)
{
    assert(was->settings); /* the column is never NULL */
    run->sweep = mem_printf("%s/%s", was->folder, was->file);
    run->was.device = mem_strdup(was->device);
    run->was.hosts = mem_strdup(was->hosts_file);
    recall_record(run, was->settings);
    if (!run->set.device)
        run->set.device = run->was.device;
    if (find_sweep(run, err) < 0)
        return ERR_INPUT;
    if (!run->set.hosts) {
        follow(run, "hosts file", &run->was.hosts);
        run->set.hosts = run->was.hosts;
    }
    if (search_settings_recall(was->settings, &run->search_settings,
                               &run->was.strategy, err) < 0)
        return ERR_STORE;
    run->was.searched = true;
    if (was->arch != run->was.arch)
        snprintf(run->was.arch, sizeof(run->was.arch), "%s", was->arch);
    if (gpu_arch_find(run->was.arch))
        run->set.arch = run->was.arch;
    return 0;
}

/* Older databases have no stored request; the sweep itself has the settings.
 * 1, or 0 without a sweep. */
static int find_in_sweep(struct run *run, struct past_runs *past,
                         struct store_request *out, struct err *err)
{
    struct store_sweep row = { .key = NULL };
    int rc = past_runs_sweep(past, &row, err);

    if (rc == 1 && past_runs_asked(&row))
        return err_set(err, ERR_INPUT,
                       "%s holds results of fa-coord fuzz; run that command "
                       "again to continue",
                       run->db);
    if (rc == 1 && past_runs_arch(past, &row, run->was.arch, err) < 0)
        return ERR_STORE;
    *out = (struct store_request){ row.folder, row.file,      row.hosts_file,
                                   row.device, run->was.arch, row.settings };
    return rc;
}

int run_recall(struct run *run, struct err *err)
{
    struct store_request was = { 0 };
    struct past_runs *past = NULL;
    struct store *store;
    int rc = store_open(run->db, STORE_WHOLE, &store, err);

    if (rc < 0)
        return rc;
    rc = past_runs_open(store, &past, err);
    if (rc == 0)
        rc = past_runs_request(past, &was, err);
    if (rc == 0)
        rc = find_in_sweep(run, past, &was, err);
    if (rc == 1)
        rc = recall_request(run, &was, err);
    else if (rc == 0)
        rc = err_set(err, ERR_INPUT,
                     "%s holds no sweep yet; start one with fa-coord sweep",
                     run->db);
    past_runs_close(past);
    store_close(store);
    return rc;
}
