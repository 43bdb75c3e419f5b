/* Configurations, and their outcome for each shape. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_rows.h"
#include "coordinator/sql/row.h"
#include "coordinator/stored/stored_ways.h"
#include "coordinator/survey/survey.h"
#include "coordinator/survey/survey_internal.h"
#include "coordinator/text/string_pool.h"

/* Read in order of the primary keys of both tables. */
static const char query[] =
    "SELECT c.key, c.point, c.baseline, c.warnings, c.source_key, o.shape,"
    " o.measure_key, o.settled_utc, o.outcome, o.reason, o.nonce,"
    " o.config IS NOT NULL AS settled FROM config c LEFT JOIN outcome o"
    " ON o.config=c.key AND o.source_key=c.source_key"
    " WHERE c.sweep=?1 ORDER BY c.key";

struct scan_row {
    const char *key, *warnings, *source_key;
    int64_t point;
    bool baseline, settled;
    const char *shape, *measure_key, *outcome, *reason, *nonce;
    int64_t settled_utc;
};

#define SCAN(member, kind) ROW_AT(struct scan_row, member, kind)
static const struct row_column columns[] = {
    SCAN(key, TEXT),         SCAN(point, INT),       SCAN(baseline, BOOL),
    SCAN(warnings, TEXT),    SCAN(source_key, TEXT), SCAN(shape, TEXT),
    SCAN(measure_key, TEXT), SCAN(settled_utc, INT), SCAN(outcome, TEXT),
    SCAN(reason, TEXT),      SCAN(nonce, TEXT),      SCAN(settled, BOOL),
};
static const struct row_shape shape = ROW_SHAPE(NULL, columns);

struct scanning {
    struct survey *survey;
    struct stored_ways ways;
    bool known, unfit;         /* known: the current ways */
    struct report_cell *cells; /* [shapes] of the configuration at hand */
    char key[HASH_HEX];        /* its key; "" before the first one */
    char **quoted;             /* [gates] "NAME" of a warn gate, or NULL */
};

static void grow(struct survey *s)
{
    size_t cap = s->cap ? 2 * s->cap : 1024, cells = cap * s->n_shapes;

    s->keys = mem_grow(s->keys, cap, sizeof(*s->keys));
    s->sources = mem_grow(s->sources, cap, sizeof(*s->sources));
    s->points = mem_grow(s->points, cap, sizeof(*s->points));
    s->flags = mem_grow(s->flags, cap, sizeof(*s->flags));
    s->outcomes = mem_grow(s->outcomes, cap, sizeof(*s->outcomes));
    s->correct = mem_grow(s->correct, cells, sizeof(*s->correct));
    s->times = mem_grow(s->times, cells, sizeof(*s->times));
    s->nonces = mem_grow(s->nonces, cells, sizeof(*s->nonces));
    s->cap = cap;
}

static void keep_failure(struct survey *s, const struct report_config *config)
{
    uint32_t at = 0;

    while (config->cells[at].outcome != config->outcome)
        at++;
    if (config->refuted)
        at = (uint32_t)s->n_shapes;
    if (s->n_failures == s->cap_failures) {
        s->cap_failures = s->cap_failures ? 2 * s->cap_failures : 256;
        s->failures =
            mem_grow(s->failures, s->cap_failures, sizeof(*s->failures));
    }
    s->failures[s->n_failures++] =
        (struct survey_failure){ (uint32_t)(s->n - 1), at, config->reason };
}

/* All outcomes of the configuration at hand are there. */
static void settle(struct scanning *l)
{
    struct survey *s = l->survey;
    struct report_config config = { .cells = l->cells };

    if (!l->key[0])
        return;
    config.point = s->points[s->n - 1];
    config.refuted =
        report_refuted_apply(&s->rows.refuted, l->key, l->cells, s->n_shapes);
    if (config.refuted)
        for (size_t i = 0; i < s->n_shapes; i++) /* without times */
            s->correct[(s->n - 1) * s->n_shapes + i] = false;
    report_settle(&config, s->n_shapes);
    report_count(&s->rows.report->counts, &config, s->n_shapes);
    s->outcomes[s->n - 1] = (unsigned char)config.outcome;
    if (config.outcome != OUTCOME_CORRECT && config.outcome != OUTCOME_PENDING)
        keep_failure(s, &config);
}

static void count_warned(const struct scanning *l, const char *warnings)
{
    struct report *report = l->survey->rows.report;

    if (!strchr(warnings, '"'))
        return;
    for (size_t g = 0; g < report->n_gates; g++)
        report->gates[g].warned +=
            l->quoted[g] && strstr(warnings, l->quoted[g]);
}

