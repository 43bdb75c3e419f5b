/* Shared by the commands that can use a record instead of GPUs. */
#include "coordinator/tasks/record_file.h"
#include "coordinator/tasks/run.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"
#include "coordinator/text/json.h"

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

void run_recall_record(struct run *run, const char *settings)
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
