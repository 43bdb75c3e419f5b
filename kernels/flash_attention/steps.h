/* steps.h - one step: a tile of K and one of V, for a warp's rows
 */
#ifndef FLASH_ATTENTION_STEPS_H
#define FLASH_ATTENTION_STEPS_H

#include "items.h"
#include "softmax.h"

/* What a step works on, for one warp */
struct step_tiles {
    smem_addr q_smem, k_smem, v_smem;
    u32 warp_row, column;
    bool first; /* of the item */
    bool idle;  /* no score counts */
    bool edge;  /* some do not, and from some slice on none does */
};

/* Columns of a step that some row of the warp sees */
__device__ __forceinline__ int columns_seen(const step_tiles &at, const problem &all)
{
    const u32 past = all.causal ? min(all.seq, at.warp_row + warp_rows) : all.seq;

    return int(min(past - at.column, u32(block_n)));
}

/* The slices from 'slice' on of a step at no edge, one after the other */
__device__ __forceinline__ void work_slices(accumulator &acc, const query &q, const step_tiles &at,
                                            int slice)
{
#pragma unroll 1
    for (int i = slice; i < slices; i++) {
        scores s;
        weights p;

        multiply_qk(s, q, at.q_smem, at.k_smem + i * slice_bytes);
        softmax_slice(p, acc, s);
        multiply_pv(acc.o, p, at.v_smem + i * slice_bytes);
    }
}

/* A step with scores that do not count, or whose weights outgrow any base: wide
 * slices with their exact maxima, at the same speed whatever the scores. */
__device__ __forceinline__ void work_exactly(accumulator &acc, const query &q, const step_tiles &at,
                                             const problem &all)
{
    const int seen = at.edge ? columns_seen(at, all) : block_n;

#pragma unroll 1
    for (int first = 0; first < seen; first += wide_n) {
        float s[m_tiles][wide_n / 8][4];
        u32 p[m_tiles][wide_n / 16][4];
        row_values sum;

        multiply_qk(s, q, at.q_smem, at.k_smem + first * row_bytes);
        if (at.edge)
            mask_scores(s, at.warp_row, at.column + first, all.seq, all.causal);
        follow_maximum<RESCALE_ALWAYS>(acc, s);
        weigh(p, sum, s, acc.base);
        add_sums(acc, sum);
        multiply_pv(acc.o, p, at.v_smem + first * row_bytes);
    }
}

/* All slices of a step that is at no edge, overlapping as PIPELINE says, without
 * a branch between them; 'begin' makes the first scores, 'refill' starts copies
 * once the tensor cores are busy.
 * Returns how many from the first on are done: with
 * RESCALE_OPTIMISTIC none from one on whose weights overflow. */
template <typename Begin, typename Refill>
__device__ __forceinline__ int work_step(accumulator &acc, const query &q, const step_tiles &at,
                                         Begin begin, Refill refill)
{
    constexpr bool optimistic = rescale == RESCALE_OPTIMISTIC;
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
    if (optimistic && at.first) {
        row_maxima(acc.base, s[0]);
        if (popc(vote_ballot(acc.base[0][0] > hard_bits)) > 16) { /* most rows */
            reset_base(acc);
            return 0;
        }
#pragma unroll
        for (int m = 0; m < m_tiles; m++)
            acc.base[m][0] += headroom_bits, acc.base[m][1] += headroom_bits;
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
