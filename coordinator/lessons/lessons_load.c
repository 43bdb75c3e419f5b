#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/lessons/lessons_input.h"
#include "coordinator/result/evidence.h"
#include "coordinator/result/report.h"
#include "coordinator/spec/spec.h"

#define VALUE_BYTES_MAX 4096

/* The values of one axis while they are collected. */
struct values {
    char **texts;
    double *numbers; /* NAN: a text */
    size_t n, n_space;
};

struct loading {
    const struct report *report;
    struct spec *spec;
    struct values values[SPEC_AXES_MAX];
    struct lessons_axis axes[SPEC_AXES_MAX];
    const char *gates[SPEC_LIST_MAX];
    size_t n_gates;
    struct lessons_point *points;
    uint16_t *levels;
    const struct report_config **by_key; /* of the points, sorted */
    size_t n;
    char (*artifacts)[HASH_HEX]; /* in the order of 'by_key' */
};

/* ---- axes: the values of the space, and those of a baseline outside it */

static void add_value(struct values *values, const char *text, double number)
{
    values->texts =
        mem_grow(values->texts, values->n + 1, sizeof(*values->texts));
    values->numbers =
        mem_grow(values->numbers, values->n + 1, sizeof(*values->numbers));
    values->texts[values->n] = mem_strdup(text);
    values->numbers[values->n++] = number;
}

static void take_axes(struct loading *loading)
{
    struct buf text;

    buf_init(&text, VALUE_BYTES_MAX);
    for (size_t a = 0; a < loading->spec->space.n_axes; a++) {
        const struct spec_axis *axis = &loading->spec->space.axes[a];

        for (size_t v = 0; v < axis->n; v++) {
            buf_clear(&text);
            value_text(&axis->values[v], &text);
            add_value(&loading->values[a], buf_text(&text),
                      value_number(&axis->values[v]));
        }
        loading->values[a].n_space = axis->n;
    }
    buf_fini(&text);
}

static uint16_t level_of(struct values *values,
                         const struct stored_param *param)
{
    bool is_text = param->type == STORED_PARAM_TEXT;
    size_t v = 0;

    while (v < values->n &&
           (is_text ? strcmp(values->texts[v], param->text) != 0
                    : values->numbers[v] != param->number))
        v++;
    if (v == values->n && v < UINT16_MAX)
        add_value(values, param->text, is_text ? (double)NAN : param->number);
    return (uint16_t)v;
}

/* ---- points */

static enum lessons_fate fate_of(const struct report_config *config)
{
    if (config->outcome == OUTCOME_PENDING || config->outcome == OUTCOME_LOST)
        return LESSONS_PENDING;
    if (config->outcome != OUTCOME_CORRECT)
        return LESSONS_FAILED;
    return config->rank && config->cells[0].time_s > 0 ? LESSONS_TIMED
                                                       : LESSONS_PENDING;
}

static uint64_t warned_of(const struct loading *loading, const char *warnings)
{
    uint64_t warned = 0;

    for (size_t g = 0; g < loading->n_gates; g++) {
        char *quoted = mem_printf("\"%s\"", loading->gates[g]);

        if (strstr(warnings, quoted))
            warned |= UINT64_C(1) << g;
        free(quoted);
    }
    return warned;
}

static int take_point(struct loading *loading,
                      const struct report_config *config, struct err *err)
{
    struct lessons_point *point = &loading->points[loading->n];
    uint16_t *levels =
        loading->levels + loading->n * loading->spec->space.n_axes;

    for (size_t a = 0; a < loading->spec->space.n_axes; a++) {
        const char *name = loading->spec->space.axes[a].name;
        const struct stored_param *param =
            stored_params_find_at(&config->params, a, name);

        if (!param)
            return err_set(err, ERR_STORE,
                           "a stored configuration has no value for '%s'",
                           name);
        levels[a] = level_of(&loading->values[a], param);
    }
    *point = (struct lessons_point){
        .levels = levels,
        .fate = fate_of(config),
        .seconds = config->cells[0].time_s,
        .outcome = outcome_name(config->outcome),
        .reason = config->reason,
        .warned = warned_of(loading, config->warnings),
        .number = config->point,
    };
    loading->by_key[loading->n++] = config;
    return 0;
}

