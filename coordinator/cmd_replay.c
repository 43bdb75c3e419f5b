/* What the commands share that may be answered from a record. */
#include "coordinator/cmd_run.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/mem.h"
#include "coordinator/replay.h"
#include "coordinator/spec.h"

#define REPLAY "replay"
#define SPEED_UP_MOST 1e9

int run_choose_record(struct run *run, struct err *err)
{
    struct run_settings *set = &run->set;
    const char *device = set->device ? set->device : "";
    bool is_replay = strcmp(device, REPLAY) == 0;

    if (strncmp(device, REPLAY "=", strlen(REPLAY "=")) == 0) {
        set->record = device + strlen(REPLAY "=");
        set->device = REPLAY;
        is_replay = true;
    }
    if (!is_replay && (set->speed_up > 0 || set->cards))
        return err_set(err, ERR_INPUT,
                       "--%s is for a replay: --device replay=FILE",
                       set->cards ? "cards" : "speed-up");
    if (!is_replay)
        return 0;
    if (run->runs_kernels)
        return err_set(err, ERR_INPUT,
                       "--device=replay: a record has times and failures, no "
                       "kernels that could be run");
    if (!set->record || !set->record[0])
        return err_set(err, ERR_INPUT,
                       "--device=replay: say which record: --device "
                       "replay=FILE, a cache of Kernel Tuner or the database "
                       "of a sweep");
    if (set->speed_up > SPEED_UP_MOST)
        return err_set(err, ERR_INPUT, "--speed-up=%g: at most %g",
                       set->speed_up, SPEED_UP_MOST);
    if (set->speed_up <= 0)
        set->speed_up = 1;
    return 0;
}

int run_load_record(struct run *run, struct err *err)
{
    const struct run_settings *set = &run->set;
    const struct replay_options options = { .file = set->record,
                                            .cards = set->cards,
                                            .speed_up = set->speed_up };
    const struct landscape *land;
    int rc = replay_open(&options, &run->replay, err);

    if (rc == 0)
        rc = replay_spec(run->replay, run->sweep, &run->spec, err);
    if (rc < 0 || set->quiet)
        return rc;
    land = replay_landscape(run->replay);
    fprintf(stderr,
            "replay device: times, failures and builds are those recorded on "
            "%s; nothing is measured here\n",
            land->device[0] ? land->device : "an unnamed device");
    if (land->unclosed)
        fprintf(stderr, "%s ends before its last brace; what it has is used\n",
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
        run->was_record = mem_strdup(file);
        set->record = run->was_record;
        speed_up = json_find(recorded, "speed_up");
        cards = text_of(recorded, "cards");
        if (set->speed_up <= 0 && speed_up)
            set->speed_up = speed_up->number;
        if (!set->cards && cards)
            set->cards = run->was_cards = mem_strdup(cards);
        if (strcmp(file, run->sweep) == 0) { /* no sweep file was given */
            free(run->sweep);
            run->sweep = NULL;
        }
    }
    json_free(doc);
}
