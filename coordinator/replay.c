#include "coordinator/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/cards.h"
#include "coordinator/config.h"
#include "coordinator/domain.h"
#include "coordinator/json_out.h"
#include "coordinator/spec.h"

#define RECORD_SAMPLES 1000 /* worker/runner/record.h */
#define TEXT_MAX (8 << 20)
#define DRAW_DIGITS 15 /* hex digits of a hash that fit an int64 */

/* A GPU and how often it was asked to measure, in this run. */
struct asked {
    char host[256];
    int gpu;
    long n;
};

struct replay {
    char *path, *cards_path;
    struct cards *cards;
    double speed_up;
    char flag[32]; /* the speed-up as text */
    struct landscape *land;
    const struct spec *spec; /* once bound */
    size_t n_axes;   /* of the spec, which may be gone when this is closed */
    int *tunable_of; /* of each axis of the spec */
    int **level_of;  /* [axis][value of the axis]: level of the tunable or -1 */
    int **value_of;  /* [axis][level]: value of the axis or -1 */
    int *configs, n; /* points whose values all stand in the sweep file */
    struct asked *asked;
    size_t n_asked;
};

static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof(magic)] = "";
    FILE *file = fopen(path, "re");
    bool is = file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
              memcmp(head, magic, sizeof(magic)) == 0;

    if (file)
        fclose(file);
    return is;
}

static char *absolute(const char *path)
{
    char resolved[PATH_MAX];

    return mem_strdup(realpath(path, resolved) ? resolved : path);
}

int replay_open(const struct replay_options *options, struct replay **out,
                struct err *err)
{
    struct replay *replay;
    int rc;

    if (access(options->file, R_OK) < 0)
        return err_set(err, ERR_INPUT, "%s: %s", options->file,
                       strerror(errno));
    replay = mem_new(1, sizeof(*replay));
    rc = is_database(options->file)
             ? landscape_of_database(options->file, &replay->land, err)
             : landscape_load(options->file, &replay->land, err);

    if (rc == 0 && replay->land->best < 0)
        rc = err_set(err, ERR_INPUT,
                     "%s: no configuration of it has a time: there is nothing "
                     "to find",
                     options->file);
    if (rc == 0)
        landscape_fit_names(replay->land);
    if (rc == 0 && options->cards)
        rc = cards_load(options->cards, &replay->cards, err);
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

static void unbind(struct replay *replay)
{
    for (size_t a = 0; a < replay->n_axes; a++) {
        free(replay->level_of[a]);
        free(replay->value_of[a]);
    }
    free(replay->level_of);
    free(replay->value_of);
    free(replay->tunable_of);
    free(replay->configs);
    replay->level_of = replay->value_of = NULL;
    replay->tunable_of = replay->configs = NULL;
    replay->n_axes = 0;
    replay->spec = NULL;
}

void replay_close(struct replay *replay)
{
    if (!replay)
        return;
    unbind(replay);
    landscape_free(replay->land);
    cards_free(replay->cards);
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

const struct arch_facts *replay_facts(const struct replay *replay)
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
    FILE *to = open_memstream(&text, &len);
    struct json_out out;

    if (!to)
        abort();
    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "file", replay->path);
    json_out_text(&out, "cards", replay->cards_path);
    json_out_real(&out, "speed_up", replay->speed_up);
    json_out_text(&out, "device", replay->land->device);
    json_out_close(&out);
    fclose(to);
    return text;
}

/* ---- the sweep file and the record, tunable by tunable */

static bool is_level(const struct landscape_tunable *tunable, int level,
                     const struct value *value)
{
    const char *text = tunable->texts[level];
    double number = tunable->numbers[level];

    if (value->kind == VALUE_TEXT)
        return strcmp(text, value->text) == 0;
    if (!isnan(number))
        return number == value_number(value);
    return value->kind == VALUE_BOOL &&
           strcmp(text, value->integer ? "true" : "false") == 0;
}

static int *new_indices(size_t n)
{
    int *indices = mem_new(n, sizeof(*indices));

    for (size_t i = 0; i < n; i++)
        indices[i] = -1;
    return indices;
}

static void bind_axis(struct replay *replay, size_t a)
{
    const struct spec_axis *axis = &replay->spec->axes[a];
    const struct landscape_tunable *tunable =
        &replay->land->tunables[replay->tunable_of[a]];

    for (size_t v = 0; v < axis->n; v++)
        for (int level = 0; level < tunable->n; level++)
            if (is_level(tunable, level, &axis->values[v])) {
                replay->level_of[a][v] = level;
                replay->value_of[a][level] = (int)v;
            }
}

static int find_tunable(const struct landscape *land, const char *name)
{
    for (int t = 0; t < land->tunables_n; t++)
        if (strcmp(land->tunables[t].name, name) == 0)
            return t;
    return -1;
}

