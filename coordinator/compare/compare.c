#include "coordinator/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/compare/compare_baseline.h"
#include "coordinator/compare/compare_differ.h"
#include "coordinator/compare/compare_ratio.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/confirm/analysis.h"
#include "coordinator/result/report.h"
#include "coordinator/stats/mann_whitney.h"
#include "coordinator/stats/stats.h"

#define NO_SHAPE ((size_t)-1)

/* ---- one row */

static bool is_timed(const struct report_config *config, size_t shape)
{
    return config->cells[shape].outcome == OUTCOME_CORRECT &&
           config->cells[shape].n_samples > 0;
}

/* The outcome of the configuration itself; infrastructure losses do not
 * count. */
static bool failed(const struct report_config *config, size_t shape)
{
    enum outcome outcome = config->cells[shape].outcome;

    return outcome != OUTCOME_CORRECT && outcome != OUTCOME_LOST &&
           outcome != OUTCOME_PENDING;
}

static void describe_row(const struct compare *compare, struct compare_row *row)
{
    bool a = is_timed(row->a, row->shape_a), b = is_timed(row->b, row->shape_b);
    const char *code = compare_side_code(compare->a, row->a->key);

    row->a_s = row->b_s = (double)NAN;
    row->speedup = (struct speedup){ NAN, 0, INFINITY, 1, 0 };
    row->verdict = VERDICT_AMBG;
    row->state = a && b                              ? COMPARE_TIMED
                 : a && failed(row->b, row->shape_b) ? COMPARE_BROKE
                 : b && failed(row->a, row->shape_a) ? COMPARE_MENDED
                                                     : COMPARE_UNTIMED;
    row->same_code =
        *code && strcmp(code, compare_side_code(compare->b, row->b->key)) == 0;
}

/* ---- choosing the rows */

static bool same_vars(const struct report_shape *a,
                      const struct report_shape *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->vars, b->vars) == 0;
}

static size_t shape_in_b(const struct compare *compare, size_t shape)
{
    const struct report *a = compare->a->report, *b = compare->b->report;

    for (size_t i = 0; i < b->n_shapes; i++)
        if (same_vars(&a->shapes[shape], &b->shapes[i]))
            return i;
    return NO_SHAPE;
}

/* One row for each shape that both have. */
static void add_rows(struct compare *compare, enum compare_subject subject,
                     const struct report_config *a,
                     const struct report_config *b)
{
    for (size_t shape = 0; shape < compare->a->report->n_shapes; shape++) {
        size_t in_b = shape_in_b(compare, shape);
        struct compare_row *row;

        if (in_b == NO_SHAPE)
            continue;
        compare->rows = mem_grow(compare->rows, compare->n_rows + 1,
                                 sizeof(*compare->rows));
        row = &compare->rows[compare->n_rows++];
        *row = (struct compare_row){ .subject = subject,
                                     .a = a,
                                     .b = b,
                                     .shape_a = shape,
                                     .shape_b = in_b };
        describe_row(compare, row);
    }
}

static void add_winner(struct compare *compare)
{
    const struct report_config *a = compare->a->winner.config;
    const struct report_config *b = compare->b->winner.config;
    const struct report_config *kept =
        a ? compare_side_config(compare->b, a->key) : NULL;

    if (a && b)
        add_rows(compare, COMPARE_WINNER, a, b);
    if (kept && kept != b)
        add_rows(compare, COMPARE_KEPT, a, kept);
    compare->n_deciding = compare->n_rows;
}

/* By key, with the index of the configuration in its report. */
struct entry {
    const struct report_config *config;
    bool met;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->config->key,
                  ((const struct entry *)b)->config->key);
}

static struct entry *entries(const struct report *report)
{
    struct entry *out = mem_new(report->n_configs + 1, sizeof(*out));

    for (size_t i = 0; i < report->n_configs; i++)
        out[i].config = &report->configs[i];
    if (report->n_configs)
        qsort(out, report->n_configs, sizeof(*out), by_key);
    return out;
}

static void add_configs(struct compare *compare)
{
    const struct report *a = compare->a->report, *b = compare->b->report;
    struct entry *in_b = entries(b);

    compare->only_b = b->n_configs;
    for (size_t i = 0; i < a->n_configs; i++) {
        struct entry key = { &a->configs[i], false };
        struct entry *met = b->n_configs ? bsearch(&key, in_b, b->n_configs,
                                                   sizeof(*in_b), by_key)
                                         : NULL;

        if (!met) {
            compare->only_a++;
            continue;
        }
        compare->only_b--;
        add_rows(compare, COMPARE_CONFIG, key.config, met->config);
    }
    free(in_b);
}

/* ---- verdicts */

/* The intervals of one family, rows [from, to), hold together by Bonferroni's
 * inequality (Dunn, 1961).  Returns how many have one. */
