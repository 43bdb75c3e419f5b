#include "coordinator/blocks.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/stats.h"

/* The fit is exact after one round if no contestant is missing anywhere;
 * otherwise each round brings it closer by a constant factor. */
#define FIT_ROUNDS 100
#define FIT_ENOUGH 1e-9 /* of log time, far below any noise */

struct blocks {
    size_t n, n_contestants;
    int *gpus;    /* [n] */
    double *logs; /* [n][n_contestants], NAN where it was not measured */
};

static int in_order(const void *a, const void *b)
{
    const struct block_sample *x = a, *y = b;

    if (x->gpu != y->gpu)
        return (x->gpu > y->gpu) - (x->gpu < y->gpu);
    if (x->block != y->block)
        return (x->block > y->block) - (x->block < y->block);
    return (x->contestant > y->contestant) - (x->contestant < y->contestant);
}

static bool is_same_block(const struct block_sample *a,
                          const struct block_sample *b)
{
    return a->gpu == b->gpu && a->block == b->block;
}

static double *cell(const struct blocks *blocks, size_t block,
                    size_t contestant)
{
    return &blocks->logs[block * blocks->n_contestants + contestant];
}

static size_t count_blocks(const struct block_sample *sorted, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (i == 0 || !is_same_block(&sorted[i - 1], &sorted[i]))
            count++;
    return count;
}

/* The samples from 'from' on that are of its block and contestant. */
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
    struct summary summary;

    for (size_t i = 0; i < n; i += run) {
        run = run_length(&sorted[i], n - i);
        if (i > 0 && !is_same_block(&sorted[i - 1], &sorted[i]))
            block++;
        for (size_t k = 0; k < run; k++)
            seconds[k] = sorted[i + k].seconds;
        stats_summary(seconds, run, &summary);
        blocks->gpus[block] = sorted[i].gpu;
        *cell(blocks, block, (size_t)sorted[i].contestant) =
            log(summary.median);
    }
    free(seconds);
}

struct blocks *blocks_new(const struct block_sample *samples, size_t n,
                          size_t n_contestants)
{
    struct blocks *blocks = mem_new(1, sizeof(*blocks));
    struct block_sample *sorted = mem_dup(samples, n * sizeof(*samples));

    for (size_t i = 0; i < n; i++)
        assert(samples[i].seconds > 0 && samples[i].contestant >= 0 &&
               (size_t)samples[i].contestant < n_contestants);
    qsort(sorted, n, sizeof(*sorted), in_order);
    blocks->n = count_blocks(sorted, n);
    blocks->n_contestants = n_contestants;
    blocks->gpus = mem_new(blocks->n, sizeof(*blocks->gpus));
    blocks->logs = mem_new(blocks->n * n_contestants, sizeof(*blocks->logs));
    for (size_t i = 0; i < blocks->n * n_contestants; i++)
        blocks->logs[i] = NAN;
    fill(blocks, sorted, n);
    free(sorted);
    return blocks;
}

void blocks_free(struct blocks *blocks)
{
    if (!blocks)
        return;
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

size_t blocks_medians(const struct blocks *blocks, size_t contestant,
                      double *out)
{
    size_t n = 0;

    for (size_t i = 0; i < blocks->n; i++)
        if (!isnan(*cell(blocks, i, contestant)))
            out[n++] = exp(*cell(blocks, i, contestant));
    return n;
}

static double mean_rest(const double *logs, size_t stride, size_t n,
                        const double *less)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(logs[i * stride])) {
            sum += logs[i * stride] - less[i];
            count++;
        }
    return count > 0 ? sum / (double)count : 0;
}

/* levels [n] of the blocks, by fitting the two kinds of effect in turn. */
static void fit_levels(const struct blocks *blocks, double *levels)
{
    size_t width = blocks->n_contestants;
    double *effects = mem_new(width, sizeof(*effects));
    double moved = INFINITY;

    for (int round = 0; round < FIT_ROUNDS && moved > FIT_ENOUGH; round++) {
        moved = 0;
        for (size_t i = 0; i < blocks->n; i++) {
            double level = mean_rest(cell(blocks, i, 0), 1, width, effects);

            moved = fmax(moved, fabs(level - levels[i]));
            levels[i] = level;
        }
        for (size_t c = 0; c < width; c++)
            effects[c] =
                mean_rest(cell(blocks, 0, c), width, blocks->n, levels);
    }
    free(effects);
}

static void time_of(const struct blocks *blocks, size_t contestant,
                    const double *levels, double typical, double confidence,
                    struct block_time *out)
{
    struct difference *d = mem_new(blocks->n, sizeof(*d));
    struct signed_rank rank;
    size_t n = 0;

    for (size_t i = 0; i < blocks->n; i++) {
        double value = *cell(blocks, i, contestant) - levels[i];

        if (!isnan(value))
            d[n++] = (struct difference){ value, blocks->gpus[i] };
    }
    signed_rank(d, n, confidence, &rank);
    out->seconds = exp(typical + rank.estimate);
    out->lo = exp(typical + rank.lo);
    out->hi = exp(typical + rank.hi);
    free(d);
}

void blocks_times(const struct blocks *blocks, double confidence,
                  struct block_time *out)
{
    double *levels = mem_new(blocks->n, sizeof(*levels));
    struct summary typical = { .median = 0 };

    if (blocks->n > 0) {
        fit_levels(blocks, levels);
        stats_summary(levels, blocks->n, &typical);
    }
    for (size_t c = 0; c < blocks->n_contestants; c++)
        time_of(blocks, c, levels, typical.median, confidence, &out[c]);
    free(levels);
}
