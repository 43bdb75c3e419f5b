#include "coordinator/stats/prng.h"

#include <math.h>

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

void prng_init(struct prng *prng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z;

        seed += UINT64_C(0x9e3779b97f4a7c15);
        z = seed;
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        prng->state[i] = z ^ (z >> 31);
    }
}

uint64_t prng_next(struct prng *prng)
{
    uint64_t *s = prng->state;
    uint64_t out = rotate(s[1] * 5, 7) * 9, shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return out;
}

uint64_t prng_below(struct prng *prng, uint64_t n)
{
    uint64_t skip = -n % n, x; /* so that every remainder is equally likely */

    do {
        x = prng_next(prng);
    } while (x < skip);
    return x % n;
}

double prng_unit(struct prng *prng)
{
    return (double)(prng_next(prng) >> 11) * 0x1p-53;
}

double prng_normal(struct prng *prng)
{
    double radius = sqrt(-2 * log(1 - prng_unit(prng)));

    return radius * cos(6.283185307179586 * prng_unit(prng));
}

void prng_shuffle(struct prng *prng, int *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)prng_below(prng, i);
        int held = items[i - 1];

        items[i - 1] = items[j];
        items[j] = held;
    }
}
