#include "coordinator/replay/replay_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/replay/gpu_variation.h"
#include "coordinator/spec/spec.h"
#include "coordinator/text/json_out.h"

#define TEXT_MAX (8 << 20)

static char *absolute(const char *path)
{
    char resolved[PATH_MAX];

    return mem_strdup(realpath(path, resolved) ? resolved : path);
}

int replay_open(const struct replay_options *options, struct landscape **land,
                struct replay **out, struct err *err)
{
    struct replay *replay;
    int rc = 0;

    replay = mem_new(1, sizeof(*replay));
    replay->land = *land;
    *land = NULL;
    if (replay->land->best < 0)
        rc = err_set(err, ERR_INPUT,
                     "%s: no configuration has a time, so there is nothing to "
                     "search for",
                     options->file);
    if (rc == 0)
        landscape_fit_names(replay->land);
    if (rc == 0 && options->cards)
        rc = gpu_variation_load(options->cards, &replay->cards, err);
    replay->path = absolute(options->file);
    replay->cards_path =
        options->cards ? absolute(options->cards) : mem_strdup("");
    replay->speed_up = options->speed_up;
    snprintf(replay->flag, sizeof(replay->flag), "%.17g", options->speed_up);
    if (rc < 0)
        replay_close(replay);
    else
        *out = replay;
    return rc;
}

void replay_close(struct replay *replay)
{
    if (!replay)
        return;
    replay_unbind(replay);
    landscape_free(replay->land);
    gpu_variation_free(replay->cards);
    free(replay->asked);
    free(replay->path);
    free(replay->cards_path);
    free(replay);
}

const char *replay_path(const struct replay *replay)
{
    return replay->path;
}

const char *replay_cards(const struct replay *replay)
{
    return replay->cards_path;
}

double replay_speed_up(const struct replay *replay)
{
    return replay->speed_up;
}

const char *replay_flag(const struct replay *replay)
{
    return replay->flag;
}

const char *replay_device(const struct replay *replay)
{
    return replay->land->device;
}

const char *replay_device_shown(const struct replay *replay)
{
    const char *device = replay_device(replay);

    return device && *device ? device : "an unnamed device";
}

const struct gpu_arch_facts *replay_facts(const struct replay *replay)
{
    return replay->land->facts;
}

const struct landscape *replay_landscape(const struct replay *replay)
{
    return replay->land;
}

char *replay_json(const struct replay *replay)
{
    char *text = NULL;
    size_t len;
    FILE *to = mem_stream(&text, &len);
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "file", replay->path);
    json_out_text(&out, "cards", replay->cards_path);
    json_out_real(&out, "speed_up", replay->speed_up);
    json_out_text(&out, "device", replay->land->device);
    json_out_text(&out, "kernel", replay->land->kernel);
    if (replay->land->problem)
        json_out_raw(&out, "problem", replay->land->problem);
    json_out_close(&out);
    mem_stream_close(to, &text);
    return text;
}

int replay_spec(struct replay *replay, const char *sweep, struct spec **out,
                struct err *err)
{
    struct buf text;
    int rc;

    if (sweep) {
        rc = spec_load_alone(sweep, out, err);
        if (rc == 0)
            spec_for_record(*out);
    } else {
        const char *slash = strrchr(replay->path, '/');
        char *folder = mem_dup(replay->path, (size_t)(slash - replay->path));

        buf_init(&text, TEXT_MAX);
        replay_sweep_text(replay, &text);
        rc = spec_parse(folder[0] ? folder : "/", slash + 1, buf_text(&text),
                        text.len, out, err);
        buf_fini(&text);
        free(folder);
    }
    if (rc < 0)
        return rc;
    rc = replay_bind(replay, *out, err);
    (*out)->replay = replay;
    if (rc < 0) {
        replay_unbind(replay);
        spec_free(*out);
        *out = NULL;
    }
    return rc;
}
