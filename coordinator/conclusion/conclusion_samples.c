#include "coordinator/conclusion/conclusion_samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/search/objective.h"
#include "coordinator/stats/stats.h"

static size_t cell_of(const struct conclusion_sample *s,
                      const struct conclusion_scope *scope)
{
    return (size_t)s->sample.candidate * scope->n_shapes + s->shape;
}

/* The geometric mean over the cells of a candidate; NAN if one is empty.
 * ends  [candidates * shapes] of the cells in 'seconds' */
static double mean_of(const double *seconds, const size_t *ends,
                      const struct conclusion_scope *scope, size_t candidate)
{
    size_t first = candidate * scope->n_shapes;
    double logs = 0;

    for (size_t i = first; i < first + scope->n_shapes; i++) {
        size_t from = i == 0 ? 0 : ends[i - 1];
        struct summary summary;

        if (from == ends[i])
            return NAN;
        stats_summary(&seconds[from], ends[i] - from, &summary);
        logs += log(summary.median);
    }
    return exp(logs / (double)scope->n_shapes);
}

/* The means of one block, whose samples these are. */
static size_t put_means(const struct conclusion_sample *samples, size_t n,
                        const struct conclusion_scope *scope,
                        struct block_sample *out)
{
    size_t cells = scope->n_candidates * scope->n_shapes, kept = 0;
    size_t *ends = mem_new(cells + 1, sizeof(*ends));
    double *seconds = mem_new(n, sizeof(*seconds));

    for (size_t i = 0; i < n; i++)
        ends[cell_of(&samples[i], scope) + 1]++; /* sizes, one further on */
    for (size_t i = 1; i <= cells; i++)
        ends[i] += ends[i - 1];    /* beginnings */
    for (size_t i = 0; i < n; i++) /* beginnings become ends */
        seconds[ends[cell_of(&samples[i], scope)]++] =
            samples[i].sample.seconds;
    for (size_t c = 0; c < scope->n_candidates; c++) {
        double mean = mean_of(seconds, ends, scope, c);

        if (!isnan(mean))
            out[kept++] =
                (struct block_sample){ (int)c, samples[0].sample.block,
                                       samples[0].sample.gpu, mean };
    }
    free(seconds);
    free(ends);
    return kept;
}

size_t conclusion_samples_at(const struct conclusion_sample *samples, size_t n,
                             const struct conclusion_scope *scope,
                             struct block_sample *out)
{
    size_t kept = 0, to;

    if (scope->at != OBJECTIVE_ALL) {
        for (size_t i = 0; i < n; i++)
            if (samples[i].shape == (size_t)scope->at)
                out[kept++] = samples[i].sample;
        return kept;
    }
    for (size_t from = 0; from < n; from = to) {
        for (to = from;
             to < n && samples[to].sample.block == samples[from].sample.block;)
            to++;
        kept += put_means(&samples[from], to - from, scope, &out[kept]);
    }
    return kept;
}
