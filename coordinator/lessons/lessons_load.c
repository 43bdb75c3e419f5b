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
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/survey/survey.h"
#include "coordinator/survey/survey_id.h"

#define VALUE_BYTES_MAX 4096

/* The values of one axis while they are collected. */
struct values {
    char **texts;
    double *numbers; /* NAN: a text */
    size_t n, n_space;
};

struct loading {
    const struct report *report;
    struct survey *survey; /* NULL: the report has all */
    struct store *store;
    struct spec *spec;
    struct values values[SPEC_AXES_MAX];
    struct lessons_axis axes[SPEC_AXES_MAX];
    const char *gates[SPEC_LIST_MAX];
    size_t n_gates;
    struct lessons_point *points;
    uint16_t *levels;
    size_t n;
    struct lessons_reason *failures;
    size_t n_failures, cap_failures;
    uint64_t *warned; /* sets of gates */
    size_t n_warned;
    uint32_t *artifacts; /* [n]; NULL: none are known */
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

static enum lessons_fate fate_of(const struct survey_row *row)
{
    if (row->outcome == OUTCOME_PENDING || row->outcome == OUTCOME_LOST)
        return LESSONS_PENDING;
    if (row->outcome != OUTCOME_CORRECT)
        return LESSONS_FAILED;
    return row->ranked && row->time_s > 0 ? LESSONS_TIMED : LESSONS_PENDING;
}

static uint64_t gates_of(const struct loading *loading, const char *warnings)
{
    uint64_t warned = 0;

    for (size_t g = 0; strchr(warnings, '"') && g < loading->n_gates; g++) {
        char *quoted = mem_printf("\"%s\"", loading->gates[g]);

        if (strstr(warnings, quoted))
            warned |= UINT64_C(1) << g;
        free(quoted);
    }
    return warned;
}

/* There are few sets of gates; the last one comes again most often. */
static uint32_t warned_of(struct loading *loading, const char *warnings)
{
    uint64_t warned = gates_of(loading, warnings);
    size_t i = loading->n_warned;

    while (i > 0 && loading->warned[i - 1] != warned)
        i--;
    if (i > 0)
        return (uint32_t)i - 1;
    loading->warned = mem_grow(loading->warned, loading->n_warned + 1,
                               sizeof(*loading->warned));
    loading->warned[loading->n_warned] = warned;
    return (uint32_t)loading->n_warned++;
}

static uint32_t failure_of(struct loading *loading,
                           const struct survey_row *row)
{
    if (loading->n_failures == loading->cap_failures) {
        loading->cap_failures =
            loading->cap_failures ? 2 * loading->cap_failures : 64;
        loading->failures = mem_grow(loading->failures, loading->cap_failures,
                                     sizeof(*loading->failures));
    }
    loading->failures[loading->n_failures] =
        (struct lessons_reason){ outcome_name(row->outcome), row->reason };
    return (uint32_t)loading->n_failures++;
}

static int take_levels(struct loading *loading, size_t at,
                       const struct stored_params *params, struct err *err)
{
    const struct spec_axis *axes = loading->spec->space.axes;
    uint16_t *levels = loading->levels + at * loading->spec->space.n_axes;

    for (size_t a = 0; a < loading->spec->space.n_axes; a++) {
        const struct stored_param *param =
            stored_params_find_at(params, a, axes[a].name);

        if (!param)
            return err_set(err, ERR_STORE,
                           "a stored configuration has no value for '%s'",
                           axes[a].name);
        levels[a] = level_of(&loading->values[a], param);
    }
    return 0;
}

static void take_point(struct loading *loading, size_t at,
                       const struct survey_row *row, const char *warnings)
{
    enum lessons_fate fate = fate_of(row);

    loading->points[at] = (struct lessons_point){
        .fate = (unsigned char)fate,
        .seconds = row->time_s,
        .failure = fate == LESSONS_FAILED ? failure_of(loading, row) : 0,
        .warned = warned_of(loading, warnings),
        .number = row->point,
        .artifact = loading->artifacts ? loading->artifacts[at] : 0,
    };
}

static int take_report(struct loading *loading, struct err *err)
{
    const struct report *report = loading->report;
    size_t at = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];
        struct survey_row row = { .point = config->point,
                                  .outcome = config->outcome,
                                  .ranked = config->rank > 0,
                                  .time_s = config->cells[0].time_s,
                                  .reason = config->reason };

        if (!config->selected)
            continue;
        rc = take_levels(loading, at, &config->params, err);
        take_point(loading, at++, &row, config->warnings);
    }
    return rc;
}

/* ---- points of a survey, in the order of the database */

