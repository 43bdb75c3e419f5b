#include "tests/coordinator/noise_results.h"

#include <stdlib.h>

#include "common/mem.h"

void noise_results_measure(const struct noise *noise,
                           const struct noise_pass *pass,
                           struct noise_stream *s, struct noise_results *out)
{
    size_t each = pass->n_samples, n_gpus = pass->n_gpus;
    size_t n = n_gpus * pass->n_blocks * pass->n_contestants;
    struct block_sample *samples = mem_new(n * each, sizeof(*samples));

    *out = (struct noise_results){ mem_new(n, sizeof(*out->items)), n,
                                   mem_new(n * each, sizeof(double)), NULL };
    noise_measure(noise, pass, s, samples);
    for (size_t i = 0; i < n * each; i++)
        out->seconds[i] = samples[i].seconds;
    for (size_t i = 0; i < n; i++) {
        const struct block_sample *first = &samples[i * each];
        size_t block = (size_t)first->block * n_gpus + (size_t)first->gpu;

        out->items[block * pass->n_contestants + i % pass->n_contestants] =
            (struct sequential_result){
                .candidate = (size_t)first->candidate,
                .block = (int)block + 1,
                .gpu = first->gpu,
                .seconds = &out->seconds[i * each],
                .n = each,
            };
    }
    free(samples);
}

/* Measure the blocks after the first 'n' results again, as 'looks' wants. */
static void measure_on(const struct noise *noise, const struct noise_pass *pass,
                       const struct sequential *looks, size_t n,
                       struct noise_stream *s, struct noise_results *out)
{
    struct noise_pass longer = *pass;
    struct noise stretched = *noise;
    struct noise_results all;

    longer.n_blocks = ((size_t)looks->most + pass->n_gpus - 1) / pass->n_gpus;
    longer.n_samples = (size_t)looks->samples;
    stretched.drift *= (double)longer.n_blocks / (double)pass->n_blocks;
    noise_results_measure(&stretched, &longer, s, &all);
    for (size_t i = 0; i < n; i++)
        all.items[i] = out->items[i];
    free(out->items);
    out->items = all.items;
    out->n = all.n;
    out->later = all.seconds;
}

struct sequential *noise_results_pass(const struct noise *noise,
                                      const struct noise_pass *pass,
                                      const struct sequential_design *design,
                                      struct noise_stream *s,
                                      struct noise_results *out)
{
    bool *out_of_it = mem_new(design->candidates, sizeof(*out_of_it));
    size_t n = pass->n_contestants * (size_t)sequential_first(design);
    struct sequential *looks;

    noise_results_measure(noise, pass, s, out);
    looks = sequential_replay(design, out->items, n, out_of_it);
    if (looks->samples < design->samples ||
        looks->most > (int)(pass->n_blocks * pass->n_gpus))
        measure_on(noise, pass, looks, n, s, out);
    sequential_free(looks);
    looks = sequential_replay(design, out->items, out->n, out_of_it);
    free(out_of_it);
    return looks;
}

void noise_results_fini(struct noise_results *results)
{
    free(results->later);
    free(results->items);
    free(results->seconds);
}

size_t noise_results_counted(const struct noise_results *results,
                             const struct sequential *sequential,
                             struct block_sample *out)
{
    size_t n = 0;

    for (size_t i = 0; i < results->n; i++) {
        const struct sequential_result *r = &results->items[i];

        if (!sequential_counts(sequential, r->candidate, r->block))
            continue;
        for (size_t k = 0; k < r->n; k++)
            out[n++] = (struct block_sample){ (int)r->candidate, r->block,
                                              r->gpu, r->seconds[k] };
    }
    return n;
}
