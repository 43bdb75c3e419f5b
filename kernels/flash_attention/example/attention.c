#include "attention.h"

#include <math.h>

double half_to_double(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double size = exponent == 0   ? ldexp(fraction, -24)
                  : exponent < 31 ? ldexp(1024 + fraction, exponent - 25)
                                  : (fraction ? (double)NAN : (double)INFINITY);

    return half & 0x8000 ? -size : size;
}

uint16_t half_of(double number)
{
    uint16_t sign = signbit(number) ? 0x8000 : 0;
    int exponent;
    double steps;

    number = fabs(number);
    (void)frexp(number, &exponent);
    if (exponent < -13 || number == 0)
        exponent = -13; /* all below 2^-14 have the same step */
    steps = nearbyint(ldexp(number, 11 - exponent));
    /* 1024 to 2048 steps: a carry goes into the exponent by itself. */
    return (uint16_t)(sign + (exponent + 13) * 1024 + (int)steps);
}

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 33) + 0.5) / 2147483648.0;
}

void fill_normal(uint16_t *out, size_t n, uint64_t seed)
{
    const double turn = 6.283185307179586;

    for (size_t i = 0; i < n; i++) {
        double radius = sqrt(-2 * log(uniform(&seed)));

        out[i] = half_of(radius * cos(turn * uniform(&seed)));
    }
}

static double dot(const uint16_t *a, const uint16_t *b)
{
    double sum = 0;

    for (int d = 0; d < HEAD_DIM; d++)
        sum += half_to_double(a[d]) * half_to_double(b[d]);
    return sum;
}

void attention_row(const struct shape *shape, const uint16_t *q, const uint16_t *k,
                   const uint16_t *v, long row, double *scores, double out[HEAD_DIM])
{
    long in_head = row % shape->seq, first = row - in_head;
    long n = shape->causal ? in_head + 1 : shape->seq;
    double max = -(double)INFINITY, sum = 0;

    for (long j = 0; j < n; j++) {
        scores[j] = dot(q + row * HEAD_DIM, k + (first + j) * HEAD_DIM) / sqrt(HEAD_DIM);
        max = fmax(max, scores[j]);
    }
    for (int d = 0; d < HEAD_DIM; d++)
        out[d] = 0;
    for (long j = 0; j < n; j++) {
        double weight = exp(scores[j] - max);

        sum += weight;
        for (int d = 0; d < HEAD_DIM; d++)
            out[d] += weight * half_to_double(v[(first + j) * HEAD_DIM + d]);
    }
    for (int d = 0; d < HEAD_DIM; d++)
        out[d] /= sum;
}