#define CONFIG(member) ROW_AT(struct config_row, member, TEXT)
struct config_row {
    const char *key, *params, *warnings;
};
static const struct row_column config_columns[] = { CONFIG(key), CONFIG(params),
                                                    CONFIG(warnings) };
static const struct row_shape config_shape = ROW_SHAPE(NULL, config_columns);

static int take_params(struct loading *loading, size_t at, const char *json,
                       struct err *err)
{
    struct stored_params params;
    int rc = stored_params_parse(json, &params, err);

    if (rc == 0) {
        rc = take_levels(loading, at, &params, err);
        stored_params_fini(&params);
    }
    return rc;
}

/* A configuration off the axes adds values to them.  It comes by rank, as in a
 * report. */
struct outside {
    size_t at;
    char *params;
};

struct outsiders {
    struct outside *list;
    size_t n;
};

static int by_place(const void *a, const void *b)
{
    size_t x = ((const struct outside *)a)->at,
           y = ((const struct outside *)b)->at;

    return (x > y) - (x < y);
}

static int take_outsiders(struct loading *loading, struct outsiders *outsiders,
                          int rc, struct err *err)
{
    if (outsiders->n)
        qsort(outsiders->list, outsiders->n, sizeof(*outsiders->list),
              by_place);
    for (size_t i = 0; i < outsiders->n; i++) {
        if (rc == 0)
            rc = take_params(loading, outsiders->list[i].at,
                             outsiders->list[i].params, err);
        free(outsiders->list[i].params);
    }
    free(outsiders->list);
    return rc;
}

/* Rows that came after the survey cannot be: one transaction reads both. */
static int take_row(struct loading *loading, const struct config_row *config,
                    struct outsiders *outsiders, struct err *err)
{
    int64_t at = survey_find(loading->survey, config->key);
    struct survey_row row;

    if (at < 0)
        return 0;
    row = survey_row(loading->survey, (size_t)at);
    take_point(loading, (size_t)at, &row, config->warnings);
    if (row.point >= 0)
        return take_params(loading, (size_t)at, config->params, err);
    outsiders->list =
        mem_grow(outsiders->list, outsiders->n + 1, sizeof(*outsiders->list));
    outsiders->list[outsiders->n++] =
        (struct outside){ (size_t)at, mem_strdup(config->params) };
    return 0;
}

static int take_survey(struct loading *loading, struct err *err)
{
    struct outsiders outsiders = { NULL, 0 };
    struct config_row config;
    struct row_query query;
    int rc =
        row_open(store_db(loading->store),
                 "SELECT key, params, warnings FROM config WHERE sweep=?1",
                 &config_shape, &query, err, "I", loading->report->sweep.id);

    while (rc >= 0 && (rc = row_next(&query, &config, err)) == 1) {
        rc = take_row(loading, &config, &outsiders, err);
        if (rc < 0)
            break;
    }
    row_close(&query);
    return take_outsiders(loading, &outsiders, err_only(rc), err);
}

static int take_points(struct loading *loading, struct err *err)
{
    const struct report *report = loading->report;

    loading->points = mem_new(loading->n + 1, sizeof(*loading->points));
    loading->levels = mem_new(loading->n * loading->spec->space.n_axes + 1,
                              sizeof(*loading->levels));
    for (size_t g = 0; g < report->n_gates; g++)
        if (strcmp(report->gates[g].kind, "warn") == 0 &&
            loading->n_gates < SPEC_LIST_MAX)
            loading->gates[loading->n_gates++] = report->gates[g].name;
    return loading->survey ? take_survey(loading, err)
                           : take_report(loading, err);
}

/* ---- machine code: from the newest build of each from the current sources */

struct place {
    const struct report_config *config;
    size_t at;
};

struct taking {
    const struct loading *loading;
    struct place *places;  /* of a report's configurations, by key */
    struct survey_id *ids; /* [n] of the artifacts; 0: none */
    int64_t *received_utc; /* [n] of the newest build so far */
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->config->key,
                  ((const struct place *)b)->config->key);
}

static int to_key(const void *key, const void *place)
{
    return strcmp(key, ((const struct place *)place)->config->key);
}

static struct place *places_of(const struct loading *loading)
{
    const struct report *report = loading->report;
    struct place *places = mem_new(loading->n + 1, sizeof(*places));
    size_t n = 0;

    for (size_t i = 0; i < report->n_configs; i++)
        if (report->configs[i].selected) {
            places[n] = (struct place){ &report->configs[i], n };
            n++;
        }
    if (n)
        qsort(places, n, sizeof(*places), by_key);
    return places;
}

