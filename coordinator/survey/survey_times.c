/* Measurements: the times of cells, and results for the GPUs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_gpus.h"
#include "coordinator/sql/row.h"
#include "coordinator/stored/stored_samples.h"
#include "coordinator/survey/survey_internal.h"

#define RESULTS                                                             \
    "SELECT nonce, config, shape, purpose, round, source_key, measure_key," \
    " counted, outcome, gpu, received_utc, samples, sampling, throttle"     \
    " FROM result WHERE ?1 IS NOT NULL"

/* Canaries and confirmations say how times are normalised. */
static const char results_query[] = RESULTS;
static const char canaries_query[] = RESULTS " AND purpose<>'screen'";

struct result_row {
    const char *nonce, *config, *shape, *purpose, *source_key, *measure_key;
    const char *outcome, *gpu, *samples, *sampling, *throttle;
    int64_t round, received_utc;
    bool counted;
};

#define RESULT(member, kind) ROW_AT(struct result_row, member, kind)
static const struct row_column columns[] = {
    RESULT(nonce, TEXT),       RESULT(config, TEXT),
    RESULT(shape, TEXT),       RESULT(purpose, TEXT),
    RESULT(round, INT),        RESULT(source_key, TEXT),
    RESULT(measure_key, TEXT), RESULT(counted, BOOL),
    RESULT(outcome, TEXT),     RESULT(gpu, TEXT),
    RESULT(received_utc, INT), RESULT(samples, TEXT),
    RESULT(sampling, TEXT),    RESULT(throttle, TEXT),
};
static const struct row_shape shape = ROW_SHAPE(NULL, columns);

#define NONE UINT32_MAX

struct timing {
    struct survey *survey;
    uint32_t *slots;  /* hash table by nonce: a cell, or NONE */
    size_t n_slots;   /* a power of two, at least twice the cells */
    uint32_t *others; /* [cells] next of the same nonce, or NONE */
};

static uint32_t *slot_of(const struct timing *l, const struct survey_id *nonce)
{
    const struct survey *s = l->survey;
    size_t at = (size_t)nonce->low & (l->n_slots - 1);

    while (l->slots[at] != NONE &&
           survey_id_compare(&s->nonces[l->slots[at]], nonce) != 0)
        at = (at + 1) & (l->n_slots - 1);
    return &l->slots[at];
}

static void make_slots(struct timing *l)
{
    const struct survey *s = l->survey;
    size_t n = s->n * s->n_shapes;

    l->n_slots = 64;
    while (l->n_slots < 2 * n)
        l->n_slots *= 2;
    l->slots = mem_new(l->n_slots, sizeof(*l->slots));
    memset(l->slots, 0xff, l->n_slots * sizeof(*l->slots));
    l->others = mem_new(n + 1, sizeof(*l->others));
    for (size_t i = 0; i < n; i++) {
        uint32_t *slot;

        if (!s->correct[i])
            continue;
        slot = slot_of(l, &s->nonces[i]);
        l->others[i] = *slot;
        *slot = (uint32_t)i;
    }
}

/* The configuration whose headline time this is, or -1. */
static int64_t tells(const struct survey *s, const struct result_row *row)
{
    const struct report *report = s->rows.report;
    const char *current = s->rows.measure_keys[0];
    struct survey_id source;
    int64_t config;

    if (!row->counted || strcmp(row->shape, report->shapes[0].name) != 0 ||
        !outcome_is(row->outcome, OUTCOME_CORRECT) || !current ||
        strcmp(row->measure_key, current) != 0)
        return -1;
    config = survey_index(s, row->config);
    (void)survey_id_of(row->source_key, &source);
    return config >= 0 && s->sources[config] == source.high ? config : -1;
}

static void tell_gpus(const struct survey *s, const struct result_row *row,
                      double seconds)
{
    struct report_measured measured = {
        .gpu = row->gpu,
        .purpose = row->purpose,
        .counted = row->counted,
        .round = row->round,
        .received_utc = row->received_utc,
        .config = tells(s, row),
        .seconds = seconds,
    };

    if (measured.config >= 0)
        measured.baseline = s->flags[measured.config] & SURVEY_BASELINE;
    report_gpus_take(s->gpus, &measured);
}

static void add_canary(void *arg, const void *at)
{
    const struct timing *l = arg;
    const struct result_row *row = at;

    tell_gpus(l->survey, row, stored_samples_median(row->samples));
}

static void fill_cell(struct survey *s, size_t cell,
                      const struct result_row *row, double median)
{
    double normalised =
        report_gpus_normalise(s->gpus, row->gpu, row->received_utc, median);

    s->times[cell] = isnan(normalised) ? median : normalised;
    if (cell % s->n_shapes != 0)
        return;
    if (report_config_is_unstable(row->sampling))
        s->flags[cell / s->n_shapes] |= SURVEY_UNSTABLE;
    if (report_rows_power_capped(row->throttle))
        s->flags[cell / s->n_shapes] |= SURVEY_CAPPED;
}

static void add_result(void *arg, const void *at)
{
    const struct timing *l = arg;
    const struct result_row *row = at;
    bool screen = strcmp(row->purpose, "screen") == 0;
    struct survey_id nonce;
    uint32_t cell;
    double median;

    (void)survey_id_of(row->nonce, &nonce);
    cell = *slot_of(l, &nonce);
    if (cell == NONE && !screen)
        return;
    median = stored_samples_median(row->samples);
    for (; cell != NONE; cell = l->others[cell])
        fill_cell(l->survey, cell, row, median);
    if (screen)
        tell_gpus(l->survey, row, median);
}

int survey_times(struct survey *survey, struct err *err)
{
    struct timing l = { .survey = survey };
    struct result_row row;
    int rc = report_gpus_open(&survey->rows, &survey->gpus, err);

    if (rc == 0)
        rc = report_rows_names(&survey->rows, err);
    if (rc == 0)
        rc = report_rows_each(&survey->rows, canaries_query, &shape, &row,
                              add_canary, &l, err);
    if (rc == 0) {
        report_gpus_calibrate(survey->gpus);
        make_slots(&l);
        rc = report_rows_each(&survey->rows, results_query, &shape, &row,
                              add_result, &l, err);
    }
    free(l.slots);
    free(l.others);
    free(survey->nonces);
    survey->nonces = NULL;
    if (rc == 0)
        report_gpus_agree(survey->gpus);
    return rc;
}
