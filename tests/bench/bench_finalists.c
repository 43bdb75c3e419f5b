/* bench_finalists - whether the fastest of a recorded space becomes a finalist
 *
 *   bench_finalists LANDSCAPE...    Kernel Tuner cache files, gzip or plain
 *
 * The bench draws 5 of the recorded samples of every configuration and chooses
 * finalists by them, 100 times.  It counts how often the configuration with the
 * lowest median of all samples is not among them, how many finalists there are,
 * and how much slower the best finalist is in the worst case.  JSON lines go to
 * stdout; the number of misses comes last, to stderr.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/confirm/finalists.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"
#include "coordinator/stats/stats.h"
#include "tests/coordinator/noise.h"

#define DRAWS 100
#define SAMPLES 5

/* The configurations with samples, and their true times. */
struct field {
    const struct landscape_config **configs;
    const double *samples;
    double *medians;
    size_t n, best;
    double noise; /* median over the configurations, relative */
};

struct figure {
    size_t missed, chosen;
    double regret; /* in the worst case */
};

static void find_field(const struct landscape *landscape, size_t n_points,
                       struct field *out)
{
    double *spreads = mem_new(n_points, sizeof(*spreads));
    struct summary summary;

    out->configs = mem_new(n_points, sizeof(*out->configs));
    out->medians = mem_new(n_points, sizeof(*out->medians));
    out->samples = landscape->samples;
    for (size_t i = 0; i < n_points; i++) {
        const struct landscape_config *config = &landscape->configs[i];

        if (config->outcome != OUTCOME_CORRECT || config->samples_n < SAMPLES)
            continue;
        stats_summary(&landscape->samples[config->sample_at],
                      (size_t)config->samples_n, &summary);
        if (out->n == 0 || summary.median < out->medians[out->best])
            out->best = out->n;
        spreads[out->n] = summary.spread / summary.median;
        out->medians[out->n] = summary.median;
        out->configs[out->n++] = config;
    }
    if (out->n > 0) {
        stats_summary(spreads, out->n, &summary);
        out->noise = summary.median;
    }
    free(spreads);
}

static void draw(const struct field *field, const struct landscape_config *from,
                 struct noise_stream *stream, struct screened *out)
{
    double drawn[SAMPLES];
    const double *samples = &field->samples[from->sample_at];
    int left = from->samples_n, need = SAMPLES;

    for (int i = 0; need > 0; i++, left--)
        if (noise_uniform(stream) * left < need)
            drawn[--need] = samples[i];
    finalists_screen(drawn, SAMPLES, 1, out);
}

static void choose_often(const struct field *field, struct figure *out)
{
    const struct finalist_rules rules = { .alpha = 0.05,
                                          .noise = field->noise };
    struct noise_stream stream = noise_stream(1);
    struct screened *screened = mem_new(field->n, sizeof(*screened));
    bool *chosen = mem_new(field->n, sizeof(*chosen));
    struct finalists finalists;

    for (int i = 0; i < DRAWS; i++) {
        double least = INFINITY;

        for (size_t k = 0; k < field->n; k++)
            draw(field, field->configs[k], &stream, &screened[k]);
        finalists_choose(screened, field->n, &rules, 1, field->n, chosen,
                         &finalists);
        for (size_t k = 0; k < field->n; k++)
            if (chosen[k])
                least = fmin(least, field->medians[k]);
        out->missed += !chosen[field->best];
        out->chosen += finalists.n_chosen;
        out->regret =
            fmax(out->regret, least / field->medians[field->best] - 1);
    }
    free(chosen);
    free(screened);
}

static int bench(const char *path, size_t *missed, struct err *err)
{
    struct landscape *landscape;
    struct field field = { .n = 0 };
    struct figure figure = { 0 };
    int rc = landscape_load(path, &landscape, err);

    if (rc < 0)
        return rc;
    find_field(landscape, (size_t)domain_size(landscape->domain), &field);
    if (field.n > 0)
        choose_often(&field, &figure);
    printf("{\"landscape\": \"%s\", \"configurations\": %zu, \"noise\": %.5f, "
           "\"missed\": %zu, \"draws\": %d, \"finalists\": %.1f, "
           "\"worst_regret\": %.5f}\n",
           path, field.n, field.noise, figure.missed, DRAWS,
           (double)figure.chosen / DRAWS, figure.regret);
    *missed += figure.missed;
    free(field.medians);
    free(field.configs);
    landscape_free(landscape);
    return 0;
}

int main(int argc, char *argv[])
{
    struct err err;
    size_t missed = 0;

    for (int i = 1; i < argc; i++)
        if (bench(argv[i], &missed, &err) < 0) {
            fprintf(stderr, "bench_finalists: %s\n", err.text);
            return 1;
        }
    fprintf(stderr, "the best was missed in %zu of %d draws\n", missed,
            (argc - 1) * DRAWS);
    return 0;
}
