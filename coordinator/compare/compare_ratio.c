#include "coordinator/compare/compare_ratio.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/compare/compare.h"
#include "coordinator/compare/compare_baseline.h"
#include "coordinator/compare/compare_choice.h"
#include "coordinator/compare/compare_interval.h"
#include "coordinator/compare/compare_looks.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/confirm/finalists.h"
#include "coordinator/result/report.h"
#include "coordinator/stats/location_shift.h"
#include "coordinator/stats/normal.h"
#include "coordinator/stats/signed_rank.h"
#include "coordinator/stats/stats.h"

/* Of the interval that gives the noise of screening samples: 4 on each side
 * still have a finite one. */
#define SD_CONFIDENCE 0.95

/* GPUs are strata if both sides used a common one; otherwise cards differ
 * anyway. */
static bool share_gpu(const struct compare *compare)
{
    for (size_t i = 0; i < compare->a->n_gpus; i++)
        for (size_t j = 0; j < compare->b->n_gpus; j++)
            if (strcmp(compare->a->gpus[i].uuid, compare->b->gpus[j].uuid) == 0)
                return true;
    return false;
}

/* The number that this GPU of B has in A, or a new one. */
static int stratum_in_a(const struct compare *compare, int gpu)
{
    const struct compare_side *a = compare->a, *b = compare->b;

    for (size_t i = 0; (size_t)gpu < b->n_gpus && i < a->n_gpus; i++)
        if (strcmp(a->gpus[i].uuid, b->gpus[gpu].uuid) == 0)
            return (int)i;
    return (int)a->n_gpus + gpu;
}