static bool stands_in_spec(const struct replay *replay, int point)
{
    const uint16_t *levels = domain_point(replay->land->domain, point);

    for (size_t a = 0; a < replay->spec->n_axes; a++)
        if (replay->value_of[a][levels[replay->tunable_of[a]]] < 0)
            return false;
    return true;
}

static int find_axes(struct replay *replay, struct err *err)
{
    const struct spec *spec = replay->spec;
    const struct landscape *land = replay->land;

    for (size_t a = 0; a < spec->n_axes; a++) {
        int t = find_tunable(land, spec->axes[a].name);

        if (t < 0)
            return spec_err(spec, spec->axes[a].at, err,
                            "a sweep file for a replay has the tunables of "
                            "the record; `fa-coord import FILE --sweep "
                            "SWEEP.json` makes one",
                            "the record has no tunable '%s'",
                            spec->axes[a].name);
        replay->tunable_of[a] = t;
        replay->level_of[a] = new_indices(spec->axes[a].n);
        replay->value_of[a] = new_indices((size_t)land->tunables[t].n);
        bind_axis(replay, a);
    }
    for (int t = 0; t < land->tunables_n; t++) {
        size_t a = 0;

        while (a < spec->n_axes && replay->tunable_of[a] != t)
            a++;
        if (a == spec->n_axes)
            return spec_err(spec, spec->tunables_at, err,
                            "a configuration of the record is known by all "
                            "of its tunables",
                            "the record's tunable '%s' is missing",
                            land->tunables[t].name);
    }
    return 0;
}

/* In the sweep's own order: the last tunable is the fastest. */
static int by_values(const void *a, const void *b, void *arg)
{
    const struct replay *replay = arg;
    const uint16_t *x = domain_point(replay->land->domain, *(const int *)a);
    const uint16_t *y = domain_point(replay->land->domain, *(const int *)b);

    for (size_t i = 0; i < replay->spec->n_axes; i++) {
        int t = replay->tunable_of[i];
        int v = replay->value_of[i][x[t]], w = replay->value_of[i][y[t]];

        if (v != w)
            return v < w ? -1 : 1;
    }
    return 0;
}

static int bind(struct replay *replay, const struct spec *spec, struct err *err)
{
    int size = domain_size(replay->land->domain);
    int rc;

    replay->spec = spec;
    replay->n_axes = spec->n_axes;
    replay->tunable_of = mem_new(spec->n_axes, sizeof(int));
    replay->level_of = mem_new(spec->n_axes, sizeof(int *));
    replay->value_of = mem_new(spec->n_axes, sizeof(int *));
    replay->configs = mem_new((size_t)size, sizeof(int));
    replay->n = 0;
    rc = find_axes(replay, err);
    for (int point = 0; rc == 0 && point < size; point++)
        if (stands_in_spec(replay, point))
            replay->configs[replay->n++] = point;
    if (rc == 0 && replay->n == 0)
        rc = spec_err(spec, spec->tunables_at, err,
                      "the values of a replay are those of the record",
                      "no recorded configuration has these values");
    if (rc == 0)
        qsort_r(replay->configs, (size_t)replay->n, sizeof(int), by_values,
                replay);
    return rc;
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
    rc = bind(replay, *out, err);
    (*out)->replay = replay;
    if (rc < 0) {
        unbind(replay);
        spec_free(*out);
        *out = NULL;
    }
    return rc;
}

int replay_size(const struct replay *replay)
{
    return replay->n;
}

void replay_values(const struct replay *replay, int i, struct value *values)
{
    const struct spec *spec = replay->spec;
    const uint16_t *levels =
        domain_point(replay->land->domain, replay->configs[i]);

    for (size_t a = 0; a < spec->n_axes; a++)
        values[a] =
            spec->axes[a]
                .values[replay->value_of[a][levels[replay->tunable_of[a]]]];
}

/* ---- records */

static int find_value(const struct spec_axis *axis, const struct value *value)
{
    for (size_t v = 0; v < axis->n; v++)
        if (value_equal(&axis->values[v], value))
            return (int)v;
    return -1;
}

const struct landscape_config *replay_config(const struct replay *replay,
                                             const struct value *values)
{
    const struct spec *spec = replay->spec;
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    int point;

    for (size_t a = 0; a < spec->n_axes; a++) {
        int v = find_value(&spec->axes[a], &values[a]);

        if (v < 0 || replay->level_of[a][v] < 0)
            return NULL;
        levels[replay->tunable_of[a]] = (uint16_t)replay->level_of[a][v];
    }
    point = domain_find(replay->land->domain, levels);
    return point < 0 ? NULL : &replay->land->configs[point];
}

/* One line, whatever a compiler said. */
static void put_reason(const struct replay *replay,
                       const struct landscape_config *config, struct buf *out)
{
    buf_printf(out, "reason ");
    if (!config->reason || !config->reason[0])
        buf_printf(out, "recorded as '%s'%s%s, no more is known",
                   landscape_outcome_name(config->outcome),
                   replay->land->device[0] ? " on " : "", replay->land->device);
    for (const char *at = config->reason; at && *at; at++)
        buf_add(out, (unsigned char)*at < ' ' ? " " : at, 1);
    buf_printf(out, "\n");
}

