/* softmax.h - the online softmax of a warp's rows
 *
 * It is online (Milakov and Gimelshein 2018) and in base 2.  The scale 1/sqrt(head_dim) and log2(e)
 * are one factor in the exponent.  The value that is subtracted there is the base of the row.  The
 * base need not be the row's maximum, because fp16 holds weights up to 2^15 and fp32 holds the
 * sums.  RESCALE says how close to the maximum the base is kept.
 */
#ifndef FLASH_ATTENTION_SOFTMAX_H
#define FLASH_ATTENTION_SOFTMAX_H

#include "products.h"

constexpr float log2_e = 1.44269504f;
constexpr float scale_log2 = /* log2(e) / sqrt(head_dim) */
    log2_e * (head_dim == 32   ? 0.176776695f
              : head_dim == 64 ? 0.125f
                               : 0.0883883476f);
static_assert(head_dim == 32 || head_dim == 64 || head_dim == 128, "scale_log2 knows these");

/* Below every real score, and finite, so that the difference of two bases is never NaN. */
constexpr float lowest_base = -1e30f;
constexpr float lazy_bits = 8;
constexpr float weight_limit = 32768; /* of a sum of weights, so that each weight fits into fp16 */

/* With RESCALE_OPTIMISTIC, a new base lies above the maximum, so scores may grow by 15 bits more.
 * fp16 still holds weights of 2^-18 of the largest.  A row whose scores will outgrow this shows it
 * early: the first scores reach 3 if Q and K are standard normal, 31 if 12 times larger. */
constexpr float headroom_bits = exponential == EXPONENTIAL_F16X2 ? 0 : 6;
constexpr float hard_bits = 16;
constexpr bool optimistic = rescale == RESCALE_OPTIMISTIC;
constexpr int most_wide = m_tiles == 1 ? 32 : m_tiles == 2 ? 64 : 16; /* for registers */
constexpr int wide_n = /* columns of an exact slice */
    block_n % most_wide == 0 && most_wide % slice_n == 0 ? most_wide : slice_n;

using row_values = float[m_tiles][2]; /* of rows g and g + 8 of each mma tile */

/* A warp's state from slice to slice; out = o / sum.  Four neighbouring lanes hold a row.  'sum' is
 * the part of the lane or, with sum_by_mma, the whole sum. */
struct accumulator {
    float o[m_tiles][d_tiles][4];
    row_values base; /* weights are 2^(scale_log2 * score - base) */
    row_values sum;
};

__device__ __forceinline__ void clear(accumulator &acc)
{
    acc = {};
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
        acc.base[m][0] = acc.base[m][1] = lowest_base;
}

/* p = 2^(scale_log2 * s - base), and 'sum' their sums as in accumulator.sum.  In the square at the
 * diagonal, blocks behind the diagonal are left out. */
template <bool diagonal = false, int n_tiles>
__device__ __forceinline__ void weigh(u32 (&p)[m_tiles][n_tiles / 2][4], row_values &sum,
                                      const float (&s)[m_tiles][n_tiles][4], const row_values &base)
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++) {
        float whole[4] = {};

#pragma unroll
        for (int n = 0; n < (diagonal ? m + 1 : n_tiles / 2); n++) {
#pragma unroll
            for (int i = 0; i < 4; i++) { /* the accumulator layout of two tiles is mma's A */
                const float *pair = &s[m][2 * n + i / 2][i % 2 * 2];
                float x = scale_log2 * pair[0] - base[m][i % 2];
                float y = scale_log2 * pair[1] - base[m][i % 2];

                if (exponential == EXPONENTIAL_F16X2) {
                    p[m][n][i] = ex2_f16x2(cvt_rn_f16x2_f32(y, x));
                    x = cvt_f32_f16x2_lo(p[m][n][i]);
                    y = cvt_f32_f16x2_hi(p[m][n][i]);
                } else {
                    x = ex2(x);
                    y = ex2(y);
                    p[m][n][i] = cvt_rn_f16x2_f32(y, x);
                }
                if (!sum_by_mma)
                    sum[m][i % 2] = n == 0 && i < 2 ? x + y : sum[m][i % 2] + (x + y);
            }
            if (sum_by_mma)
                mma_m16n8k16_f16_f32(whole, p[m][n], 0x3c003c00, 0x3c003c00, whole);
        }
        if (sum_by_mma)
            sum[m][0] = whole[0], sum[m][1] = whole[2];
    }
}

