/* prng.h - random numbers, repeatable by seed on every machine
 *
 * xoshiro256** by Blackman and Vigna, seeded through splitmix64.  For searching
 * and simulating, never for keys.
 * Thread rule: one thread a generator.
 */
#ifndef FA_COORDINATOR_STATS_PRNG_H
#define FA_COORDINATOR_STATS_PRNG_H

#include <stddef.h>
#include <stdint.h>

struct prng {
    uint64_t state[4];
};

void prng_init(struct prng *prng, uint64_t seed);
uint64_t prng_next(struct prng *prng);
uint64_t prng_below(struct prng *prng, uint64_t n); /* [0, n), n >= 1 */
double prng_unit(struct prng *prng);                /* [0, 1) */
double prng_normal(struct prng *prng);              /* mean 0, variance 1 */
void prng_shuffle(struct prng *prng, int *items, size_t n);

#endif
