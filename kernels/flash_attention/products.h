/* products.h - Q K^T and P V on tensor cores, operands from shared memory
 *
 * An array [m_tiles][n_tiles][4] is operand C of mma, for a warp's rows and 8 * n_tiles columns.
 * An array [m_tiles][steps][4] is operand A, for 16 * steps columns (fa/mma.h).
 */
#ifndef FLASH_ATTENTION_PRODUCTS_H
#define FLASH_ATTENTION_PRODUCTS_H

#include "tiles.h"

using query = u32[m_tiles][d_steps][4];        /* [warp_rows, head_dim] */
using output = float[m_tiles][d_tiles][4];     /* the same */
using scores = float[m_tiles][slice_n / 8][4]; /* [warp_rows, slice_n] */
using weights = u32[m_tiles][slice_n / 16][4]; /* the same */

/* q = rows first.. of head [seq, head_dim] */
__device__ __forceinline__ void load_query(query &q, const half *head, u32 first, u32 seq)
{
    const u32 group = lane_id() / 4, pair = 2 * (lane_id() % 4);

    head += (first + group) * head_dim + pair;
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int d = 0; d < d_steps; d++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const u32 row = 16 * m + 8 * (i % 2), column = 16 * d + 8 * (i / 2);

                const half *from = head + row * head_dim + column;

                if (first + group + row >= seq)
                    q[m][d][i] = 0;
                else
                    q[m][d][i] = streaming ? ld_global_streaming_4(from) : ld_global_4(from);
            }
}

/* One mma tile of the warp's rows, q_smem [warp_rows, head_dim] */
__device__ __forceinline__ void read_query(u32 (&q)[4], smem_addr q_smem, int m, int d)
{
    ldmatrix_x4(q, q_smem + tile_offset(16 * m + lane_id() % 16, 2 * d + lane_id() / 16));
}

/* Read 'count' operands of four registers in order, and use each 'lookahead' reads later. */
template <int count, typename Read, typename Use>
__device__ __forceinline__ void for_operands(Read read, Use use)
{
    constexpr int depth = lookahead < count ? lookahead : count;
    u32 ring[depth][4];

#pragma unroll
    for (int i = 0; i < depth; i++)
        read(ring[i], i);
#pragma unroll
    for (int i = 0; i < count; i++) {
        use(ring[i % depth], i);
        if (i + depth < count)
            read(ring[i % depth], i + depth);
    }
}

/* 16 rows of K, for the operand of one mma depth step of Q K^T */
struct k_operand {
    u32 row, granule; /* of this lane */

    __device__ __forceinline__ k_operand()
        : row(lane_id() / 16 * 8 + lane_id() % 8), granule(lane_id() / 8 % 2)
    {
    }

    /* both depth halves of rows n.., then those of rows n + 8.. */
    __device__ __forceinline__ void read(u32 (&k)[4], smem_addr k_smem, int n, int d) const
    {
        ldmatrix_x4(k, k_smem + tile_offset(n + row, 2 * d + granule));
    }
};

/* 16 rows of V, for the operands of two mma tiles of output columns */
struct v_operand {
    u32 row, granule;

    __device__ __forceinline__ v_operand() : row(lane_id() % 16), granule(lane_id() / 16)
    {
    }

    /* both depth halves of output columns 8d.., then those of columns 8d + 8.. */
    __device__ __forceinline__ void read(u32 (&v)[4], smem_addr v_smem, int n, int d) const
    {
        ldmatrix_x4_trans(v, v_smem + tile_offset(n + row, d + granule));
    }
};

template <int n_tiles>
__device__ __forceinline__ void clear(float (&s)[m_tiles][n_tiles][4])
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int n = 0; n < n_tiles; n++)
            s[m][n][0] = s[m][n][1] = s[m][n][2] = s[m][n][3] = 0;
}

/* s[..][n..n+1] += depth step d of q times k, for the mma tiles of rows from 'first' on.  If Q
 * stays in shared memory, 'q_read' is read at n = 0. */
