#include "worker/runner/emulator/order.h"

#include "worker/runner/device/unwritten.h"

/* splitmix64's finaliser (Steele, Lea and Flood 2014) */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15u;

/* A permutation of 'bits' low bits, an even number. */
static uint64_t scramble(uint64_t order, unsigned bits, uint64_t i)
{
    const unsigned half = bits / 2;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t left = i >> half, right = i & mask;

    for (uint64_t round = 1; round <= 3; round++) {
        const uint64_t next =
            left ^ (mix(order + round * GOLDEN + right) & mask);

        left = right;
        right = next;
    }
    return left << half | right;
}

uint64_t order_at(uint64_t order, uint64_t n, uint64_t i)
{
    if (order == ORDER_FORWARD || n < 2)
        return i;
    if (order == ORDER_REVERSE)
        return n - 1 - i;
    const unsigned bits = 64 - (unsigned)__builtin_clzll(n - 1);
    do
        i = scramble(mix(order), bits + bits % 2, i);
    while (i >= n);
    return i;
}

void order_list(uint64_t order, unsigned n, uint8_t *out)
{
    for (unsigned i = 0; i < n; i++)
        out[i] = (uint8_t)(order == ORDER_REVERSE ? n - 1 - i : i);
    if (order < ORDER_DRAWN)
        return;
    for (unsigned i = n; i > 1; i--) {
        order = order * 6364136223846793005u + 1442695040888963407u;
        const unsigned j = (unsigned)((order >> 32) * i >> 32);
        const uint8_t last = out[i - 1];

        out[i - 1] = out[j];
        out[j] = last;
    }
}

uint64_t order_within(uint64_t order, uint64_t place)
{
    return order < ORDER_DRAWN ? order
                               : mix(order + place * GOLDEN) | ORDER_DRAWN;
}

unsigned char order_unwritten(uint64_t order)
{
    return unwritten_byte(order < ORDER_DRAWN ? 0 : order - ORDER_REVERSE);
}
