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
                                   mem_new(n * each, sizeof(double)) };
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

void noise_results_fini(struct noise_results *results)
{
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
