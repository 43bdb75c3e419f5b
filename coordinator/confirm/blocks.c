#include "coordinator/confirm/blocks.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/stats/stats.h"

/* The fit is exact after one round if every block has every candidate.
 * Otherwise each round brings it closer by a constant factor. */
#define FIT_ROUNDS 100
#define FIT_ENOUGH 1e-9 /* of log time, far below any noise */
#define POLISH_ROUNDS 4
#define WEIGH_ROUNDS 5

struct blocks {
    size_t n, n_contestants;
    int *gpus;                   /* [n] */
    double *logs;                /* [n][n_contestants], NAN if not measured */
    struct signed_rank_law *law; /* NULL without blocks */
};

static int in_order(const void *a, const void *b)
{
    const struct block_sample *x = a, *y = b;

    if (x->gpu != y->gpu)
        return (x->gpu > y->gpu) - (x->gpu < y->gpu);
    if (x->block != y->block)
        return (x->block > y->block) - (x->block < y->block);
    return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

static bool is_same_block(const struct block_sample *a,
                          const struct block_sample *b)
{
    return a->gpu == b->gpu && a->block == b->block;
}

static double *cell(const struct blocks *blocks, size_t block, size_t candidate)
{
    return &blocks->logs[block * blocks->n_contestants + candidate];
}

static size_t count_blocks(const struct block_sample *sorted, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (i == 0 || !is_same_block(&sorted[i - 1], &sorted[i]))
            count++;
    return count;
}

/* The samples from 'from' on that have the same block and candidate. */
static size_t run_length(const struct block_sample *from, size_t left)
{
    size_t n = 1;

    while (n < left && in_order(&from[n], from) == 0)
        n++;
    return n;
}

static void fill(struct blocks *blocks, const struct block_sample *sorted,
                 size_t n)
{
    double *seconds = mem_new(n, sizeof(*seconds));
    size_t block = 0, run;

    for (size_t i = 0; i < n; i += run) {
        run = run_length(&sorted[i], n - i);
        if (i > 0 && !is_same_block(&sorted[i - 1], &sorted[i]))
            block++;
        for (size_t k = 0; k < run; k++)
            seconds[k] = sorted[i + k].seconds;
        blocks->gpus[block] = sorted[i].gpu;
        *cell(blocks, block, (size_t)sorted[i].candidate) =
            log(stats_median(seconds, run));
    }
    free(seconds);
}

/* GPUs are in order. */
static struct signed_rank_law *law_of(const struct blocks *blocks)
{
    size_t *sizes = mem_new(blocks->n + 1, sizeof(*sizes)), n_gpus = 0;
    struct signed_rank_law *law = NULL;

    for (size_t i = 0; i < blocks->n; i++) {
        n_gpus += i == 0 || blocks->gpus[i] != blocks->gpus[i - 1];
        sizes[n_gpus - 1]++;
    }
    if (n_gpus > 0)
        law = signed_rank_law_new(sizes, n_gpus);
    free(sizes);
    return law;
}

struct blocks *blocks_new(const struct block_sample *samples, size_t n,
                          size_t n_contestants)
{
    struct blocks *blocks = mem_new(1, sizeof(*blocks));
    struct block_sample *sorted = mem_dup(samples, n * sizeof(*samples));

    for (size_t i = 0; i < n; i++)
        assert(samples[i].seconds > 0 && samples[i].candidate >= 0 &&
               (size_t)samples[i].candidate < n_contestants);
    qsort(sorted, n, sizeof(*sorted), in_order);
    blocks->n = count_blocks(sorted, n);
    blocks->n_contestants = n_contestants;
    blocks->gpus = mem_new(blocks->n, sizeof(*blocks->gpus));
    blocks->logs = mem_new(blocks->n * n_contestants, sizeof(*blocks->logs));
    for (size_t i = 0; i < blocks->n * n_contestants; i++)
        blocks->logs[i] = NAN;
    fill(blocks, sorted, n);
    blocks->law = law_of(blocks);
    free(sorted);
    return blocks;
}

void blocks_free(struct blocks *blocks)
{
    if (!blocks)
        return;
    signed_rank_law_free(blocks->law);
    free(blocks->logs);
    free(blocks->gpus);
    free(blocks);
}

size_t blocks_count(const struct blocks *blocks)
{
    return blocks->n;
}

size_t blocks_contestants(const struct blocks *blocks)
{
    return blocks->n_contestants;
}

size_t blocks_gpus(const struct blocks *blocks, int *out)
{
    size_t n = 0;

    for (size_t i = 0; i < blocks->n; i++) /* in order of GPU */
        if (i == 0 || blocks->gpus[i] != blocks->gpus[i - 1])
            out[n++] = blocks->gpus[i];
    return n;
}

size_t blocks_differences(const struct blocks *blocks, size_t a, size_t b,
                          struct difference *out)
{
    size_t n = 0;

    for (size_t i = 0; i < blocks->n; i++) {
        double value = *cell(blocks, i, b) - *cell(blocks, i, a);

        if (!isnan(value))
            out[n++] = (struct difference){ value, blocks->gpus[i] };
    }
    return n;
}

const struct signed_rank_law *blocks_law(const struct blocks *blocks)
{
    return blocks->law;
}

size_t blocks_medians(const struct blocks *blocks, size_t candidate,
                      double *out)
{
    size_t n = 0;

    for (size_t i = 0; i < blocks->n; i++)
        if (!isnan(*cell(blocks, i, candidate)))
            out[n++] = exp(*cell(blocks, i, candidate));
    return n;
}

/* ---- times: log t = candidate + block, weighted by how calm a candidate is */

struct fit {
    const struct blocks *blocks;
    double *levels;  /* [n] of the blocks */
    double *effects; /* [n_contestants] */
    double *weights; /* [n_contestants], one over the variance */
    double *scratch; /* as long as either */
};

/* Changes the order of the values. */
static double median_of(double *values, size_t n)
{
    return n == 0 ? 0 : stats_median(values, n);
}

static double median_level(const struct fit *fit, size_t block)
{
    size_t kept = 0;

    for (size_t c = 0; c < fit->blocks->n_contestants; c++)
        if (!isnan(*cell(fit->blocks, block, c)))
            fit->scratch[kept++] =
                *cell(fit->blocks, block, c) - fit->effects[c];
    return median_of(fit->scratch, kept);
}

static double median_effect(const struct fit *fit, size_t candidate)
{
    size_t kept = 0;

    for (size_t i = 0; i < fit->blocks->n; i++)
        if (!isnan(*cell(fit->blocks, i, candidate)))
            fit->scratch[kept++] =
                *cell(fit->blocks, i, candidate) - fit->levels[i];
    return median_of(fit->scratch, kept);
}

/* Initial levels by medians, which one noisy candidate does not move. */
static void polish(struct fit *fit)
{
    for (int round = 0; round < POLISH_ROUNDS; round++) {
        for (size_t i = 0; i < fit->blocks->n; i++)
            fit->levels[i] = median_level(fit, i);
        for (size_t c = 0; c < fit->blocks->n_contestants; c++)
            fit->effects[c] = median_effect(fit, c);
    }
}

/* The typical deviation of a candidate from the fit; NAN if not measured. */
static double deviation(const struct fit *fit, size_t candidate)
{
    double centre = median_effect(fit, candidate);
    size_t kept = 0;

    for (size_t i = 0; i < fit->blocks->n; i++)
        if (!isnan(*cell(fit->blocks, i, candidate)))
            fit->scratch[kept++] = fabs(*cell(fit->blocks, i, candidate) -
                                        fit->levels[i] - centre);
    return kept ? median_of(fit->scratch, kept) : (double)NAN;
}

/* No weight exceeds that of the typical candidate: of two or three, the calmest
 * may be calm by chance. */
static void weigh(struct fit *fit)
{
    size_t n = fit->blocks->n_contestants, kept = 0;
    double *deviations = mem_new(n, sizeof(*deviations)), typical;

    for (size_t c = 0; c < n; c++) {
        deviations[c] = deviation(fit, c);
        if (!isnan(deviations[c]))
            fit->weights[kept++] = deviations[c];
    }
    typical = median_of(fit->weights, kept);
    for (size_t c = 0; c < n; c++) {
        double ratio = deviations[c] > typical && typical > 0
                           ? typical / deviations[c]
                           : 1;

        fit->weights[c] = isnan(deviations[c]) ? 0 : ratio * ratio;
    }
    free(deviations);
}

static double weighted_level(const struct fit *fit, size_t block)
{
    double sum = 0, weights = 0;

    for (size_t c = 0; c < fit->blocks->n_contestants; c++)
        if (!isnan(*cell(fit->blocks, block, c))) {
            sum += fit->weights[c] *
                   (*cell(fit->blocks, block, c) - fit->effects[c]);
            weights += fit->weights[c];
        }
    return weights > 0 ? sum / weights : 0;
}

static double mean_effect(const struct fit *fit, size_t candidate)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < fit->blocks->n; i++)
        if (!isnan(*cell(fit->blocks, i, candidate))) {
            sum += *cell(fit->blocks, i, candidate) - fit->levels[i];
            count++;
        }
    return count > 0 ? sum / (double)count : 0;
}