/* top = the row maxima of s, as bases */
template <int n_tiles>
__device__ __forceinline__ void row_maxima(row_values &top, const float (&s)[m_tiles][n_tiles][4])
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float t = s[m][0][2 * i];

#pragma unroll
            for (int n = 0; n < n_tiles; n++)
                t = max(t, max(s[m][n][2 * i], s[m][n][2 * i + 1]));
            t = max(t, shfl_xor(t, 1));
            t = max(t, shfl_xor(t, 2));
            top[m][i] = scale_log2 * t;
        }
}

/* Raise 'base' towards the maxima of s as RESCALE says, and rescale o and sum from the old base to
 * the new one. */
template <int policy, int n_tiles>
__device__ __forceinline__ void
follow_maximum(accumulator &acc, const float (&s)[m_tiles][n_tiles][4], float above = 0)
{
    row_values top;
    bool grown = false;

    row_maxima(top, s);
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if (top[m][i] + above > acc.base[m][i])
                top[m][i] += above;
            else
                top[m][i] = acc.base[m][i];
            grown |= top[m][i] > acc.base[m][i] + (policy == RESCALE_LAZY ? lazy_bits : 0);
        }
    if (policy != RESCALE_ALWAYS && !vote_any(grown))
        return;
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float factor = ex2(acc.base[m][i] - top[m][i]);

            acc.base[m][i] = top[m][i];
            acc.sum[m][i] *= factor;
#pragma unroll
            for (int d = 0; d < d_tiles; d++) {
                acc.o[m][d][2 * i] *= factor;
                acc.o[m][d][2 * i + 1] *= factor;
            }
        }
}

/* For RESCALE_OPTIMISTIC: raise bases that are maxima. */
__device__ __forceinline__ void leave_headroom(accumulator &acc)
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
        acc.base[m][0] += headroom_bits, acc.base[m][1] += headroom_bits;
}

/* Will the scores of most rows outgrow their bases?  The warp's last rows decide: at the diagonal
 * they have seen the most columns. */
__device__ __forceinline__ bool outgrow_bases(const accumulator &acc)
{
    return popc(vote_ballot(acc.base[m_tiles - 1][1] > hard_bits + headroom_bits)) > 16;
}

/* Is a weight too large for fp16, or NaN, in any row of the warp? */
__device__ __forceinline__ bool overflows(const row_values &sum)
{
    float total = sum[0][0] + sum[0][1];

#pragma unroll
    for (int m = 1; m < m_tiles; m++)
        total += sum[m][0] + sum[m][1];
    return vote_any(!(total < weight_limit));
}

__device__ __forceinline__ void add_sums(accumulator &acc, const row_values &sum)
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++) {
        acc.sum[m][0] += sum[m][0];
        acc.sum[m][1] += sum[m][1];
    }
}

/* p = the weights of s, raising the base if necessary */
template <int n_tiles>
__device__ __forceinline__ void softmax_slice(u32 (&p)[m_tiles][n_tiles / 2][4], accumulator &acc,
                                              const float (&s)[m_tiles][n_tiles][4])
{
    row_values sum;

    if constexpr (optimistic) {
        weigh(p, sum, s, acc.base);
        if (overflows(sum)) {
            follow_maximum<RESCALE_ALWAYS>(acc, s, headroom_bits);
            weigh(p, sum, s, acc.base);
        }
    } else {
        follow_maximum<rescale>(acc, s);
        weigh(p, sum, s, acc.base);
    }
    add_sums(acc, sum);
}

/* p = the weights of s, with an unchanged base.  If they overflow, 'on' becomes false, and p must
 * not be used. */
template <int n_tiles>
__device__ __forceinline__ void try_softmax_slice(u32 (&p)[m_tiles][n_tiles / 2][4],
                                                  accumulator &acc,
                                                  const float (&s)[m_tiles][n_tiles][4], bool &on)
{
    row_values sum;

    weigh(p, sum, s, acc.base);
    on = !overflows(sum) && on;
    if (on)
        add_sums(acc, sum);
}

#endif
