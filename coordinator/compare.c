#include "coordinator/compare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/stats.h"
#include "coordinator/compare_differ.h"
#include "coordinator/compare_side.h"
#include "coordinator/finalists.h"
#include "coordinator/normal.h"
#include "coordinator/rank_test.h"
#include "coordinator/report.h"
#include "coordinator/shift.h"

#define NO_SHAPE ((size_t)-1)

/* ---- the ratio of one row */

/* GPUs are strata where both sides used one; else cards differ anyway. */
static bool share_gpu(const struct compare *compare)
{
    for (size_t i = 0; i < compare->a->n_gpus; i++)
        for (size_t j = 0; j < compare->b->n_gpus; j++)
            if (strcmp(compare->a->gpus[i].uuid, compare->b->gpus[j].uuid) == 0)
                return true;
    return false;
}

/* The number of a GPU of B among those of A, or one of its own. */
static int stratum_in_a(const struct compare *compare, int gpu)
{
    const struct compare_side *a = compare->a, *b = compare->b;

    for (size_t i = 0; (size_t)gpu < b->n_gpus && i < a->n_gpus; i++)
        if (strcmp(a->gpus[i].uuid, b->gpus[gpu].uuid) == 0)
            return (int)i;
    return (int)a->n_gpus + gpu;
}

static struct shift_value *strata(const struct compare *compare,
                                  const struct compare_blocks *blocks,
                                  bool of_b)
{
    struct shift_value *out = mem_new(blocks->n, sizeof(*out));
    bool shared = share_gpu(compare);

    for (size_t i = 0; i < blocks->n; i++) {
        int gpu = blocks->medians[i].stratum;

        out[i].value = blocks->medians[i].value;
        out[i].stratum = !shared ? 0 : of_b ? stratum_in_a(compare, gpu) : gpu;
    }
    return out;
}

static double median_of(const struct compare_blocks *blocks)
{
    double *values = mem_new(blocks->n, sizeof(*values));
    struct summary summary;

    for (size_t i = 0; i < blocks->n; i++)
        values[i] = blocks->medians[i].value;
    stats_summary(values, blocks->n, &summary);
    free(values);
    return exp(summary.median);
}

static bool by_blocks(const struct compare *compare, struct compare_row *row)
{
    const struct compare_blocks *a =
        compare_side_blocks(compare->a, row->a->key, row->shape_a);
    const struct compare_blocks *b =
        compare_side_blocks(compare->b, row->b->key, row->shape_b);
    struct shift_value *in_a, *in_b;
    struct shift found;

    if (!a || !b || a->n < COMPARE_BLOCKS_LEAST || b->n < COMPARE_BLOCKS_LEAST)
        return false;
    in_a = strata(compare, a, false);
    in_b = strata(compare, b, true);
    shift(in_a, a->n, in_b, b->n, 1 - compare->rules.alpha, &found);
    free(in_a);
    free(in_b);
    if (found.n_a < COMPARE_BLOCKS_LEAST || found.n_b < COMPARE_BLOCKS_LEAST)
        return false;
    row->blocks = true;
    row->n_a = found.n_a;
    row->n_b = found.n_b;
    row->a_s = median_of(a);
    row->b_s = median_of(b);
    row->speedup =
        (struct speedup){ exp(found.estimate), exp(found.lo), exp(found.hi),
                          found.p, found.n_a + found.n_b };
    return true;
}

/* Standard deviation of the log ratio by the noise that finalists.h takes
 * screened medians to have: for a few samples. */
static double sd_of_few(const struct compare *compare,
                        const struct report_cell *a,
                        const struct report_cell *b)
{
    const struct finalist_rules in_a = { .noise = compare->a->noise };
    const struct finalist_rules in_b = { .noise = compare->b->noise };
    struct screened screened_a, screened_b;

    finalists_screen(a->samples, a->n_samples, 1, &screened_a);
    finalists_screen(b->samples, b->n_samples, 1, &screened_b);
    return sqrt(finalists_variance(&screened_a, &in_a) +
                finalists_variance(&screened_b, &in_b));
}

static struct shift_value *logs_of(const struct report_cell *cell)
{
    struct shift_value *out = mem_new(cell->n_samples, sizeof(*out));

    for (size_t i = 0; i < cell->n_samples; i++)
        out[i].value = log(cell->samples[i]);
    return out;
}

/* The same from the interval that the samples themselves give, on which a
 * late one has no more say than any other. */
static double sd_of_many(const struct report_cell *a,
                         const struct report_cell *b, double alpha)
{
    struct shift_value *in_a = logs_of(a), *in_b = logs_of(b);
    struct shift found;

    shift(in_a, a->n_samples, in_b, b->n_samples, 1 - alpha, &found);
    free(in_a);
    free(in_b);
    return (found.hi - found.lo) / 2 / normal_quantile(1 - alpha / 2);
}

