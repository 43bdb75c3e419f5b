#include "coordinator/confirm/process_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/stats/normal.h"
#include "coordinator/stats/stats.h"
#include "coordinator/stats/variance_ratio.h"

/* Candidates and blocks are fitted in turns.  That is exact after one round
 * unless a candidate is missing somewhere. */
#define FIT_ROUNDS 50
#define POLISH_ROUNDS 4

/* The variance of the median of n normal samples is that of one sample, times
 * this, over n.  For few samples it is a little less. */
#define MEDIAN_VARIANCE (M_PI / 2)
/* The samples of a process may add so much to the variance between processes.
 */
#define SAMPLES_SHARE 0.25
#define POWER 0.99
/* Looks need more blocks than a single test at the end, as Pocock's. */
#define LOOKS_MORE 1.3

/* A sample that is farther from what was fitted than so many typical deviations
 * is moved there.  Late samples would otherwise make the noise inside processes
 * so large that nothing between them is seen.  Of normal noise, it moves three
 * in a thousand. */
#define FAR 3.0
#define MAD_TO_SIGMA 1.4826 /* of normal noise */

/* A candidate in a block. */
struct cell {
    size_t block, candidate; /* the block's place in the order */
    size_t first, n;         /* its samples */
    double centre;           /* of them, less what was fitted */
};

struct cells {
    struct cell *items;
    size_t n, n_blocks, n_candidates;
    double *logs; /* [n_samples] log times, by cell */
    size_t n_samples;
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

static void find_cells(struct cells *cells, const struct block_sample *samples,
                       size_t n)
{
    struct block_sample *sorted = mem_dup(samples, n * sizeof(*samples));

    qsort(sorted, n, sizeof(*sorted), in_order);
    for (size_t i = 0; i < n; i++) {
        const struct block_sample *now = &sorted[i], *last = now - 1;
        size_t candidate = (size_t)now->candidate;

        cells->n_blocks +=
            i == 0 || now->block != last->block || now->gpu != last->gpu;
        if (i == 0 || in_order(last, now) != 0)
            cells->items[cells->n++] = (struct cell){
                .block = cells->n_blocks - 1,
                .candidate = candidate,
                .first = i,
            };
        cells->items[cells->n - 1].n++;
        cells->logs[i] = log(now->seconds);
        if (candidate >= cells->n_candidates)
            cells->n_candidates = candidate + 1;
    }
    cells->n_samples = n;
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

        sums[blocks ? c->block : c->candidate] += c->centre;
        counts[blocks ? c->block : c->candidate]++;
    }
    for (size_t i = 0; i < cells->n; i++) {
        struct cell *c = &cells->items[i];
        size_t at = blocks ? c->block : c->candidate;

        c->centre -= sums[at] / counts[at];
    }
    for (size_t i = 0; i < most; i++)
        found += counts[i] > 0;
    free(counts);
    free(sums);
    return found;
}

/* Take both out of the centres.  Returns the degrees of freedom that are
 * left. */
static double fit(struct cells *cells)
{
    size_t blocks = 0, candidates = 0;

    for (int round = 0; round < FIT_ROUNDS; round++) {
        blocks = sweep_out(cells, true);
        candidates = sweep_out(cells, false);
        if (cells->n == blocks * candidates)
            break;
    }
    return (double)cells->n + 1 - (double)(blocks + candidates);
}

/* Take the median out of the centres of some cells. */
static void level(struct cell **cells, size_t n, double *scratch)
{
    double median;

    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        scratch[i] = cells[i]->centre;
    median = stats_median(scratch, n);
    for (size_t i = 0; i < n; i++)
        cells[i]->centre -= median;
}

/* Tukey's median polish (1977): a few cells with late samples do not move what
 * is fitted. */
