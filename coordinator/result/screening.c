#include "coordinator/result/screening.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_gpus.h"
#include "coordinator/result/report_objective.h"
#include "coordinator/search/objective.h"
#include "coordinator/stats/stats.h"

/* Variation from one measurement to the next on a calm GPU, if there are too
 * few canaries to estimate it: the smallest difference of practical
 * interest. */
#define BETWEEN 0.005
#define CANARIES_TO_TELL 5

static double median_of(double *values, size_t n, double otherwise)
{
    struct summary summary;

    if (n == 0)
        return otherwise;
    stats_summary(values, n, &summary);
    return summary.median;
}

/* Noise of one canary around its line, over the GPUs that have enough of
 * them. */
static double noise_between(const struct report *report)
{
    double *noises = mem_new(report->n_gpus + 1, sizeof(*noises)), noise;
    size_t kept = 0;

    for (size_t i = 0; i < report->n_gpus; i++)
        if (report->gpus[i].canary.n_canaries >= CANARIES_TO_TELL)
            noises[kept++] = report->gpus[i].canary.noise;
    noise = median_of(noises, kept, BETWEEN);
    free(noises);
    return noise;
}

static double typical_noise(const struct screened *screened, size_t n)
{
    double *sds = mem_new(n + 1, sizeof(*sds)), noise;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(screened[i].seconds) && screened[i].n_samples > 1)
            sds[kept++] = screened[i].sd;
    noise = median_of(sds, kept, 0);
    free(sds);
    return noise;
}

static void look_at(const struct report *report, size_t shape,
                    const bool *out_of_it, struct screened *screened)
{
    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];
        const struct report_cell *cell = &config->cells[shape];

        screened[i] = (struct screened){ (double)NAN, 1, 0 };
        if (config->rank && !config->baseline && !out_of_it[i] &&
            cell->n_samples > 0)
            finalists_screen(cell->samples, cell->n_samples,
                             cell->time_s / cell->summary.median, &screened[i]);
    }
}

/* By the geometric mean of all shapes. */
static void look_over_all(const struct report *report,
                          const struct screened *screened,
                          const struct finalist_rules *rules,
                          struct screened *out)
{
    for (size_t i = 0; i < report->n_configs; i++)
        finalists_over_all(&screened[i], report->n_configs, rules,
                           report->n_shapes, &out[i]);
}

static void swap(struct screened *a, struct screened *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct screened kept = a[i];

        a[i] = b[i];
        b[i] = kept;
    }
}

void screening_choose(const struct report *report,
                      const struct screening_rules *rules,
                      const bool *out_of_it, bool *chosen,
                      struct finalists *out)
{
    size_t n = report->n_configs, n_rows = report->n_shapes;
    struct screened *screened =
        mem_new((n_rows + 1) * n + 1, sizeof(*screened));
    struct finalist_rules *each = mem_new(n_rows + 1, sizeof(*each));
    struct finalist_rules kept;
    double between = noise_between(report);
    int objective = report_objective(report);
    size_t first = objective == OBJECTIVE_ALL ? n_rows : (size_t)objective;

    for (size_t s = 0; s < n_rows; s++) {
        look_at(report, s, out_of_it, &screened[s * n]);
        each[s] = (struct finalist_rules){
            .alpha = rules->alpha,
            .noise = typical_noise(&screened[s * n], n),
            .between = between,
        };
    }
    if (objective == OBJECTIVE_ALL) {
        look_over_all(report, screened, each, &screened[n_rows * n]);
        each[n_rows++] = (struct finalist_rules){ .alpha = rules->alpha,
                                                  .between = between };
    }
    if (n_rows > 0) { /* the objective takes its turn first */
        kept = each[0];
        each[0] = each[first];
        each[first] = kept;
        swap(screened, &screened[first * n], n);
    }
    finalists_choose(screened, n, each, n_rows, rules->cap, chosen, out);
    free(each);
    free(screened);
}

size_t screening_best(struct config_selection *selection,
                      const struct spec *spec, const struct report *report,
                      size_t most)
{
    size_t found = 0;

    for (size_t i = 0; i < report->n_configs && found < most; i++) {
        if (!report->configs[i].rank)
            break; /* ranked ones come first */
        found += config_selection_params(selection, spec,
                                         &report->configs[i].params);
    }
    return found;
}