static void add_config(struct scanning *l, const struct scan_row *row)
{
    struct survey *s = l->survey;
    struct survey_id source;

    settle(l);
    if (s->n == s->cap)
        grow(s);
    l->unfit = !survey_id_of(row->key, &s->keys[s->n]) ||
               (s->n + 1) * s->n_shapes >= UINT32_MAX;
    if (l->unfit)
        return;
    memcpy(l->key, row->key, sizeof(l->key));
    (void)survey_id_of(row->source_key, &source);
    s->sources[s->n] = source.high;
    s->points[s->n] = row->point;
    s->flags[s->n] = row->baseline ? SURVEY_BASELINE : 0;
    for (size_t i = 0; i < s->n_shapes; i++) {
        size_t cell = s->n * s->n_shapes + i;

        l->cells[i] =
            (struct report_cell){ .outcome = OUTCOME_PENDING, .reason = "" };
        s->correct[cell] = false;
        s->times[cell] = NAN;
    }
    s->n++;
    count_warned(l, row->warnings);
}

static void add_outcome(struct scanning *l, const struct scan_row *row)
{
    struct survey *s = l->survey;
    struct report *report = s->rows.report;
    size_t place, cell;

    if (!l->known)
        (void)stored_ways_add(&l->ways, row->shape, row->measure_key,
                              row->settled_utc);
    if (!report_find_shape(report, row->shape, &place) ||
        (l->known &&
         (!s->rows.measure_keys[place] ||
          strcmp(s->rows.measure_keys[place], row->measure_key) != 0)))
        return;
    cell = (s->n - 1) * s->n_shapes + place;
    l->cells[place].outcome = report_config_outcome(row->outcome);
    l->cells[place].reason = string_pool_keep(report->pool, row->reason);
    s->correct[cell] =
        l->cells[place].outcome == OUTCOME_CORRECT && *row->nonce;
    if (s->correct[cell])
        (void)survey_id_of(row->nonce, &s->nonces[cell]);
}

static void add_row(void *arg, const void *at)
{
    struct scanning *l = arg;
    const struct scan_row *row = at;

    if (l->unfit)
        return;
    if (strcmp(l->key, row->key) != 0)
        add_config(l, row);
    if (!l->unfit && row->settled)
        add_outcome(l, row);
}

static bool is_one_way_a_shape(const struct stored_ways *ways)
{
    for (size_t i = 0; i < ways->n; i++)
        if (!stored_ways_is_current(ways, i))
            return false;
    return true;
}

static void forget(struct scanning *l)
{
    struct report *report = l->survey->rows.report;

    report->counts.asked = 0;
    report->counts.outside = 0;
    report->counts.tally = (struct tally){ .shapes = (int)report->n_shapes };
    memset(report->counts.outcomes, 0, sizeof(report->counts.outcomes));
    for (size_t g = 0; g < report->n_gates; g++)
        report->gates[g].warned = 0;
    l->survey->n = l->survey->n_failures = 0;
    l->key[0] = '\0';
}

static int scan(struct scanning *l, struct err *err)
{
    struct scan_row row;
    int rc;

    forget(l);
    rc = report_rows_each(&l->survey->rows, query, &shape, &row, add_row, l,
                          err);
    if (rc < 0 || l->unfit)
        return rc < 0 ? rc : SURVEY_UNFIT;
    settle(l);
    return 0;
}

int survey_scan(struct survey *survey, struct err *err)
{
    struct report *report = survey->rows.report;
    struct scanning l = { .survey = survey };
    int rc;

    l.cells = mem_new(survey->n_shapes, sizeof(*l.cells));
    l.quoted = mem_new(report->n_gates + 1, sizeof(*l.quoted));
    for (size_t g = 0; g < report->n_gates; g++)
        if (strcmp(report->gates[g].kind, "warn") == 0)
            l.quoted[g] = mem_printf("\"%s\"", report->gates[g].name);
    rc = scan(&l, err);
    if (rc == 0)
        rc = report_rows_ways(&survey->rows, &l.ways, err);
    if (rc == 0 && !is_one_way_a_shape(&l.ways)) {
        l.known = true;
        rc = scan(&l, err);
    }
    report->counts.outcomes[OUTCOME_CONSTRAINTS] += report_rejected(report);
    for (size_t g = 0; g < report->n_gates; g++)
        free(l.quoted[g]);
    free(l.quoted);
    free(l.cells);
    stored_ways_fini(&l.ways);
    return rc;
}