static void by_samples(const struct compare *compare, struct compare_row *row)
{
    const struct report_cell *a = &row->a->cells[row->shape_a];
    const struct report_cell *b = &row->b->cells[row->shape_b];
    double alpha = compare->rules.alpha;
    double ratio = log(a->summary.median / b->summary.median), sd, reach;

    if (a->n_samples < COMPARE_BLOCKS_LEAST ||
        b->n_samples < COMPARE_BLOCKS_LEAST)
        sd = sd_of_few(compare, a, b);
    else
        sd = sd_of_many(a, b, alpha);
    /* what more samples of one measurement do not cure, on both sides */
    sd = hypot(sd, hypot(compare->a->between, compare->b->between));
    sd = fmax(sd, DBL_EPSILON); /* of samples that are all alike */
    reach = sd * normal_quantile(1 - alpha / 2);
    row->n_a = a->n_samples;
    row->n_b = b->n_samples;
    row->a_s = a->summary.median;
    row->b_s = b->summary.median;
    row->speedup =
        (struct speedup){ exp(ratio), exp(ratio - reach), exp(ratio + reach),
                          2 * normal_cdf(-fabs(ratio) / sd), 0 };
}

static bool is_timed(const struct report_config *config, size_t shape)
{
    return config->cells[shape].outcome == REPORT_CORRECT &&
           config->cells[shape].n_samples > 0;
}

/* What the configuration itself did: the machinery's own losses are none. */
static bool failed(const struct report_config *config, size_t shape)
{
    enum report_outcome outcome = config->cells[shape].outcome;

    return outcome != REPORT_CORRECT && outcome != REPORT_LOST &&
           outcome != REPORT_PENDING;
}

static void measure_row(const struct compare *compare, struct compare_row *row)
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
    if (row->state == COMPARE_TIMED && !by_blocks(compare, row))
        by_samples(compare, row);
}

/* ---- which rows there are */

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

/* A row for each shape that both have. */
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
        measure_row(compare, row);
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

/* By key, with the configuration's place in its report. */
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

/* One family of hypotheses: rows [from, to). */
static void judge(struct compare *compare, size_t from, size_t to)
{
    const struct verdict_rules rules = { .alpha = compare->rules.alpha,
                                         .floor = compare->rules.threshold,
                                         .target = 1 };
    double *p = mem_new(to - from + 1, sizeof(*p));
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        if (compare->rows[i].state == COMPARE_TIMED)
            p[n++] = compare->rows[i].speedup.p;
    rank_holm(p, n, p);
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
        if (row->same_code)
            ratios[compare->same_code++] = row->speedup.value;
    }
    if (compare->same_code)
        stats_summary(ratios, compare->same_code, &summary);
    compare->same_code_ratio = summary.median;
    free(ratios);
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
        why = mem_printf("%s is right in A and fails in B at %s: %s",
                         row_title(row), shape, row->b->reason);
    else
        why = mem_printf("%s is %.3f x as fast in B at %s, 95 %% interval "
                         "%.3f to %.3f",
                         row_title(row), row->speedup.value, shape,
                         row->speedup.lo, row->speedup.hi);
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
    char *why = mem_printf("the interval of %s, %.3f to %.3f at %s, reaches "
                           "across the threshold of %g %%; more %s would "
                           "narrow it",
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
    else if (!compare->b->winner.config && b->counts[REPORT_PENDING] == 0 &&
             b->counts[REPORT_LOST] == 0)
        conclude(compare, COMPARE_REGRESSION,
                 "A has a winner, and no configuration of B is right");
    else if (row)
        conclude_row(compare, row);
    else if (!compare->b->winner.config)
        conclude(compare, COMPARE_INCONCLUSIVE, "B has no winner yet");
    else if ((row = unclear_winner(compare)) != NULL)
        conclude_unclear(compare, row);
    else if (compare->n_deciding == 0)
        conclude(compare, COMPARE_INCONCLUSIVE,
                 "the winners were measured at no shape of both");
    else
        conclude(compare, COMPARE_FINE,
                 "the winner is not slower than the threshold allows");
}

/* ---- the whole */

int compare_make(const struct compare_side *a, const struct compare_side *b,
                 const struct compare_rules *rules, struct compare **out,
                 struct err *err)
{
    struct compare *compare = mem_new(1, sizeof(*compare));
    bool shapes = false;
    int rc;

    *compare = (struct compare){ .a = a, .b = b, .rules = *rules };
    *out = NULL;
    rc = compare_refuse(a, b, err);
    for (size_t i = 0; i < a->report->n_shapes; i++)
        shapes = shapes || shape_in_b(compare, i) != NO_SHAPE;
    if (rc == 0 && !shapes)
        rc = err_set(err, ERR_INPUT,
                     "%s and %s have no shape in common: the same name with "
                     "the same variables",
                     a->path, b->path);
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