static void put_samples(const struct replay *replay,
                        const struct landscape_config *config, struct buf *out)
{
    for (int i = 0; i < config->samples_n && i < RECORD_SAMPLES; i++)
        buf_printf(out, "sample %.17g\n",
                   replay->land->samples[config->sample_at + (size_t)i]);
    if (config->samples_n == 0)
        buf_printf(out, "sample %.17g\n", config->time_s);
}

int replay_record(const struct replay *replay, const struct value *values,
                  struct buf *out, struct err *err)
{
    const struct landscape_config *config =
        values ? replay_config(replay, values) : NULL;

    buf_clear(out);
    buf_printf(out, "record 1\n");
    if (!values) {
        buf_printf(out, "outcome reference\n");
        return 0;
    }
    buf_printf(out, "config ");
    config_text(replay->spec, values, out);
    if (!config)
        return err_set(err, ERR_INPUT,
                       "%s is not in the record, so it cannot be replayed",
                       strrchr(buf_text(out), '\n') + strlen("\nconfig "));
    buf_printf(out, "\noutcome %s\n", landscape_outcome_name(config->outcome));
    if (config->outcome != LANDSCAPE_TIMED)
        put_reason(replay, config, out);
    buf_printf(out, "build_s %.17g\nverify_s %.17g\nbench_s %.17g\n",
               config->compile_s, config->verify_s, config->bench_s);
    if (config->outcome == LANDSCAPE_TIMED)
        put_samples(replay, config, out);
    return 0;
}

/* ---- requests */

void replay_put_launch(struct buf *request)
{
    buf_printf(request, "measure\nentry " REPLAY_ENTRY "\ngrid 1 1 1\nblock 1 "
                        "1 1\nsmem 0\narg result fp32 buffer 1 zeros 1 out\n"
                        "reference " REPLAY_ENTRY " 1 1 1 1 1 1 0\n");
}

static long count_of(struct replay *replay, const char *host, int gpu)
{
    size_t i = 0;

    while (i < replay->n_asked && (replay->asked[i].gpu != gpu ||
                                   strcmp(replay->asked[i].host, host) != 0))
        i++;
    if (i == replay->n_asked) {
        replay->asked =
            mem_grow(replay->asked, ++replay->n_asked, sizeof(*replay->asked));
        replay->asked[i] = (struct asked){ .gpu = gpu };
        snprintf(replay->asked[i].host, sizeof(replay->asked[i].host), "%s",
                 host);
    }
    return replay->asked[i].n++;
}

/* The samples of a measurement depend on what it is, not on who makes it or
 * how often it was tried. */
static int64_t draw_of(const struct replay *replay,
                       const struct msg_identity *id)
{
    char text[HASH_HEX], digits[DRAW_DIGITS + 1];
    struct hash hash;

    hash_init(&hash);
    hash_field(&hash, &replay->spec->measure.seed,
               sizeof(replay->spec->measure.seed));
    hash_text(&hash, id->config);
    hash_text(&hash, id->shape);
    hash_text(&hash, id->purpose);
    hash_field(&hash, &id->round, sizeof(id->round));
    hash_end(&hash, text);
    snprintf(digits, sizeof(digits), "%s", text);
    return (int64_t)strtoll(digits, NULL, 16);
}

void replay_put_arguments(struct replay *replay, const struct msg_identity *id,
                          const char *host, int gpu, struct buf *request)
{
    buf_printf(
        request,
        "arg draw int64 scalar %" PRId64 "\narg factor fp64 scalar "
        "%.17g\narg speed_up fp64 scalar %.17g\n",
        draw_of(replay, id),
        cards_factor(replay->cards, host, gpu, count_of(replay, host, gpu)),
        replay->speed_up);
}

/* What a recorded benchmark took beside its samples. */
static double overhead(const struct replay *replay,
                       const struct landscape_config *config)
{
    double left = config->bench_s;

    for (int i = 0; i < config->samples_n; i++)
        left -= replay->land->samples[config->sample_at + (size_t)i];
    return fmax(left, 0);
}

void replay_restate(const struct replay *replay, const struct value *values,
                    struct msg *msg)
{
    const struct landscape_config *config = replay_config(replay, values);
    double samples_s = 0;

    if (!config)
        return;
    if (msg->type == MSG_BUILT) {
        if (!msg->cached)
            msg->seconds = config->compile_s;
        return;
    }
    for (size_t i = 0; i < msg->samples.n; i++)
        samples_s += msg->samples.items[i];
    msg->held_s = config->verify_s + overhead(replay, config) + samples_s;
    if (msg->samples.n) /* a warm-up takes as long as a sample */
        msg->held_s +=
            replay->spec->measure.warmups * samples_s / (double)msg->samples.n;
    msg->seconds = msg->held_s;
}
