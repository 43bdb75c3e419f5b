#include "tests/coordinator/noise.h"

#include <assert.h>
#include <math.h>

#include "worker/runner/wire/fill.h"

#define CONTESTANTS_MAX 64

/* Sizes as observed on cards: 1 % of noise, outliers of tens of percent, 9 % of
 * drift, power caps that step by 17 %, cards that differ by 8 %. */
const struct noise noises[] = {
    { .name = "normal", .sd = 0.01 },
    { .name = "late samples", .sd = 0.01, .tail = 0.1, .tail_sd = 0.3 },
    { .name = "exponential", .tail = 1, .tail_sd = 0.02 },
    { .name = "a level a process", .sd = 0.005, .process_sd = 0.02 },
    { .name = "drift", .sd = 0.01, .drift = 0.09, .swing = 0.05 },
    { .name = "drift in blocks", .sd = 0.005, .within = 0.04 },
    { .name = "power cap", .sd = 0.01, .step = 0.17, .within = 0.02 },
    { .name = "correlated", .sd = 0.003, .walk = 0.02, .keep = 0.95 },
    { .name = "all of it",
      .sd = 0.01,
      .tail = 0.05,
      .tail_sd = 0.2,
      .process_sd = 0.005,
      .drift = 0.05,
      .within = 0.02,
      .step = 0.1,
      .walk = 0.01,
      .keep = 0.9,
      .card = 0.08,
      .card_noise = 3 },
    { .name = "two clocks", .sd = 0.005, .clocks = 0.015 },
};
const struct noise noise_uneven = { .name = "late samples of one",
                                    .sd = 0.01,
                                    .tail = 0.1,
                                    .tail_sd = 0.3,
                                    .uneven = true };
const size_t n_noises = sizeof(noises) / sizeof(noises[0]);

struct noise_stream noise_stream(uint64_t seed)
{
    return (struct noise_stream){ .key = fill_key(seed, 0) };
}

double noise_uniform(struct noise_stream *s)
{
    return (double)(fill_bits(s->key, s->next++) >> 11) * 0x1p-53;
}

double noise_normal(struct noise_stream *s)
{
    double u = noise_uniform(s), v = noise_uniform(s);

    return sqrt(-2 * log(1 - u)) * cos(2 * M_PI * v);
}

size_t noise_below(struct noise_stream *s, size_t n)
{
    return (size_t)(noise_uniform(s) * (double)n);
}

void noise_shuffle(struct noise_stream *s, int *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = noise_below(s, i);
        int kept = items[i - 1];

        items[i - 1] = items[k];
        items[k] = kept;
    }
}

static double common_level(const struct noise *noise, double progress,
                           double in_block, size_t gpu)
{
    return noise->drift * progress + noise->swing * sin(2 * M_PI * progress) +
           (progress > 1.0 / 3 ? noise->step : 0) + noise->within * in_block +
           (gpu == 1 ? noise->card : 0);
}

double noise_own(const struct noise *noise, struct noise_stream *s)
{
    double late = noise_uniform(s) < noise->tail
                      ? -noise->tail_sd * log(1 - noise_uniform(s))
                      : 0;

    return noise->sd * noise_normal(s) + late;
}

struct walk {
    double at, keep, kick;
};

static double walk_on(struct walk *walk, struct noise_stream *s)
{
    walk->at = walk->keep * walk->at + walk->kick * noise_normal(s);
    return walk->at;
}

/* One sample, log seconds; 'process' is what its process adds. */
static double sample(const struct noise *noise, const struct noise_pass *pass,
                     const struct block_sample *at, double in_block,
                     double process, struct walk *walk, struct noise_stream *s)
{
    double progress = (at->block + in_block) / (double)pass->n_blocks;
    double scale =
        at->gpu == 1 && noise->card_noise > 0 ? noise->card_noise : 1;

    struct noise own = *noise;

    if (noise->uneven && at->candidate != 0)
        own.tail = 0;
    return pass->logs[at->candidate] +
           common_level(noise, progress, in_block, (size_t)at->gpu) +
           walk_on(walk, s) + scale * (process + noise_own(&own, s));
}

static double process_level(const struct noise *noise, struct noise_stream *s)
{
    double level = noise->process_sd * noise_normal(s);

    if (noise->clocks > 0 && noise_uniform(s) < 0.5)
        level += noise->clocks;
    return level;
}

static size_t measure_block(const struct noise *noise,
                            const struct noise_pass *pass, int gpu, int block,
                            struct walk *walk, struct noise_stream *s,
                            struct block_sample *out)
{
    size_t n = pass->n_contestants * pass->n_samples;
    int order[CONTESTANTS_MAX];
    double process = 0;

    assert(pass->n_contestants <= CONTESTANTS_MAX);
    for (size_t c = 0; c < pass->n_contestants; c++)
        order[c] = (int)c;
    noise_shuffle(s, order, pass->n_contestants);
    for (size_t i = 0; i < n; i++) {
        if (i % pass->n_samples == 0)
            process = process_level(noise, s);
        out[i] = (struct block_sample){ .candidate = order[i / pass->n_samples],
                                        .block = block,
                                        .gpu = gpu };
        out[i].seconds = exp(sample(noise, pass, &out[i], (double)i / (double)n,
                                    process, walk, s));
    }
    return n;
}

size_t noise_measure(const struct noise *noise, const struct noise_pass *pass,
                     struct noise_stream *s, struct block_sample *out)
{
    size_t n = 0;

    for (size_t gpu = 0; gpu < pass->n_gpus; gpu++) {
        struct walk walk = { .at = noise->walk * noise_normal(s),
                             .keep = noise->keep,
                             .kick = noise->walk *
                                     sqrt(1 - noise->keep * noise->keep) };

        for (size_t block = 0; block < pass->n_blocks; block++)
            n += measure_block(noise, pass, (int)gpu, (int)block, &walk, s,
                               &out[n]);
    }
    return n;
}