static void fit_once(struct fit *fit)
{
    double moved = INFINITY;

    for (int round = 0; round < FIT_ROUNDS && moved > FIT_ENOUGH; round++) {
        moved = 0;
        for (size_t i = 0; i < fit->blocks->n; i++) {
            double level = weighted_level(fit, i);

            moved = fmax(moved, fabs(level - fit->levels[i]));
            fit->levels[i] = level;
        }
        for (size_t c = 0; c < fit->blocks->n_contestants; c++)
            fit->effects[c] = mean_effect(fit, c);
    }
}

static void fit_levels(struct fit *fit)
{
    polish(fit);
    for (int round = 0; round < WEIGH_ROUNDS; round++) {
        weigh(fit);
        fit_once(fit);
    }
}

/* The level of a block was fitted to the candidate as well, which took away
 * some of its noise.  This is the share that remains. */
static double share_left(const struct fit *fit, size_t candidate)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < fit->blocks->n; i++) {
        double weights = 0;

        if (isnan(*cell(fit->blocks, i, candidate)))
            continue;
        for (size_t c = 0; c < fit->blocks->n_contestants; c++)
            if (!isnan(*cell(fit->blocks, i, c)))
                weights += fit->weights[c];
        sum += weights > 0 ? 1 - fit->weights[candidate] / weights : 1;
        count++;
    }
    return count > 0 ? sum / (double)count : 1;
}

