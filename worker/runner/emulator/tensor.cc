#include "worker/runner/emulator/tensor.hh"

#include <math.h>
#include <string.h>

#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/shared.hh"

namespace emulator
{

/* Eight lanes, in one register or several.  These are the compilers' own
 * vectors, because at -O2 not every compiler would vectorise the loops. */
typedef uint16_t halves8 __attribute__((vector_size(16)));
typedef int32_t ints8 __attribute__((vector_size(32)));
typedef float floats8 __attribute__((vector_size(32)));

enum class format {
    F16,
    BF16
};

/* Eight elements to fp32: fa_emu_f32_f16() for each, or a shift. */
template <format from>
static inline __attribute__((always_inline)) void widen(floats8 *out,
                                                        const uint16_t *in)
{
    halves8 packed;

    memcpy(&packed, in, sizeof(packed));
    const ints8 half = __builtin_convertvector(packed, ints8);
    if (from == format::BF16) {
        *out = (floats8)(half << 16);
        return;
    }
    const ints8 exponent = half & 0x7c00;
    const ints8 subnormal = exponent == 0; /* all ones where true */
    const ints8 special = exponent == 0x7c00;
    const ints8 bias =
        (112 << 23) + (subnormal & (1 << 23)) + (special & (112 << 23));
    const floats8 biased = (floats8)(((half & 0x7fff) << 13) + bias);
    const floats8 f = biased - (floats8)(subnormal & (113 << 23));

    *out = (floats8)((ints8)f | (half & 0x8000) << 16);
}

/* Inlined twice below: for any x86-64, and for one with wider registers. */
template <format from>
static inline __attribute__((always_inline)) void
multiply(fa_emu_mma *const lanes[32])
{
    uint16_t a16[16 * 16], b16[16 * 8]; /* row by row */
    floats8 a[16 * 2], b[16], c8[16];
    float c[16][8];

    for (unsigned lane = 0; lane < 32; lane++) {
        const fa_emu_mma *m = lanes[lane];
        const unsigned g = lane / 4, t = 2 * (lane % 4);

        memcpy(&a16[g * 16 + t], &m->a[0], 4);
        memcpy(&a16[(g + 8) * 16 + t], &m->a[1], 4);
        memcpy(&a16[g * 16 + t + 8], &m->a[2], 4);
        memcpy(&a16[(g + 8) * 16 + t + 8], &m->a[3], 4);
        b16[t * 8 + g] = (uint16_t)m->b[0];
        b16[(t + 1) * 8 + g] = (uint16_t)(m->b[0] >> 16);
        b16[(t + 8) * 8 + g] = (uint16_t)m->b[1];
        b16[(t + 9) * 8 + g] = (uint16_t)(m->b[1] >> 16);
        memcpy(&c[g][t], &m->c[0], 2 * sizeof(float));
        memcpy(&c[g + 8][t], &m->c[2], 2 * sizeof(float));
    }
    for (unsigned i = 0; i < 32; i++)
        widen<from>(&a[i], &a16[8 * i]);
    for (unsigned k = 0; k < 16; k++)
        widen<from>(&b[k], &b16[8 * k]);
    memcpy(c8, c, sizeof(c));
    for (unsigned i = 0; i < 16; i++) {
        floats8 sum = c8[i];

        for (unsigned k = 0; k < 16; k++)
            sum += a[2 * i + k / 8][k % 8] * b[k];
        c8[i] = sum;
    }
    memcpy(c, c8, sizeof(c));
    for (unsigned lane = 0; lane < 32; lane++) {
        const unsigned g = lane / 4, t = 2 * (lane % 4);

        memcpy(&lanes[lane]->c[0], &c[g][t], 2 * sizeof(float));
        memcpy(&lanes[lane]->c[2], &c[g + 8][t], 2 * sizeof(float));
    }
}

#ifdef __x86_64__
/* avx2 without fma: the results are the same on every machine */
template <format from>
__attribute__((target("avx2"))) static void
multiply_avx2(fa_emu_mma *const lanes[32])
{
    multiply<from>(lanes);
}
#endif

template <format from>
static void multiply_best(fa_emu_mma *const lanes[32])
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        multiply_avx2<from>(lanes);
        return;
    }
#endif
    multiply<from>(lanes);
}

void tensor_mma_f16(fa_emu_mma *const lanes[32])
{
    multiply_best<format::F16>(lanes);
}

void tensor_mma_bf16(fa_emu_mma *const lanes[32])
{
    multiply_best<format::BF16>(lanes);
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
    /* Adding 0.5 leaves multiples of 2^-24 in the low bits, rounded to even. */
    const float shifted = fa_emu_bits_float(magnitude) + 0.5f;
    memcpy(&rest, &shifted, sizeof(rest));
    return (uint16_t)(sign | (rest - 0x3f000000));
}

uint16_t fa_emu_bf16_f32(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float fa_emu_ex2(float x)
{
    const float y = exp2f(x);

    return y < 0x1p-126f ? 0.0f : y;
}
