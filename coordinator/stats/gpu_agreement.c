#include "coordinator/stats/gpu_agreement.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/stats/signed_rank.h"
#include "coordinator/stats/stats.h"

/* One configuration on one GPU. */
struct cell {
    int64_t config;
    int gpu;
    double log_s, off; /* off: deviation from the middle of the configuration */
    bool is_shared;
};

static int by_config(const void *a, const void *b)
{
    const struct witness *x = a, *y = b;

    if (x->config != y->config)
        return (x->config > y->config) - (x->config < y->config);
    return (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

static int by_gpu(const void *a, const void *b)
{
    int x = ((const struct cell *)a)->gpu, y = ((const struct cell *)b)->gpu;

    return (x > y) - (x < y);
}

static double median(const double *values, size_t n)
{
    struct summary summary;

    stats_summary(values, n, &summary);
    return summary.median;
}

/* Repeated measurements become one cell; returns how many there are. */
static size_t find_cells(const struct witness *sorted, size_t n,
                         double *scratch, struct cell *out)
{
    size_t n_cells = 0, run;

    for (size_t i = 0; i < n; i += run) {
        for (run = 0;
             i + run < n && by_config(&sorted[i + run], &sorted[i]) == 0; run++)
            scratch[run] = log(sorted[i + run].seconds);
        out[n_cells++] = (struct cell){ .config = sorted[i].config,
                                        .gpu = sorted[i].gpu,
                                        .log_s = median(scratch, run) };
    }
    return n_cells;
}

static void find_offsets(struct cell *cells, size_t n, double *scratch)
{
    size_t run;

    for (size_t i = 0; i < n; i += run) {
        double level;

        for (run = 0; i + run < n && cells[i + run].config == cells[i].config;
             run++)
            scratch[run] = cells[i + run].log_s;
        level = median(scratch, run);
        for (size_t k = i; k < i + run; k++) {
            cells[k].off = cells[k].log_s - level;
            cells[k].is_shared = run > 1;
        }
    }
}

/* The cells of one GPU, 'n' from the first one on. */
static void judge(const struct cell *cells, size_t n, double threshold,
                  double confidence, struct difference *scratch,
                  struct gpu_agreement *out)
{
    struct signed_rank rank;
    size_t shared = 0;

    for (size_t i = 0; i < n; i++)
        if (cells[i].is_shared)
            scratch[shared++] = (struct difference){ cells[i].off, 0 };
    signed_rank(scratch, shared, confidence, &rank);
    *out = (struct gpu_agreement){
        .gpu = cells[0].gpu,
        .n_shared = shared,
        .offset = expm1(rank.estimate),
        .lo = expm1(rank.lo),
        .hi = expm1(rank.hi),
        .disagrees = rank.lo > log1p(threshold) || rank.hi < -log1p(threshold),
    };
}

size_t gpu_agreement(const struct witness *witnesses, size_t n,
                     double threshold, double confidence,
                     struct gpu_agreement *out)
{
    struct witness *sorted = mem_dup(witnesses, n * sizeof(*witnesses));
    struct cell *cells = mem_new(n, sizeof(*cells));
    struct difference *differences = mem_new(n, sizeof(*differences));
    double *scratch = mem_new(n, sizeof(*scratch));
    size_t n_gpus = 0, n_cells, run;

    qsort(sorted, n, sizeof(*sorted), by_config);
    n_cells = find_cells(sorted, n, scratch, cells);
    find_offsets(cells, n_cells, scratch);
    qsort(cells, n_cells, sizeof(*cells), by_gpu);
    for (size_t i = 0; i < n_cells; i += run) {
        for (run = 1; i + run < n_cells && cells[i + run].gpu == cells[i].gpu;)
            run++;
        judge(&cells[i], run, threshold, confidence, differences,
              &out[n_gpus++]);
    }
    free(scratch);
    free(differences);
    free(cells);
    free(sorted);
    return n_gpus;
}
