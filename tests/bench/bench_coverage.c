/* bench_coverage - how often the interval of a speedup contains the truth
 *
 * The bench simulates confirmation passes of two candidates, for each noise of
 * tests/coordinator/noise.c, on one GPU and on two.  It prints the share of the
 * 95 % intervals that contain the true ratio, their median half-width, and how
 * often two equally fast candidates are told apart at 5 %.  For comparison, it
 * also prints the coverage of an interval that treats all samples as
 * independent.  JSON lines go to stdout; the worst coverages come last, to
 * stderr.  The argument is the number of passes of each kind (4000).
 *
 * With --verdicts it prints how often the verdict of such a pass is wrong
 * (verdict_rates.h).  The argument is again the number of passes (1000).
 * With --sequential it prints what a pass with looks finds
 * (sequential_rates.h); after the number of passes, the name of a noise may
 * follow, that of the finalists, and the most blocks.
 * With --compare it prints how often a comparison of two winners is wrong
 * (compare_rates.h); the arguments are the number of passes and a noise.  With
 * --compare-looks the passes of both sides end by their looks.
 * With --external it prints how often a verdict over an external baseline is
 * wrong (external_rates.h); the arguments are the first three of those of
 * --sequential.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/confirm/speedup.h"
#include "coordinator/stats/normal.h"
#include "coordinator/stats/stats.h"
#include "tests/bench/compare_rates.h"
#include "tests/bench/external_rates.h"
#include "tests/bench/sequential_rates.h"
#include "tests/bench/verdict_rates.h"
#include "tests/coordinator/noise.h"

#define CONFIDENCE 0.95
#define TRUTH 0.02 /* by this, the first candidate is faster */

struct kind {
    const struct noise *noise;
    size_t n_gpus, n_blocks, n_samples;
};

struct figure {
    double coverage, half_width, rejected;
    double naive; /* coverage if samples count as independent */
};

/* Does the interval for the difference of the mean log times contain TRUTH, if
 * all samples count as independent and normal? */
static bool naive_holds(const struct block_sample *samples, size_t n)
{
    double sum[2] = { 0, 0 }, squares[2] = { 0, 0 }, each = (double)n / 2;
    double variance = 0, difference;

    for (size_t i = 0; i < n; i++) {
        double value = log(samples[i].seconds);

        sum[samples[i].candidate] += value;
        squares[samples[i].candidate] += value * value;
    }
    for (int c = 0; c < 2; c++)
        variance += (squares[c] - sum[c] * sum[c] / each) / (each - 1) / each;
    difference = (sum[1] - sum[0]) / each;
    return fabs(difference - TRUTH) <=
           normal_quantile((1 + CONFIDENCE) / 2) * sqrt(variance);
}

static void run_kind(const struct kind *kind, size_t n_passes,
                     struct figure *out)
{
    static const double logs[] = { -9 - TRUTH, -9 };
    struct noise_pass pass = { .n_contestants = 2,
                               .n_blocks = kind->n_blocks,
                               .n_samples = kind->n_samples,
                               .n_gpus = kind->n_gpus,
                               .logs = logs };
    struct noise_stream stream = noise_stream(kind->n_blocks);
    struct block_sample *samples = mem_new(
        2 * kind->n_blocks * kind->n_samples * kind->n_gpus, sizeof(*samples));
    double *widths = mem_new(n_passes, sizeof(*widths));
    struct summary width;
    size_t held = 0, rejected = 0, naive = 0;

    for (size_t i = 0; i < n_passes; i++) {
        size_t n = noise_measure(kind->noise, &pass, &stream, samples);
        struct blocks *blocks = blocks_new(samples, n, 2);
        struct speedup s;

        speedup_of(blocks, 0, 1, CONFIDENCE, &s);
        held += log(s.lo) <= TRUTH && TRUTH <= log(s.hi);
        naive += naive_holds(samples, n);
        widths[i] = log(s.hi / s.lo) / 2;
        blocks_free(blocks);
        for (size_t k = 0; k < n; k++)
            if (samples[k].candidate == 0)
                samples[k].seconds *= exp(TRUTH);
        blocks = blocks_new(samples, n, 2);
        speedup_of(blocks, 0, 1, CONFIDENCE, &s);
        rejected += s.p <= 1 - CONFIDENCE;
        blocks_free(blocks);
    }
    stats_summary(widths, n_passes, &width);
    *out = (struct figure){ (double)held / (double)n_passes, width.median,
                            (double)rejected / (double)n_passes,
                            (double)naive / (double)n_passes };
    free(widths);
    free(samples);
}

/* The other subjects; false if none is asked for. */
static bool run_rates(int argc, char *argv[])
{
    size_t n_passes = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    const char *noise = argc > 3 ? argv[3] : NULL;

    if (strcmp(argv[1], "--verdicts") == 0)
        verdict_rates(n_passes);
    else if (strcmp(argv[1], "--sequential") == 0)
        sequential_rates(n_passes, noise, argc > 4 ? argv[4] : NULL,
                         argc > 5 ? atoi(argv[5]) : SEQUENTIAL_RATES_CAP);
    else if (strcmp(argv[1], "--compare") == 0)
        compare_rates(n_passes, noise, false);
    else if (strcmp(argv[1], "--compare-looks") == 0)
        compare_rates(n_passes, noise, true);
    else if (strcmp(argv[1], "--external") == 0)
        external_rates(n_passes, noise, argc > 4 ? argv[4] : NULL);
    else
        return false;
    return true;
}

int main(int argc, char *argv[])
{
    static const struct {
        size_t n_gpus, n_blocks, n_samples;
    } shapes[] = { { 1, 5, 3 },  { 1, 6, 1 },  { 1, 8, 3 }, { 1, 10, 1 },
                   { 1, 20, 5 }, { 1, 50, 2 }, { 2, 3, 3 }, { 2, 5, 3 },
                   { 2, 10, 5 }, { 2, 25, 2 } };
    size_t n_passes = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000;
    double least = 1, most = 0;

    if (argc > 1 && run_rates(argc, argv))
        return 0;
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
        for (size_t i = 0; i <= n_noises; i++) {
            struct kind kind = { i < n_noises ? &noises[i] : &noise_uneven,
                                 shapes[k].n_gpus, shapes[k].n_blocks,
                                 shapes[k].n_samples };
            struct figure figure;

            run_kind(&kind, n_passes, &figure);
            printf("{\"noise\": \"%s\", \"gpus\": %zu, \"blocks_a_gpu\": %zu, "
                   "\"samples\": %zu, \"coverage\": %.4f, "
                   "\"half_width\": %.5f, \"told_apart\": %.4f, "
                   "\"as_independent\": %.4f}\n",
                   kind.noise->name, kind.n_gpus, kind.n_blocks, kind.n_samples,
                   figure.coverage, figure.half_width, figure.rejected,
                   figure.naive);
            fflush(stdout);
            if (i == n_noises)
                continue; /* this coverage is not promised */
            least = fmin(least, figure.coverage);
            most = fmax(most, figure.coverage);
        }
    fprintf(stderr, "coverage of 95 %% intervals: %.2f %% to %.2f %%\n",
            100 * least, 100 * most);
    return 0;
}