static size_t measure(struct compare *compare, size_t from, size_t to)
{
    double alpha;
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        n += compare->rows[i].state == COMPARE_TIMED;
    alpha = 1 - analysis_confidence(n, compare->rules.alpha);
    for (size_t i = from; i < to; i++) {
        struct compare_row *row = &compare->rows[i];

        if (row->state == COMPARE_TIMED &&
            !compare_by_blocks(compare, alpha, row))
            compare_by_samples(compare, alpha, row);
    }
    return n;
}

/* Correct over one family of hypotheses: rows [from, to). */
static void judge(struct compare *compare, size_t from, size_t to)
{
    const struct verdict_rules rules = { .alpha = compare->rules.alpha,
                                         .floor = compare->rules.threshold,
                                         .target = 1 };
    double *p = mem_new(measure(compare, from, to) + 1, sizeof(*p));
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        if (compare->rows[i].state == COMPARE_TIMED)
            p[n++] = compare->rows[i].speedup.p;
    mann_whitney_holm(p, n, p);
    n = 0;
    for (size_t i = from; i < to; i++) {
        struct compare_row *row = &compare->rows[i];

        if (row->state != COMPARE_TIMED)
            continue;
        row->p_holm = p[n++];
        row->verdict = verdict_of(&row->speedup, row->p_holm, &rules);
    }
    free(p);
}

static int place_of(const struct compare_row *row)
{
    static const int places[] = { [VERDICT_SLOW] = 1,
                                  [VERDICT_AMBG] = 2,
                                  [VERDICT_FAST] = 3,
                                  [VERDICT_SAME] = 4 };

    if (row->state == COMPARE_TIMED)
        return places[row->verdict];
    return row->state == COMPARE_BROKE    ? 0
           : row->state == COMPARE_MENDED ? 5
                                          : 6;
}

static int worst_first(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;
    double far_x = fabs(log(x->speedup.value));
    double far_y = fabs(log(y->speedup.value));

    if (place_of(x) != place_of(y))
        return place_of(x) - place_of(y);
    if (x->state == COMPARE_TIMED && far_x != far_y)
        return far_x > far_y ? -1 : 1;
    if (x->a->point != y->a->point)
        return x->a->point < y->a->point ? -1 : 1;
    return (x->shape_a > y->shape_a) - (x->shape_a < y->shape_a);
}

static void count(struct compare *compare)
{
    double *ratios = mem_new(compare->n_rows + 1, sizeof(*ratios));
    struct summary summary = { .median = NAN };

    for (size_t i = compare->n_deciding; i < compare->n_rows; i++) {
        const struct compare_row *row = &compare->rows[i];

        compare->broke += row->state == COMPARE_BROKE;
        compare->mended += row->state == COMPARE_MENDED;
        compare->untimed += row->state == COMPARE_UNTIMED;
        if (row->state != COMPARE_TIMED)
            continue;
        compare->verdicts[row->verdict]++;
        if (row->same_code) /* the times: the machine is not in ratios */
            ratios[compare->same_code++] =
                row->over_baseline ? row->a_s / row->b_s : row->speedup.value;
    }
    if (compare->same_code)
        stats_summary(ratios, compare->same_code, &summary);
    compare->same_code_ratio = summary.median;
    free(ratios);
}

/* One note a reason, if times of blocks are compared. */
static void note_times(struct compare *compare)
{
    bool noted[COMPARE_BASELINES] = { false };

    for (size_t i = 0; i < compare->n_rows; i++) {
        const struct compare_row *row = &compare->rows[i];
        enum compare_baseline is = compare_baseline_of(
            compare->a, row->shape_a, compare->b, row->shape_b);

        if (!row->blocks || row->over_baseline || noted[is])
            continue;
        noted[is] = true;
        compare->warnings = mem_grow(compare->warnings, compare->n_warnings + 1,
                                     sizeof(*compare->warnings));
        compare->warnings[compare->n_warnings++] = mem_printf(
            "times are compared, not ratios to the baseline, because %s: if "
            "the machine was slower on one occasion, so are the configurations",
            compare_baseline_why(is));
    }
}

/* ---- the outcome */

static void conclude(struct compare *compare, enum compare_outcome outcome,
                     const char *why)
{
    compare->outcome = outcome;
    snprintf(compare->why, sizeof(compare->why), "%s", why);
}

static const char *row_title(const struct compare_row *row)
{
    return row->subject == COMPARE_WINNER ? "the winner"
           : row->subject == COMPARE_KEPT ? "A's winner's configuration"
                                          : "a configuration";
}