static void time_of(const struct fit *fit, size_t candidate, double typical,
                    double confidence, struct block_time *out)
{
    const struct blocks *blocks = fit->blocks;
    struct difference *d = mem_new(blocks->n, sizeof(*d));
    struct signed_rank rank;
    double left = share_left(fit, candidate), scale = 1 / sqrt(left);
    size_t n = 0;

    for (size_t i = 0; i < blocks->n; i++) {
        double value = *cell(blocks, i, candidate) - fit->levels[i];

        if (!isnan(value))
            d[n++] = (struct difference){ value, blocks->gpus[i] };
    }
    signed_rank_by(blocks->law, d, n, confidence, &rank);
    out->seconds = exp(typical + rank.estimate);
    out->lo = 0;
    out->hi = INFINITY;
    if (left > 0 && isfinite(rank.hi)) { /* else few blocks, or none shared */
        out->lo = out->seconds * exp(scale * (rank.lo - rank.estimate));
        out->hi = out->seconds * exp(scale * (rank.hi - rank.estimate));
    }
    free(d);
}

static double typical_level(const struct fit *fit)
{
    const struct blocks *blocks = fit->blocks;
    struct difference *d = mem_new(blocks->n, sizeof(*d));
    struct signed_rank rank;

    for (size_t i = 0; i < blocks->n; i++)
        d[i] = (struct difference){ fit->levels[i], blocks->gpus[i] };
    signed_rank_by(blocks->law, d, blocks->n, 0, &rank);
    free(d);
    return rank.estimate;
}

static size_t count_measured(const struct blocks *blocks)
{
    size_t count = 0;

    for (size_t c = 0; c < blocks->n_contestants; c++) {
        bool is = false;

        for (size_t i = 0; i < blocks->n && !is; i++)
            is = !isnan(*cell(blocks, i, c));
        count += is;
    }
    return count;
}

void blocks_times(const struct blocks *blocks, double confidence,
                  struct block_time *out)
{
    size_t width = blocks->n_contestants, most = width + blocks->n;
    struct fit fit = { .blocks = blocks,
                       .levels = mem_new(blocks->n, sizeof(*fit.levels)),
                       .effects = mem_new(width, sizeof(*fit.effects)),
                       .weights = mem_new(width, sizeof(*fit.weights)),
                       .scratch = mem_new(most, sizeof(*fit.scratch)) };
    double typical = 0;

    if (count_measured(blocks) > 1) { /* else blocks have no levels */
        fit_levels(&fit);
        typical = typical_level(&fit);
    }
    for (size_t c = 0; c < width; c++)
        time_of(&fit, c, typical, confidence, &out[c]);
    free(fit.levels);
    free(fit.effects);
    free(fit.weights);
    free(fit.scratch);
}
