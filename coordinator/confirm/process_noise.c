#include "coordinator/confirm/process_noise.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/stats/normal.h"
#include "coordinator/stats/variance_ratio.h"

/* Candidates and blocks are fitted in turns.  That is exact after one round
 * unless a candidate is missing somewhere. */
#define FIT_ROUNDS 50

/* The variance of the median of n normal samples is that of one sample, times
 * this, over n.  For few samples it is a little less. */
#define MEDIAN_VARIANCE (M_PI / 2)
/* The samples of a process may add so much to the variance between processes.
 */
#define SAMPLES_SHARE 0.25
#define POWER 0.99
/* Looks need more blocks than a single test at the end, as Pocock's. */
#define LOOKS_MORE 1.3

/* A candidate in a block. */
struct cell {
    size_t block, candidate; /* the block's place in the order */
    double mean;             /* log time, less what was fitted */
    double n;                /* samples */
};

struct cells {
    struct cell *items;
    size_t n, n_blocks, n_candidates;
    double within, n_within; /* sum of squares and degrees of freedom */
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

static void add_cell(struct cells *cells, const struct block_sample *of,
                     size_t n)
{
    struct cell *cell = &cells->items[cells->n++];
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += log(of[i].seconds);
    *cell = (struct cell){ .block = cells->n_blocks - 1,
                           .candidate = (size_t)of->candidate,
                           .mean = sum / (double)n,
                           .n = (double)n };
    for (size_t i = 0; i < n; i++)
        cells->within += pow(log(of[i].seconds) - cell->mean, 2);
    cells->n_within += (double)(n - 1);
    if (cell->candidate >= cells->n_candidates)
        cells->n_candidates = cell->candidate + 1;
}

static void find_cells(struct cells *cells, const struct block_sample *samples,
                       size_t n)
{
    struct block_sample *sorted = mem_dup(samples, n * sizeof(*samples));
    size_t run;

    qsort(sorted, n, sizeof(*sorted), in_order);
    for (size_t i = 0; i < n; i += run) {
        for (run = 1;
             i + run < n && in_order(&sorted[i], &sorted[i + run]) == 0; run++)
            ;
        cells->n_blocks += i == 0 || sorted[i].block != sorted[i - 1].block ||
                           sorted[i].gpu != sorted[i - 1].gpu;
        add_cell(cells, &sorted[i], run);
    }
    free(sorted);
}

/* Take the mean of each block, or of each candidate, out of its cells. Returns
 * how many of them there are. */
static size_t sweep_out(struct cells *cells, bool blocks)
{
    size_t most = blocks ? cells->n_blocks : cells->n_candidates, found = 0;
    double *sums = mem_new(most, sizeof(*sums));
    double *counts = mem_new(most, sizeof(*counts));

    for (size_t i = 0; i < cells->n; i++) {
        const struct cell *c = &cells->items[i];

        sums[blocks ? c->block : c->candidate] += c->mean;
        counts[blocks ? c->block : c->candidate]++;
    }
    for (size_t i = 0; i < cells->n; i++) {
        struct cell *c = &cells->items[i];
        size_t at = blocks ? c->block : c->candidate;

        c->mean -= sums[at] / counts[at];
    }
    for (size_t i = 0; i < most; i++)
        found += counts[i] > 0;
    free(counts);
    free(sums);
    return found;
}

static void compare(const struct cells *cells, double freedom,
                    struct process_noise *out)
{
    double rest = 0, samples = 0, cell, sample;

    for (size_t i = 0; i < cells->n; i++) {
        rest += cells->items[i].n * pow(cells->items[i].mean, 2);
        samples += cells->items[i].n;
    }
    cell = rest / freedom;
    sample = cells->within / cells->n_within;
    if (!(sample > 0) || !(cell > 0))
        return; /* times without noise */
    out->within = sqrt(sample);
    out->between = sqrt(fmax(0, cell - sample) * (double)cells->n / samples);
    out->ratio = cell / sample;
    out->p = variance_ratio_p(out->ratio, freedom, cells->n_within);
    out->noticed =
        out->ratio >= PROCESS_NOISE_RATIO && out->p <= PROCESS_NOISE_LEVEL;
}

void process_noise_of(const struct block_sample *samples, size_t n,
                      struct process_noise *out)
{
    struct cells cells = { .items = mem_new(n, sizeof(*cells.items)) };
    size_t blocks = 0, candidates = 0;
    double freedom;

    *out = (struct process_noise){ NAN, NAN, NAN, NAN, false };
    find_cells(&cells, samples, n);
    for (int round = 0; round < FIT_ROUNDS; round++) {
        blocks = sweep_out(&cells, true);
        candidates = sweep_out(&cells, false);
        if (cells.n == blocks * candidates)
            break;
    }
    freedom = (double)cells.n + 1 - (double)(blocks + candidates);
    if (freedom > 0 && cells.n_within > 0)
        compare(&cells, freedom, out);
    free(cells.items);
}

static int clamp(double value, int least, int most)
{
    return value < least ? least : value > most ? most : (int)ceil(value);
}

void process_noise_plan(const struct process_noise *noise, double gap,
                        double level, struct process_plan *plan)
{
    double between = noise->between * noise->between;
    double sample = MEDIAN_VARIANCE * noise->within * noise->within;
    double z = normal_quantile(1 - level) + normal_quantile(POWER), cell;
    int most = PROCESS_PLAN_MOST * plan->most;

    if (most > PROCESS_PLAN_BLOCKS)
        most = PROCESS_PLAN_BLOCKS;
    plan->samples = clamp(sample / (SAMPLES_SHARE * between), 1, plan->samples);
    cell = between + sample / plan->samples;
    plan->most = clamp(LOOKS_MORE * z * z * 2 * cell / (gap * gap),
                       PROCESS_PLAN_LEAST * plan->most, most);
}