static int take_points(struct loading *loading, struct err *err)
{
    const struct report *report = loading->report;
    int rc = 0;

    loading->points = mem_new(report->n_configs + 1, sizeof(*loading->points));
    loading->by_key = mem_new(report->n_configs + 1, sizeof(*loading->by_key));
    loading->levels =
        mem_new(report->n_configs * loading->spec->space.n_axes + 1,
                sizeof(*loading->levels));
    for (size_t g = 0; g < report->n_gates; g++)
        if (strcmp(report->gates[g].kind, "warn") == 0 &&
            loading->n_gates < SPEC_LIST_MAX)
            loading->gates[loading->n_gates++] = report->gates[g].name;
    for (size_t i = 0; rc == 0 && i < report->n_configs; i++)
        if (report->configs[i].selected)
            rc = take_point(loading, &report->configs[i], err);
    return rc;
}

/* ---- machine code: from the newest build of each from the current sources */

struct place {
    const char *key;
    size_t at;
    int64_t received_utc; /* of the newest build so far */
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->key,
                  ((const struct place *)b)->key);
}

static struct place *places_of(const struct loading *loading)
{
    struct place *places = mem_new(loading->n + 1, sizeof(*places));

    for (size_t i = 0; i < loading->n; i++)
        places[i] = (struct place){ loading->by_key[i]->key, i, INT64_MIN };
    if (loading->n)
        qsort(places, loading->n, sizeof(*places), by_key);
    return places;
}

struct taking {
    struct loading *loading;
    struct place *places;
};

static void take_artifact(void *arg, const struct evidence_artifact *artifact)
{
    const struct taking *taking = arg;
    struct loading *loading = taking->loading;
    const struct place key = { artifact->config, 0, 0 };
    struct place *place = loading->n ? bsearch(&key, taking->places, loading->n,
                                               sizeof(key), by_key)
                                     : NULL;

    if (!place || artifact->received_utc < place->received_utc ||
        strcmp(loading->by_key[place->at]->source_key, artifact->source_key) !=
            0)
        return;
    place->received_utc = artifact->received_utc;
    snprintf(loading->artifacts[place->at], HASH_HEX, "%s", artifact->artifact);
    loading->points[place->at].artifact = loading->artifacts[place->at];
}

static int take_artifacts(struct loading *loading, struct store *store,
                          struct err *err)
{
    struct taking taking = { loading, places_of(loading) };
    int rc;

    loading->artifacts = mem_new(loading->n + 1, HASH_HEX);
    rc = evidence_artifacts(store, take_artifact, &taking, err);
    free(taking.places);
    return rc;
}

/* ---- the whole */

static void learn(struct loading *loading, struct lessons *out)
{
    struct lessons_input input = { loading->axes,   loading->spec->space.n_axes,
                                   loading->points, loading->n,
                                   loading->gates,  loading->n_gates };

    for (size_t a = 0; a < input.n_axes; a++)
        loading->axes[a] = (struct lessons_axis){
            loading->spec->space.axes[a].name,
            (const char *const *)loading->values[a].texts,
            loading->values[a].n,
            loading->values[a].n_space,
        };
    lessons_of(&input, out);
}

static void unload(struct loading *loading)
{
    for (size_t a = 0; a < SPEC_AXES_MAX; a++) {
        for (size_t v = 0; v < loading->values[a].n; v++)
            free(loading->values[a].texts[v]);
        free(loading->values[a].texts);
        free(loading->values[a].numbers);
    }
    free(loading->points);
    free(loading->by_key);
    free(loading->levels);
    free(loading->artifacts);
    spec_free(loading->spec);
    free(loading);
}

int lessons_load(const struct report *report, struct store *store,
                 struct lessons *out, struct err *err)
{
    struct loading *loading = mem_new(1, sizeof(*loading));
    int rc =
        spec_parse(report->file.folder, report->file.name, report->file.text,
                   strlen(report->file.text), &loading->spec, err);

    *out = (struct lessons){ .timed = 0 };
    loading->report = report;
    if (rc < 0)
        err_within(err, rc, "the stored sweep");
    if (rc == 0) {
        take_axes(loading);
        rc = take_points(loading, err);
    }
    if (rc == 0 &&
        !report->sweep.recorded_on) /* a record has no machine code */
        rc = take_artifacts(loading, store, err);
    if (rc == 0)
        learn(loading, out);
    unload(loading);
    return rc;
}
