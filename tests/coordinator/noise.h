/* noise.h - simulated times of a GPU with known disturbances
 *
 * Every number comes from the seed, by the generator of
 * worker/runner/wire/fill.h.
 */
#ifndef FA_TESTS_COORDINATOR_NOISE_H
#define FA_TESTS_COORDINATOR_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/confirm/blocks.h"

struct noise_stream {
    uint64_t key;
    int64_t next;
};

struct noise_stream noise_stream(uint64_t seed);
double noise_uniform(struct noise_stream *s); /* [0, 1) */
double noise_normal(struct noise_stream *s);
size_t noise_below(struct noise_stream *s, size_t n); /* 0 to n - 1 */
void noise_shuffle(struct noise_stream *s, int *items, size_t n);

/* All sizes are of log time: 0.01 is 1 %. */
struct noise {
    const char *name;
    double sd;            /* of a sample, normal */
    double tail, tail_sd; /* how often a sample is late, and its mean delay */
    double process_sd;    /* common to the samples of one process */
    double clocks;        /* half of the processes are slower by this */
    double drift;         /* up by this over the pass, in a line */
    double swing;         /* and up and down again, once */
    double within;        /* up by this over each block */
    double step;          /* up at once, at one third of the pass */
    double walk, keep;    /* AR(1) from sample to sample: sd and coefficient */
    double card;          /* the second card is slower by this */
    double card_noise;    /* ... and noisier by this factor; 0 means as noisy */
    bool uneven;          /* the tail is the first candidate's alone */
};

/* What one sample has of its own: normal noise and lateness, log time. */
double noise_own(const struct noise *noise, struct noise_stream *s);

extern const struct noise noises[];
extern const size_t n_noises;

/* Outliers of the first candidate only, so that no centre of the ratio is the
 * true one: a case that the method does not cover. */
extern const struct noise noise_uneven;

struct noise_pass {
    size_t n_contestants, n_blocks, n_samples; /* blocks a GPU, samples each */
    size_t n_gpus;
    const double *logs; /* [n_contestants] the truth */
};

/* out  [n_gpus * n_blocks * n_contestants * n_samples]; returns how many */
size_t noise_measure(const struct noise *noise, const struct noise_pass *pass,
                     struct noise_stream *s, struct block_sample *out);

#endif