/* The values of a side, of which there are '*n'; baseline NULL: log times. */
static struct location_shift_value *
values_of(const struct compare *compare, const struct compare_blocks *blocks,
          const struct compare_blocks *baseline, bool of_b, size_t *n)
{
    struct location_shift_value *out = mem_new(blocks->n, sizeof(*out));
    bool shared = share_gpu(compare);

    *n = blocks->n;
    if (baseline)
        *n = compare_baseline_ratios(blocks, baseline, out);
    else
        memcpy(out, blocks->medians, blocks->n * sizeof(*out));
    for (size_t i = 0; i < *n; i++)
        out[i].stratum = !shared ? 0
                         : of_b  ? stratum_in_a(compare, out[i].stratum)
                                 : out[i].stratum;
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

static struct compare_chosen among(const struct compare *compare,
                                   const struct compare_row *row, bool blocks)
{
    struct compare_chosen chosen = { 1, 1 };

    if (row->subject != COMPARE_CONFIG)
        chosen.a = compare_choice_among(compare->a, blocks);
    if (row->subject == COMPARE_WINNER)
        chosen.b = compare_choice_among(compare->b, blocks);
    return chosen;
}

static struct compare_levels levels_after_looks(const struct compare *compare,
                                                double alpha,
                                                const struct compare_row *row)
{
    const struct compare_looked a = { compare->a->looks, row->a->key };
    const struct compare_looked b = { compare->b->looks, row->b->key };
    struct compare_levels levels =
        compare_interval_levels(alpha, among(compare, row, true));
    bool same = levels.lo == levels.hi;

    levels.lo = compare_looks_level(a, b, levels.lo);
    levels.hi = same ? levels.lo : compare_looks_level(a, b, levels.hi);
    return levels;
}

/* The blocks of a row, and those of the baselines at its shape. */
struct row_blocks {
    const struct compare_blocks *a, *b, *base_a, *base_b;
};

/* The baselines only if they are a common measure. */
static struct row_blocks blocks_of(const struct compare *compare,
                                   const struct compare_row *row)
{
    const struct compare_side *a = compare->a, *b = compare->b;
    struct row_blocks out = {
        .a = compare_side_blocks(a, row->a->key, row->shape_a),
        .b = compare_side_blocks(b, row->b->key, row->shape_b),
    };

    if (compare_baseline_of(a, row->shape_a, b, row->shape_b) ==
        COMPARE_BASELINE_COMMON) {
        const char *key = report_baseline(a->report)->key;

        out.base_a = compare_side_blocks(a, key, row->shape_a);
        out.base_b = compare_side_blocks(b, key, row->shape_b);
    }
    return out;
}

static bool unpaired(const struct compare *compare,
                     const struct row_blocks *blocks, double alpha,
                     const struct compare_levels *levels,
                     struct compare_interval *out)
{
    struct compare_evidence evidence;
    struct location_shift_value *in_a =
        values_of(compare, blocks->a, blocks->base_a, false, &evidence.n_a);
    struct location_shift_value *in_b =
        values_of(compare, blocks->b, blocks->base_b, true, &evidence.n_b);

    evidence.a = in_a;
    evidence.b = in_b;
    compare_interval_of_blocks(&evidence, alpha, levels, out);
    free(in_a);
    free(in_b);
    return out->n_a >= COMPARE_BLOCKS_LEAST && out->n_b >= COMPARE_BLOCKS_LEAST;
}

/* One side or both are the baseline itself, whose ratio is 1. */
static bool with_baseline(const struct row_blocks *blocks, double alpha,
                          const struct compare_levels *levels,
                          struct compare_interval *out)
{
    bool of_a = blocks->b == blocks->base_b;
    const struct compare_blocks *of = of_a ? blocks->a : blocks->b;
    struct location_shift_value *ratios = mem_new(of->n, sizeof(*ratios));
    struct difference *d = mem_new(of->n, sizeof(*d));
    size_t n = compare_baseline_ratios(
        of, of_a ? blocks->base_a : blocks->base_b, ratios);

    for (size_t i = 0; i < n; i++)
        d[i] = (struct difference){ of_a ? ratios[i].value : -ratios[i].value,
                                    ratios[i].stratum };
    if (of_a && blocks->a == blocks->base_a)
        out->speedup = (struct speedup){ 1, 1, 1, 1, n };
    else
        compare_interval_of_differences(d, n, alpha, levels, &out->speedup);
    out->n_a = blocks->a == blocks->base_a ? blocks->a->n : n;
    out->n_b = of_a ? blocks->b->n : n;
    free(d);
    free(ratios);
    return n >= COMPARE_BLOCKS_LEAST;
}

static bool over_baseline(const struct compare *compare,
                          const struct row_blocks *blocks, double alpha,
                          const struct compare_levels *levels,
                          struct compare_interval *out)
{
    if (!blocks->base_a)
        return false;
    return blocks->a == blocks->base_a || blocks->b == blocks->base_b
               ? with_baseline(blocks, alpha, levels, out)
               : unpaired(compare, blocks, alpha, levels, out);
}

bool compare_by_blocks(const struct compare *compare, double alpha,
                       struct compare_row *row)
{
    struct row_blocks blocks = blocks_of(compare, row);
    struct compare_interval found;
    struct compare_levels levels;

    if (!blocks.a || !blocks.b || blocks.a->n < COMPARE_BLOCKS_LEAST ||
        blocks.b->n < COMPARE_BLOCKS_LEAST)
        return false;
    levels = levels_after_looks(compare, alpha, row);
    row->over_baseline =
        over_baseline(compare, &blocks, alpha, &levels, &found);
    if (!row->over_baseline) {
        blocks.base_a = blocks.base_b = NULL;
        if (!unpaired(compare, &blocks, alpha, &levels, &found))
            return false;
    }
    row->blocks = true;
    row->n_a = found.n_a;
    row->n_b = found.n_b;
    row->a_s = median_of(blocks.a);
    row->b_s = median_of(blocks.b);
    row->speedup = found.speedup;
    return true;
}

/* Standard deviation of the log ratio, from the noise that finalists.h assumes
 * for screened medians; used with few samples. */
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

static struct location_shift_value *logs_of(const struct report_cell *cell)
{
    struct location_shift_value *out = mem_new(cell->n_samples, sizeof(*out));

    for (size_t i = 0; i < cell->n_samples; i++)
        out[i].value = log(cell->samples[i]);
    return out;
}

/* The same from the interval of the samples themselves, in which an outlier has
 * no extra weight. */
static double sd_of_many(const struct report_cell *a,
                         const struct report_cell *b)
{
    struct location_shift_value *in_a = logs_of(a), *in_b = logs_of(b);
    struct location_shift found;

    location_shift(in_a, a->n_samples, in_b, b->n_samples, SD_CONFIDENCE,
                   &found);
    free(in_a);
    free(in_b);
    return (found.hi - found.lo) / 2 / normal_quantile((1 + SD_CONFIDENCE) / 2);
}

void compare_by_samples(const struct compare *compare, double alpha,
                        struct compare_row *row)
{
    const struct report_cell *a = &row->a->cells[row->shape_a];
    const struct report_cell *b = &row->b->cells[row->shape_b];
    const struct compare_levels levels =
        compare_interval_levels(alpha, among(compare, row, false));
    double ratio = log(a->summary.median / b->summary.median), sd;

    if (a->n_samples < COMPARE_BLOCKS_LEAST ||
        b->n_samples < COMPARE_BLOCKS_LEAST)
        sd = sd_of_few(compare, a, b);
    else
        sd = sd_of_many(a, b);
    /* variation that more samples of one measurement do not reduce, on both
     * sides */
    sd = hypot(sd, hypot(compare->a->between, compare->b->between));
    sd = fmax(sd, DBL_EPSILON); /* if all samples are equal */
    row->n_a = a->n_samples;
    row->n_b = b->n_samples;
    row->a_s = a->summary.median;
    row->b_s = b->summary.median;
    compare_interval_of_normal(ratio, sd, alpha, &levels, &row->speedup);
}