static void conclude_row(struct compare *compare, const struct compare_row *row)
{
    const char *shape = compare->a->report->shapes[row->shape_a].name;
    char *why;

    if (row->state == COMPARE_BROKE)
        why = mem_printf("%s is correct in A but fails in B at %s: %s",
                         row_title(row), shape, row->b->reason);
    else
        why = mem_printf("%s is %.3f x as fast in B at %s, 95 %% interval "
                         "%.3f to %.3f%s",
                         row_title(row), row->speedup.value, shape,
                         row->speedup.lo, row->speedup.hi,
                         row->same_code ? "; its cubin is the same in A, so "
                                          "the kernel did not change"
                                        : "");
    conclude(compare, COMPARE_REGRESSION, why);
    free(why);
}

static bool is_regression(const struct compare_row *row)
{
    return row->state == COMPARE_BROKE ||
           (row->state == COMPARE_TIMED && row->verdict == VERDICT_SLOW);
}

static const struct compare_row *first_regression(const struct compare *compare)
{
    size_t n = compare->rules.every ? compare->n_rows : compare->n_deciding;

    for (size_t i = 0; i < n; i++)
        if (is_regression(&compare->rows[i]))
            return &compare->rows[i];
    return NULL;
}

static const struct compare_row *unclear_winner(const struct compare *compare)
{
    for (size_t i = 0; i < compare->n_deciding; i++)
        if (compare->rows[i].state == COMPARE_TIMED &&
            compare->rows[i].verdict == VERDICT_AMBG)
            return &compare->rows[i];
    return NULL;
}

static void conclude_unclear(struct compare *compare,
                             const struct compare_row *row)
{
    char *why = mem_printf("the interval of %s (%.3f to %.3f at %s) includes "
                           "the threshold of %g %%; more %s would narrow it",
                           row_title(row), row->speedup.lo, row->speedup.hi,
                           compare->a->report->shapes[row->shape_a].name,
                           100 * compare->rules.threshold,
                           row->blocks ? "blocks" : "samples");

    conclude(compare, COMPARE_INCONCLUSIVE, why);
    free(why);
}

static void decide(struct compare *compare)
{
    const struct compare_row *row = first_regression(compare);
    const struct report *b = compare->b->report;

    if (!compare->a->winner.config)
        conclude(compare, COMPARE_INCONCLUSIVE,
                 "A has no winner to compare with");
    else if (!compare->b->winner.config &&
             b->counts.outcomes[OUTCOME_PENDING] == 0 &&
             b->counts.outcomes[OUTCOME_LOST] == 0)
        conclude(compare, COMPARE_REGRESSION,
                 "A has a winner, but no configuration of B is correct");
    else if (row)
        conclude_row(compare, row);
    else if (!compare->b->winner.config)
        conclude(compare, COMPARE_INCONCLUSIVE, "B has no winner yet");
    else if ((row = unclear_winner(compare)) != NULL)
        conclude_unclear(compare, row);
    else if (compare->n_deciding == 0)
        conclude(compare, COMPARE_INCONCLUSIVE,
                 "the winners have no measured shape in common");
    else
        conclude(compare, COMPARE_FINE,
                 "the winner is not slower than the threshold allows");
}

/* ---- the result */

int compare_make(const struct compare_side *a, const struct compare_side *b,
                 const struct compare_rules *rules, struct compare **out,
                 struct err *err)
{
    struct compare *compare = mem_new(1, sizeof(*compare));
    bool shapes = false;
    int rc;

    *compare = (struct compare){ .a = a, .b = b, .rules = *rules };
    *out = NULL;
    rc = compare_refuse(a, b, rules->across_gpus, err);
    for (size_t i = 0; i < a->report->n_shapes; i++)
        shapes = shapes || shape_in_b(compare, i) != NO_SHAPE;
    if (rc == 0 && !shapes)
        rc = err_set(err, ERR_INPUT,
                     "%s and %s have no shape in common (a shape is the same "
                     "if its name and its variables are)",
                     a->file.path, b->file.path);
    if (rc < 0) {
        compare_free(compare);
        return rc;
    }
    compare_warn(a, b, &compare->warnings, &compare->n_warnings);
    add_winner(compare);
    add_configs(compare);
    judge(compare, 0, compare->n_deciding);
    judge(compare, compare->n_deciding, compare->n_rows);
    if (compare->n_rows > compare->n_deciding)
        qsort(compare->rows + compare->n_deciding,
              compare->n_rows - compare->n_deciding, sizeof(*compare->rows),
              worst_first);
    note_times(compare);
    count(compare);
    decide(compare);
    *out = compare;
    return 0;
}

void compare_free(struct compare *compare)
{
    if (!compare)
        return;
    for (size_t i = 0; i < compare->n_warnings; i++)
        free(compare->warnings[i]);
    free(compare->warnings);
    free(compare->rows);
    free(compare);
}

const char *compare_outcome_name(enum compare_outcome outcome)
{
    static const char *const names[] = { "no regression", "regression",
                                         "inconclusive" };

    return names[outcome];
}

const char *compare_state_name(enum compare_state state)
{
    static const char *const names[] = { "timed", "broke", "mended",
                                         "untimed" };

    return names[state];
}