static void polish(struct cells *cells)
{
    struct cell **some = mem_new(cells->n, sizeof(*some));
    double *scratch = mem_new(cells->n, sizeof(*scratch));

    for (int round = 0; round < POLISH_ROUNDS; round++) {
        size_t n = 0;

        for (size_t i = 0; i < cells->n; i++) { /* in order of the blocks */
            some[n++] = &cells->items[i];
            if (i + 1 < cells->n &&
                cells->items[i + 1].block == cells->items[i].block)
                continue;
            level(some, n, scratch);
            n = 0;
        }
        for (size_t c = 0; c < cells->n_candidates; c++) {
            n = 0;
            for (size_t i = 0; i < cells->n; i++)
                if (cells->items[i].candidate == c)
                    some[n++] = &cells->items[i];
            level(some, n, scratch);
        }
    }
    free(scratch);
    free(some);
}

/* Of the samples, take out what is fitted to the medians of the cells. */
static void take_out_fit(struct cells *cells)
{
    double *medians = mem_new(cells->n, sizeof(*medians));
    double *scratch = mem_new(cells->n_samples, sizeof(*scratch));

    for (size_t i = 0; i < cells->n; i++) {
        struct cell *c = &cells->items[i];

        memcpy(scratch, &cells->logs[c->first], c->n * sizeof(*scratch));
        c->centre = medians[i] = stats_median(scratch, c->n);
    }
    polish(cells);
    for (size_t i = 0; i < cells->n; i++) {
        const struct cell *c = &cells->items[i];

        for (size_t k = c->first; k < c->first + c->n; k++)
            cells->logs[k] -= medians[i] - c->centre;
    }
    free(scratch);
    free(medians);
}

/* Tukey's winsorizing (1962).  What is typical is unknown if most are equal. */
static void move_far_ones(struct cells *cells)
{
    double *sizes = mem_new(cells->n_samples, sizeof(*sizes)), most;

    for (size_t i = 0; i < cells->n_samples; i++)
        sizes[i] = fabs(cells->logs[i]);
    most = FAR * MAD_TO_SIGMA * stats_median(sizes, cells->n_samples);
    for (size_t i = 0; most > 0 && i < cells->n_samples; i++)
        cells->logs[i] = fmax(-most, fmin(most, cells->logs[i]));
    free(sizes);
}

/* Sets the centres to the means.  Returns the sum of squares around them. */
static double find_means(struct cells *cells)
{
    double squares = 0;

    for (size_t i = 0; i < cells->n; i++) {
        struct cell *c = &cells->items[i];

        c->centre = 0;
        for (size_t k = c->first; k < c->first + c->n; k++)
            c->centre += cells->logs[k] / (double)c->n;
        for (size_t k = c->first; k < c->first + c->n; k++)
            squares += pow(cells->logs[k] - c->centre, 2);
    }
    return squares;
}

static void compare(struct cells *cells, struct process_noise *out)
{
    double inside = (double)(cells->n_samples - cells->n);
    double sample = find_means(cells) / inside;
    double freedom = fit(cells), rest = 0, cell;

    for (size_t i = 0; i < cells->n; i++)
        rest += (double)cells->items[i].n * pow(cells->items[i].centre, 2);
    cell = rest / freedom;
    if (!(inside > 0) || !(freedom > 0) || !(sample > 0) || !(cell > 0))
        return; /* too few, or times without noise */
    out->within = sqrt(sample);
    out->between = sqrt(fmax(0, cell - sample) * (double)cells->n /
                        (double)cells->n_samples);
    out->ratio = cell / sample;
    out->p = variance_ratio_p(out->ratio, freedom, inside);
    out->noticed =
        out->ratio >= PROCESS_NOISE_RATIO && out->p <= PROCESS_NOISE_LEVEL;
}

void process_noise_of(const struct block_sample *samples, size_t n,
                      struct process_noise *out)
{
    struct cells cells = { .items = mem_new(n, sizeof(*cells.items)),
                           .logs = mem_new(n, sizeof(*cells.logs)) };

    *out = (struct process_noise){ NAN, NAN, NAN, NAN, false };
    find_cells(&cells, samples, n);
    if (n > 0) {
        take_out_fit(&cells);
        move_far_ones(&cells);
        compare(&cells, out);
    }
    free(cells.logs);
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