/* The point that was built from the current sources, or -1. */
static int64_t built_of(const struct taking *taking, const char *key,
                        const char *source_key)
{
    const struct loading *loading = taking->loading;
    const struct place *place;

    if (loading->survey) {
        int64_t at = survey_find(loading->survey, key);

        return at >= 0 && survey_is_current(loading->survey, (size_t)at,
                                            source_key)
                   ? at
                   : -1;
    }
    place = loading->n ? bsearch(key, taking->places, loading->n,
                                 sizeof(*place), to_key)
                       : NULL;
    return place && strcmp(place->config->source_key, source_key) == 0
               ? (int64_t)place->at
               : -1;
}

static void take_artifact(void *arg, const struct evidence_artifact *artifact)
{
    const struct taking *taking = arg;
    int64_t at = built_of(taking, artifact->config, artifact->source_key);

    if (at < 0 || artifact->received_utc < taking->received_utc[at])
        return;
    taking->received_utc[at] = artifact->received_utc;
    (void)survey_id_of(artifact->artifact, &taking->ids[at]);
}

static int by_id(const void *a, const void *b, void *ids)
{
    const struct survey_id *list = ids;

    return survey_id_compare(&list[*(const uint32_t *)a],
                             &list[*(const uint32_t *)b]);
}

/* The same number for the same machine code. */
static void number(struct loading *loading, struct survey_id *ids)
{
    uint32_t *sorted = mem_new(loading->n + 1, sizeof(*sorted)), code = 0;
    const struct survey_id none = { 0, 0 };

    loading->artifacts = mem_new(loading->n + 1, sizeof(*loading->artifacts));
    for (size_t i = 0; i < loading->n; i++)
        sorted[i] = (uint32_t)i;
    qsort_r(sorted, loading->n, sizeof(*sorted), by_id, ids);
    for (size_t i = 0; i < loading->n; i++) {
        const struct survey_id *id = &ids[sorted[i]];

        if (survey_id_compare(id, &none) == 0)
            continue;
        code += i == 0 || survey_id_compare(id, &ids[sorted[i - 1]]) != 0;
        loading->artifacts[sorted[i]] = code;
    }
    free(sorted);
}

static int take_artifacts(struct loading *loading, struct err *err)
{
    struct taking taking = { .loading = loading };
    int rc;

    taking.places = loading->survey ? NULL : places_of(loading);
    taking.ids = mem_new(loading->n + 1, sizeof(*taking.ids));
    taking.received_utc = mem_new(loading->n + 1, sizeof(*taking.received_utc));
    for (size_t i = 0; i < loading->n; i++)
        taking.received_utc[i] = INT64_MIN;
    rc = evidence_artifacts(loading->store, take_artifact, &taking, err);
    free(taking.received_utc);
    free(taking.places);
    if (rc == 0)
        number(loading, taking.ids);
    free(taking.ids);
    return rc;
}

/* ---- the whole */

static void learn(struct loading *loading, struct lessons *out)
{
    struct lessons_input input = {
        .axes = loading->axes,
        .n_axes = loading->spec->space.n_axes,
        .points = loading->points,
        .levels = loading->levels,
        .n = loading->n,
        .failures = loading->failures,
        .n_failures = loading->n_failures,
        .warned = loading->warned,
        .gates = loading->gates,
        .n_gates = loading->n_gates,
    };

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
    free(loading->levels);
    free(loading->failures);
    free(loading->warned);
    free(loading->artifacts);
    spec_free(loading->spec);
    free(loading);
}

static size_t size_of(const struct loading *loading)
{
    size_t n = 0;

    if (loading->survey)
        return survey_size(loading->survey);
    for (size_t i = 0; i < loading->report->n_configs; i++)
        n += loading->report->configs[i].selected;
    return n;
}

int lessons_load(const struct report *report, struct survey *survey,
                 struct store *store, struct lessons *out, struct err *err)
{
    struct loading *loading = mem_new(1, sizeof(*loading));
    int rc =
        spec_parse(report->file.folder, report->file.name, report->file.text,
                   strlen(report->file.text), &loading->spec, err);

    *out = (struct lessons){ .timed = 0 };
    loading->report = report;
    loading->survey = survey;
    loading->store = store;
    loading->n = size_of(loading);
    if (rc < 0)
        err_within(err, rc, "the stored sweep");
    if (rc == 0 &&
        !report->sweep.recorded_on) /* a record has no machine code */
        rc = take_artifacts(loading, err);
    if (rc == 0) {
        take_axes(loading);
        rc = take_points(loading, err);
    }
    if (rc == 0)
        learn(loading, out);
    unload(loading);
    return rc;
}
