#include "worker/runner/emulator/tensor.h"

#include <math.h>
#include <string.h>

#include "worker/runner/emulator/block.h"
#include "worker/runner/emulator/shared.h"

namespace emulator
{

static float from_bits(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Without a branch and without denormal arithmetic, so that loops of it run in
 * vector registers: a normal number is rebiased, a subnormal one is the
 * difference of two normal ones with the same exponent. */
static inline float f32_f16(uint32_t half)
{
    const uint32_t magnitude = (half & 0x7fff) << 13;
    const uint32_t exponent = half & 0x7c00;
    const float subnormal =
        from_bits(magnitude + (113u << 23)) - from_bits(113u << 23);
    const float normal = from_bits(magnitude + (112u << 23));
    const float special = from_bits(magnitude | 0x7f800000u);
    float f = exponent == 0 ? subnormal : normal;

    f = exponent == 0x7c00 ? special : f;
    return half & 0x8000 ? -f : f;
}

static void unpack(float *out, uint32_t pair)
{
    out[0] = f32_f16(pair & 0xffff);
    out[1] = f32_f16(pair >> 16);
}

void tensor_mma_f16(fa_emu_mma *const lanes[32])
{
    float a[16][16], b[16][8], c[16][8];

    for (unsigned lane = 0; lane < 32; lane++) {
        const fa_emu_mma *m = lanes[lane];
        const unsigned g = lane / 4, t = 2 * (lane % 4);
        float pair[2];

        unpack(&a[g][t], m->a[0]);
        unpack(&a[g + 8][t], m->a[1]);
        unpack(&a[g][t + 8], m->a[2]);
        unpack(&a[g + 8][t + 8], m->a[3]);
        for (unsigned h = 0; h < 2; h++) {
            unpack(pair, m->b[h]);
            b[t + 8 * h][g] = pair[0];
            b[t + 8 * h + 1][g] = pair[1];
        }
        memcpy(&c[g][t], &m->c[0], 2 * sizeof(float));
        memcpy(&c[g + 8][t], &m->c[2], 2 * sizeof(float));
    }
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < 16; k++)
            for (unsigned j = 0; j < 8; j++)
                c[i][j] += a[i][k] * b[k][j];
    for (unsigned lane = 0; lane < 32; lane++) {
        const unsigned g = lane / 4, t = 2 * (lane % 4);

        memcpy(&lanes[lane]->c[0], &c[g][t], 2 * sizeof(float));
        memcpy(&lanes[lane]->c[2], &c[g + 8][t], 2 * sizeof(float));
    }
}

void tensor_ldmatrix(fa_emu_ldmatrix *const lanes[32], thread *threads,
                     unsigned n, bool transposed, fa_site at)
{
    uint16_t matrix[8][8];

    for (unsigned i = 0; i < n; i++) {
        uint32_t rows[8];

        for (unsigned r = 0; r < 8; r++) {
            rows[r] = lanes[8 * i + r]->row;
            shared_read(matrix[r], rows[r], 16, &threads[8 * i + r],
                        "ldmatrix row", at);
        }
        shared_count_banks(rows);
        for (unsigned lane = 0; lane < 32; lane++) {
            const unsigned g = lane / 4, t = 2 * (lane % 4);
            const uint32_t low = transposed ? matrix[t][g] : matrix[g][t];
            const uint32_t high =
                transposed ? matrix[t + 1][g] : matrix[g][t + 1];

            lanes[lane]->r[i] = low | high << 16;
        }
    }
}

} // namespace emulator

float fa_emu_f32_f16(uint16_t bits)
{
    return emulator::f32_f16(bits);
}

uint16_t fa_emu_f16_f32(float f)
{
    uint32_t bits, rest;

    memcpy(&bits, &f, sizeof(bits));
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return 0x7fff;           /* cvt gives the canonical NaN */
    if (magnitude >= 0x477ff000) /* 65520: rounds to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude >= 0x38800000) { /* normal */
        rest = magnitude - 0x38000000;
        rest += 0xfff + (rest >> 13 & 1);
        return (uint16_t)(sign | rest >> 13);
    }
    /* Adding 0.5 leaves units of 2^-24 in the low bits, rounded to even. */
    const float shifted = emulator::from_bits(magnitude) + 0.5f;
    memcpy(&rest, &shifted, sizeof(rest));
    return (uint16_t)(sign | (rest - 0x3f000000));
}

float fa_emu_ex2(float x)
{
    const float y = exp2f(x);

    return y < 0x1p-126f ? 0.0f : y;
}