template <int n_tiles>
__device__ __forceinline__ void multiply_q(float (&s)[m_tiles][n_tiles][4], const query &q,
                                           u32 (&q_read)[m_tiles][4], smem_addr q_smem,
                                           const u32 (&k)[4], int n, int d, int first = 0)
{
#pragma unroll
    for (int m = first; m < m_tiles; m++) {
        const auto multiply = [&](const u32(&a)[4]) {
            mma_m16n8k16_f16_f32(s[m][n], a, k[0], k[1], s[m][n]);
            mma_m16n8k16_f16_f32(s[m][n + 1], a, k[2], k[3], s[m][n + 1]);
        };

        if (q_home == flash::Q_SHARED && n == 0)
            read_query(q_read[m], q_smem, m, d);
        if (q_home == flash::Q_SHARED)
            multiply(q_read[m]);
        else
            multiply(q[m][d]);
    }
}

/* o[..][d..d+1] += depth step n of p times v, if 'on', for the mma tiles of rows
 * from 'first' on */
template <int steps>
__device__ __forceinline__ void multiply_p(output &o, const u32 (&p)[m_tiles][steps][4],
                                           const u32 (&v)[4], int n, int d, bool on, int first = 0)
{
#pragma unroll
    for (int m = first; m < m_tiles; m++) {
        if (rescale == RESCALE_OPTIMISTIC) {
            mma_m16n8k16_f16_f32_if(on, o[m][d], p[m][n], v[0], v[1]);
            mma_m16n8k16_f16_f32_if(on, o[m][d + 1], p[m][n], v[2], v[3]);
        } else {
            mma_m16n8k16_f16_f32(o[m][d], p[m][n], v[0], v[1], o[m][d]);
            mma_m16n8k16_f16_f32(o[m][d + 1], p[m][n], v[2], v[3], o[m][d + 1]);
        }
    }
}

/* s [warp_rows, columns] = q [warp_rows, head_dim] k_smem [columns, head_dim]^T.  With a smaller
 * 'depth', only that many mma steps from 'first' on, added to the steps before them. */
template <int depth = d_steps, int n_tiles>
__device__ __forceinline__ void multiply_qk(float (&s)[m_tiles][n_tiles][4], const query &q,
                                            smem_addr q_smem, smem_addr k_smem, int first = 0)
{
    constexpr int pairs = n_tiles / 2;
    const k_operand operand;
    u32 q_read[m_tiles][4];

    if (first == 0)
        clear(s);
    for_operands<depth * pairs>(
        [&](u32(&k)[4], int i) {
            operand.read(k, k_smem, 16 * (i % pairs), first + i / pairs);
        },
        [&](const u32(&k)[4], int i) {
            multiply_q(s, q, q_read, q_smem, k, i % pairs * 2, first + i / pairs);
        });
}

/* o [warp_rows, head_dim] += p [warp_rows, columns] v_smem [columns, head_dim]; with
 * RESCALE_OPTIMISTIC only if 'on', which is the same in all lanes */
template <int steps>
__device__ __forceinline__ void multiply_pv(output &o, const u32 (&p)[m_tiles][steps][4],
                                            smem_addr v_smem, bool on = true)
{
    constexpr int pairs = d_tiles / 2;
    const v_operand operand;

    for_operands<steps * pairs>(
        [&](u32(&v)[4], int i) {
            operand.read(v, v_smem, 16 * (i / pairs), i % pairs * 2);
        },
        [&](const u32(&v)[4], int i) {
            multiply_p(o, p, v, i / pairs, i % pairs * 2, on);
        });
}

/* multiply_qk() for the square at the diagonal, which has as many columns as the warp has rows.  It
 * leaves out the 16-column blocks behind the diagonal. */
