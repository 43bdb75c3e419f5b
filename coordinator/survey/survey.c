#include "coordinator/survey/survey.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_gpus.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/search/objective.h"
#include "coordinator/survey/survey_internal.h"
#include "coordinator/text/string_pool.h"

#define PART 256                 /* configurations that are shown at a time */
#define KEYS_BYTES_MAX (1 << 24) /* of their keys */

/* ---- ranks */

static bool is_ranked(const struct survey *s, size_t config)
{
    return s->outcomes[config] == OUTCOME_CORRECT &&
           !isnan(s->times[config * s->n_shapes]);
}

static int faster_first(const void *a, const void *b, void *survey)
{
    const struct survey *s = survey;
    size_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double t = s->times[x * s->n_shapes], u = s->times[y * s->n_shapes];

    if (is_ranked(s, x) != is_ranked(s, y))
        return is_ranked(s, x) ? -1 : 1;
    if (is_ranked(s, x) && t != u)
        return t < u ? -1 : 1;
    if (s->points[x] != s->points[y])
        return s->points[x] < s->points[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void rank(struct survey *s)
{
    struct report_counts *counts = &s->rows.report->counts;

    s->order = mem_new(s->n + 1, sizeof(*s->order));
    s->places = mem_new(s->n + 1, sizeof(*s->places));
    for (size_t i = 0; i < s->n; i++)
        s->order[i] = (uint32_t)i;
    qsort_r(s->order, s->n, sizeof(*s->order), faster_first, s);
    for (size_t i = 0; i < s->n; i++)
        s->places[s->order[i]] = (uint32_t)i;
    while (s->ranked < s->n && is_ranked(s, s->order[s->ranked])) {
        unsigned char flags = s->flags[s->order[s->ranked++]];

        counts->unstable += (flags & SURVEY_UNSTABLE) != 0;
        counts->capped += (flags & SURVEY_CAPPED) != 0;
    }
    counts->ranked = s->ranked;
}

/* ---- open and close */

static int load(struct survey *s, struct err *err)
{
    int rc = report_parts_load(&s->rows, err);

    s->n_shapes = s->rows.report->n_shapes;
    if (rc == 0 && s->n_shapes == 0)
        return SURVEY_UNFIT;
    if (rc == 0)
        rc = report_refuted_load(s->rows.store, s->rows.report->pool,
                                 &s->rows.refuted, err);
    if (rc == 0)
        rc = survey_scan(s, err);
    if (rc == 0)
        rc = survey_times(s, err);
    if (rc == 0)
        rank(s);
    return rc;
}

int survey_open(struct store *store, struct survey **out, struct err *err)
{
    struct survey *s = mem_new(1, sizeof(*s));
    int rc;

    s->rows.store = store;
    s->rows.report = mem_new(1, sizeof(*s->rows.report));
    s->rows.report->pool = string_pool_new();
    rc = load(s, err);
    *out = s;
    if (rc != 0) {
        survey_close(s);
        *out = NULL;
    }
    return rc;
}

void survey_close(struct survey *survey)
{
    if (!survey)
        return;
    stored_spec_metrics_close(survey->metrics);
    report_gpus_close(survey->gpus);
    report_rows_fini(&survey->rows);
    report_free(survey->rows.report);
    free(survey->keys);
    free(survey->sources);
    free(survey->points);
    free(survey->flags);
    free(survey->outcomes);
    free(survey->correct);
    free(survey->times);
    free(survey->nonces);
    free(survey->failures);
    free(survey->order);
    free(survey->places);
    free(survey);
}

struct report *survey_report(const struct survey *survey)
{
    return survey->rows.report;
}

/* ---- parts of it as a report */

static void put_key(const struct survey *s, uint32_t config, struct buf *keys)
{
    buf_printf(keys, "%s\"%016" PRIx64 "%016" PRIx64 "\"",
               keys->len > 1 ? "," : "[", s->keys[config].high,
               s->keys[config].low);
}

/* Read the configurations of these keys into 'part', which has none yet. */
static int fill(struct survey *s, struct report *part, struct buf *keys,
                struct err *err)
{
    struct report_rows rows = s->rows;
    int rc;

    buf_add(keys, "]", 1);
    rows.report = part;
    rows.keys = buf_text(keys);
    rc = report_cells_load(&rows, err);
    if (rc == 0)
        rc = report_times_load(&rows, err);
    if (rc < 0)
        return rc;
    report_gpus_cells(s->gpus, part);
    for (size_t i = 0; i < part->n_configs; i++) {
        struct report_config *config = &part->configs[i];
        size_t place = s->places[survey_index(s, config->key)];

        config->refuted = report_refuted_apply(&s->rows.refuted, config->key,
                                               config->cells, s->n_shapes);
        report_settle(config, s->n_shapes);
        config->rank = place < s->ranked ? (int)place + 1 : 0;
    }
    report_sort(part);
    return 0;
}

static struct report part_of(const struct survey *s)
{
    struct report part = *s->rows.report;

    part.pool = string_pool_new();
    part.configs = NULL;
    part.cells = NULL;
    part.n_configs = 0;
    return part;
}

static int show(struct survey *s, size_t from, size_t to, survey_fn *fn,
                void *arg, struct err *err)
{
    struct report part = part_of(s);
    struct buf keys;
    int rc;

    buf_init(&keys, KEYS_BYTES_MAX);
    for (size_t i = from; i < to; i++)
        put_key(s, s->order[i], &keys);
    rc = fill(s, &part, &keys, err);
    if (rc == 0 && s->metrics) /* one that fails is NaN */
        (void)stored_spec_metrics_of(s->metrics, &part, &(struct err){ "" });
    for (size_t i = 0; rc == 0 && i < part.n_configs; i++)
        fn(arg, &part, &part.configs[i]);
    buf_fini(&keys);
    report_configs_fini(&part);
    return rc;
}

int survey_each(struct survey *survey, size_t most, survey_fn *fn, void *arg,
                struct err *err)
{
    size_t n = most && most < survey->n ? most : survey->n;
    int rc = 0;

    for (size_t from = 0; rc == 0 && from < n; from += PART)
        rc =
            show(survey, from, from + PART < n ? from + PART : n, fn, arg, err);
    return rc;
}

int survey_metrics(struct survey *survey, struct err *err)
{
    struct report *report = survey->rows.report;
    struct err later;
    int rc = stored_spec_metrics_open(report, &survey->metrics, err), of = 0;

    if (survey->metrics)
        of = stored_spec_metrics_of(survey->metrics, report,
                                    rc == 0 ? err : &later);
    return rc < 0 ? rc : of;
}

/* ---- what a report of it keeps */

static double time_of(const struct survey *s, size_t config, int objective)
{
    return objective_time(objective, &s->times[config * s->n_shapes],
                          (int)s->n_shapes);
}

/* The fastest for the objective among those not wanted, or 'n'. */
static size_t fastest_of(const struct survey *s, int objective)
{
    size_t fastest = s->n;
    double least = INFINITY;

    for (size_t i = 0; i < s->ranked; i++) {
        double time = time_of(s, s->order[i], objective);

        if (!(s->flags[s->order[i]] & SURVEY_WANTED) && time < least) {
            fastest = s->order[i];
            least = time;
        }
    }
    return fastest;
}

void survey_want(struct survey *survey, const char *key)
{
    int64_t config = survey_index(survey, key);

    if (config >= 0)
        survey->flags[config] |= SURVEY_WANTED;
}

static void want_all(struct survey *s, size_t top)
{
    size_t *fastest = mem_new(s->n_shapes + 1, sizeof(*fastest));

    for (size_t i = 0; i < s->n; i++)
        if (s->flags[i] & SURVEY_BASELINE)
            s->flags[i] |= SURVEY_WANTED;
    for (size_t i = 0; i < s->n_shapes; i++)
        fastest[i] = fastest_of(s, (int)i);
    fastest[s->n_shapes] = fastest_of(s, OBJECTIVE_ALL);
    for (size_t i = 0; i <= s->n_shapes; i++)
        if (fastest[i] < s->n)
            s->flags[fastest[i]] |= SURVEY_WANTED;
    for (size_t i = 0; i < top && i < s->n; i++)
        s->flags[s->order[i]] |= SURVEY_WANTED;
    free(fastest);
}

int survey_keep(struct survey *survey, size_t top, struct err *err)
{
    struct buf list;
    int rc = 0;

    want_all(survey, top);
    buf_init(&list, survey->n * (HASH_HEX + 3) + 2);
    for (size_t i = 0; i < survey->n; i++)
        if (survey->flags[i] & SURVEY_WANTED)
            put_key(survey, (uint32_t)i, &list);
    if (list.len)
        rc = fill(survey, survey->rows.report, &list, err);
    buf_fini(&list);
    return rc;
}

/* ---- rows */

static int by_key(const void *a, const void *b)
{
    return survey_id_compare(a, b);
}

int64_t survey_index(const struct survey *survey, const char *key)
{
    struct survey_id id;
    const struct survey_id *found =
        survey_id_of(key, &id) && survey->n
            ? bsearch(&id, survey->keys, survey->n, sizeof(id), by_key)
            : NULL;

    return found ? found - survey->keys : -1;
}

size_t survey_size(const struct survey *survey)
{
    return survey->n;
}

static int by_config(const void *config, const void *failure)
{
    uint32_t x = *(const uint32_t *)config,
             y = ((const struct survey_failure *)failure)->config;

    return (x > y) - (x < y);
}

struct survey_row survey_row(const struct survey *survey, size_t at)
{
    uint32_t config = survey->order[at];
    const struct survey_failure *failure =
        survey->n_failures
            ? bsearch(&config, survey->failures, survey->n_failures,
                      sizeof(*survey->failures), by_config)
            : NULL;

    return (struct survey_row){
        .point = survey->points[config],
        .outcome = (enum outcome)survey->outcomes[config],
        .ranked = at < survey->ranked,
        .time_s = survey->times[(size_t)config * survey->n_shapes],
        .reason = failure ? failure->reason : "",
        .shape = failure ? failure->shape : 0,
    };
}

void survey_key(const struct survey *survey, size_t at, char out[HASH_HEX])
{
    const struct survey_id *key = &survey->keys[survey->order[at]];

    snprintf(out, HASH_HEX, "%016" PRIx64 "%016" PRIx64, key->high, key->low);
}

int64_t survey_find(const struct survey *survey, const char *key)
{
    int64_t config = survey_index(survey, key);

    return config >= 0 ? (int64_t)survey->places[config] : -1;
}

bool survey_is_current(const struct survey *survey, size_t at,
                       const char *source_key)
{
    struct survey_id id;

    (void)survey_id_of(source_key, &id);
    return survey->sources[survey->order[at]] == id.high;
}
