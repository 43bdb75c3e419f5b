/* steps.h - one step: a tile of K and one of V, for a warp's rows
 */
#ifndef FLASH_ATTENTION_STEPS_H
#define FLASH_ATTENTION_STEPS_H

#include "items.h"
#include "softmax.h"

/* The operands of a step, for one warp */
struct step_tiles {
    smem_addr q_smem, k_smem, v_smem;
};

/* The part of a tile of K that a warp's rows see */
struct view {
    bool causal; /* row r sees the columns before sees + r; otherwise it sees all */
    int sees;
    int end; /* no row sees a column from here on; may be 0 */
};

__device__ __forceinline__ view view_of(const problem &all, u32 warp_row, u32 column)
{
    const u32 past = all.causal ? min(all.seq, warp_row + warp_rows) : all.seq;

    return { !diagonal_first && all.causal, int(warp_row + 1 - column),
             past > column ? int(min(past - column, u32(block_n))) : 0 };
}

/* A warp's first step with scores: the square at the diagonal, which begins at 'column' and whose
 * row r sees r + 1 columns; then the columns before the square.  Returns how many of these are
 * left, which is 0 unless weights overflowed. */
__device__ __forceinline__ int work_diagonal(accumulator &acc, const query &q, const step_tiles &at,
                                             int column)
{
    float square[m_tiles][2 * m_tiles][4];
    u32 square_p[m_tiles][m_tiles][4];

    acc = {};
    multiply_qk_diagonal(square, q, at.q_smem, at.k_smem + column * row_bytes);
    mask_diagonal(square);
    row_maxima(acc.base, square);
    if (optimistic)
        leave_headroom(acc);
    weigh<true>(square_p, acc.sum, square, acc.base);
    multiply_pv_diagonal(acc.o, square_p, at.v_smem + column * row_bytes);
#pragma unroll 1
    for (; column > 0; column -= 16) {
        const int offset = (column - 16) * row_bytes;
        float s[m_tiles][2][4];
        u32 p[m_tiles][1][4];
        bool on = true;

        multiply_qk(s, q, at.q_smem, at.k_smem + offset);
        if (optimistic)
            try_softmax_slice(p, acc, s, on);
        else
            softmax_slice(p, acc, s);
        if (!on)
            break;
        multiply_pv(acc.o, p, at.v_smem + offset);
    }
    return column;
}

/* The columns from 'from' on that 'seen' shows, if their weights may outgrow any base.  It uses
 * wide slices and their exact maxima.  Its speed does not depend on the scores. */
__device__ __forceinline__ void work_exactly(accumulator &acc, const query &q, const step_tiles &at,
                                             int from, const view &seen)
{
#pragma unroll 1
    for (int column = from / wide_n * wide_n; column < seen.end; column += wide_n) {
        const int next = column + wide_n;
        float s[m_tiles][wide_n / 8][4];
        u32 p[m_tiles][wide_n / 16][4];
        row_values sum;

        multiply_qk(s, q, at.q_smem, at.k_smem + column * row_bytes);
        if (column < from || next > seen.end || (seen.causal && next > seen.sees))
            mask_scores(s, column, from, seen.end, seen.causal, seen.sees);
        follow_maximum<RESCALE_ALWAYS>(acc, s);
        weigh(p, sum, s, acc.base);
        add_sums(acc, sum);
        multiply_pv(acc.o, p, at.v_smem + column * row_bytes);
    }
}

/* All slices of a step without a mask.  They overlap as PIPELINE says, with no branch between them.
 * 'begin' computes the first scores.  'refill' starts copies once the tensor cores are busy.  With
 * RESCALE_OPTIMISTIC, the first slice of an item's 'first' step gives the bases, and the work stops
 * at the first slice whose weights overflow or soon would.  Returns how many slices are done. */
template <typename Begin, typename Refill>
__device__ __forceinline__ int work_step(accumulator &acc, const query &q, const step_tiles &at,
                                         bool first, Begin begin, Refill refill)
{
    scores s[2]; /* of even and of odd slices */
    weights p[2];
    bool on[2] = { true, true };
    int done = 0;
    const auto score = [&](int i, int odd) {
        multiply_qk(s[odd], q, at.q_smem, at.k_smem + i * slice_bytes);
    };
    const auto weight = [&](int odd) {
        if (optimistic) {
            on[odd] = on[1 - odd];
            try_softmax_slice(p[odd], acc, s[odd], on[odd]);
        } else {
            softmax_slice(p[odd], acc, s[odd]);
        }
    };
    const auto add = [&](int i, int odd) {
        multiply_pv(acc.o, p[odd], at.v_smem + i * slice_bytes, on[odd]);
        done += on[odd];
    };

    begin(s[0]);
    if constexpr (pipeline >= flash::PIPELINE_THREE_DEEP)
        score(1, 1);
    refill();
    if (optimistic && first) {
        row_maxima(acc.base, s[0]);
        leave_headroom(acc);
        if (outgrow_bases(acc))
            return 0;
    }
    if constexpr (pipeline == flash::PIPELINE_SERIAL) {
        weight(0);
        add(0, 0);
#pragma unroll slice_unroll
        for (int i = 1; i < slices; i++) {
            score(i, 0);
            on[1] = on[0];
            weight(0);
            add(i, 0);
        }
    } else if constexpr (pipeline == flash::PIPELINE_SCORES_AHEAD) {
#pragma unroll pair_unroll
        for (int i = 0; i < slices - 2; i += 2)
#pragma unroll
            for (int odd = 0; odd < 2; odd++) {
                score(i + odd + 1, 1 - odd);
                weight(odd);
                add(i + odd, odd);
            }
        score(slices - 1, 1);
        weight(0);
        add(slices - 2, 0);
        weight(1);
        add(slices - 1, 1);
    } else {
        weight(0);
#pragma unroll pair_unroll
        for (int i = 2; i < slices; i += 2)
#pragma unroll
            for (int odd = 0; odd < 2; odd++) {
                if constexpr (pipeline == flash::PIPELINE_IN_TURNS) {
                    multiply_both(s[odd], q, at.q_smem, at.k_smem + (i + odd) * slice_bytes, acc.o,
                                  p[odd], at.v_smem + (i + odd - 2) * slice_bytes, on[odd]);
                    done += on[odd];
                } else {
                    add(i + odd - 2, odd);
                    score(i + odd, odd);
                }
                weight(1 - odd);
            }
        add(slices - 2, 0);
        weight(1);
        add(slices - 1, 1);
    }
    return done;
}

#endif