__device__ __forceinline__ void multiply_qk_diagonal(float (&s)[m_tiles][2 * m_tiles][4],
                                                     const query &q, smem_addr q_smem,
                                                     smem_addr k_smem)
{
    const k_operand operand;
    u32 q_read[m_tiles][4];

    clear(s);
    for_operands<d_steps * m_tiles>(
        [&](u32(&k)[4], int i) {
            operand.read(k, k_smem, 16 * (i % m_tiles), i / m_tiles);
        },
        [&](const u32(&k)[4], int i) {
            multiply_q(s, q, q_read, q_smem, k, i % m_tiles * 2, i / m_tiles, i % m_tiles);
        });
}

/* multiply_pv() for that square */
__device__ __forceinline__ void multiply_pv_diagonal(output &o, const u32 (&p)[m_tiles][m_tiles][4],
                                                     smem_addr v_smem)
{
    constexpr int pairs = d_tiles / 2;
    const v_operand operand;

    for_operands<m_tiles * pairs>(
        [&](u32(&v)[4], int i) {
            operand.read(v, v_smem, 16 * (i / pairs), i % pairs * 2);
        },
        [&](const u32(&v)[4], int i) {
            multiply_p(o, p, v, i / pairs, i % pairs * 2, true, i / pairs);
        });
}

/* multiply_qk() and multiply_pv() of two slices, in turns: the products of one score depend on each
 * other, and those of the output do not.  A syncwarp() after every dozen products keeps this order,
 * because the compiler moves nothing across it. */
__device__ __forceinline__ void multiply_both(scores &s, const query &q, smem_addr q_smem,
                                              smem_addr k_smem, output &o, const weights &p,
                                              smem_addr v_smem, bool on)
{
    constexpr int k_pairs = slice_n / 16, v_pairs = d_tiles / 2, turns = d_steps * k_pairs;
    constexpr int fence = 12 / (2 * m_tiles) > 0 ? 12 / (2 * m_tiles) : 1; /* operands */
    const k_operand of_k;
    const v_operand of_v;
    u32 q_read[m_tiles][4];

    static_assert(turns == slice_n / 16 * v_pairs, "as many operands of V");
    clear(s);
    for_operands<2 * turns>(
        [&](u32(&operand)[4], int i) {
            if (i % 2 == 0)
                of_k.read(operand, k_smem, 16 * (i / 2 % k_pairs), i / 2 / k_pairs);
            else
                of_v.read(operand, v_smem, 16 * (i / 2 / v_pairs), i / 2 % v_pairs * 2);
        },
        [&](const u32(&operand)[4], int i) {
            if (i % 2 == 0)
                multiply_q(s, q, q_read, q_smem, operand, i / 2 % k_pairs * 2, i / 2 / k_pairs);
            else
                multiply_p(o, p, operand, i / 2 / v_pairs, i / 2 % v_pairs * 2, on);
            if (i % fence == fence - 1)
                syncwarp();
        });
}

/* Set the scores that do not count to -inf.  's' begins at 'column' of a tile.  Columns outside of
 * from..end do not count; if causal, neither do the columns of row r from sees + r on. */
template <int n_tiles>
__device__ __forceinline__ void mask_scores(float (&s)[m_tiles][n_tiles][4], int column, int from,
                                            int end, bool causal, int sees)
{
    column += int(2 * (lane_id() % 4));
    sees += int(lane_id() / 4);

#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int n = 0; n < n_tiles; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int at = column + 8 * n + i % 2;

                if (at < from || at >= end || (causal && at >= sees + 16 * m + 8 * (i / 2)))
                    s[m][n][i] = -__builtin_huge_valf();
            }
}

/* The same in the square at the diagonal, whose first row sees its first column */
__device__ __forceinline__ void mask_diagonal(float (&s)[m_tiles][2 * m_tiles][4])
{
    const u32 row = lane_id() / 4, column = 2 * (lane_id() % 4);

#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int n = 2 * m; n < 2 * m_tiles; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (n >= 2 * (m + 1) || 8 * (n - 2 * m) + column + i % 2 > row + 8 * (i / 2))
                    s[m][n][i] = -__builtin_huge_valf();
}

#endif
