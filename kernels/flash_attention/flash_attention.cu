/* flash_attention.cu - out = softmax(Q K^T / sqrt(head_dim)) V, forward
 *
 * fp16 in and out, fp32 accumulate, any seq >= 1, causal or not at run time.
 * A block owns BLOCK_M query rows of one head, a warp whole 16-row mma tiles of
 * them, which stay in registers together with their scores and output.  K and V
 * pass through a ring of STAGES pairs of BLOCK_N-row tiles in shared memory,
 * filled by cp.async STAGES - 1 steps ahead.
 *
 * The softmax is online (Milakov and Gimelshein 2018) and in base 2: the scale
 * 1/sqrt(head_dim) and log2(e) are one factor, applied in the exponent.
 * Rows past seq are zeros on the way in, masked, and not stored; zeros, since
 * 0 times whatever lies behind V could be NaN.
 */
#include <fa/fa.h>

using namespace fa;

constexpr int block_m = BLOCK_M; /* query rows a block */
constexpr int block_n = BLOCK_N; /* rows of K and V a step */
constexpr int num_warps = NUM_WARPS;
constexpr int stages = STAGES;    /* steps that the ring holds */
constexpr bool swizzle = SWIZZLE; /* XOR layout of tiles, or plain rows */
constexpr int head_dim = HEAD_DIM;
constexpr int smem_bytes = SMEM_BYTES; /* what the launch provides */

constexpr int threads = 32 * num_warps;
constexpr int warp_rows = block_m / num_warps;
constexpr int m_tiles = warp_rows / 16; /* mma tiles of query rows a warp */
constexpr int n_tiles = block_n / 8;    /* mma tiles of K rows a step */
constexpr int d_tiles = head_dim / 8;   /* mma tiles of output columns */
constexpr int d_steps = head_dim / 16;  /* mma depth steps of Q K^T */
constexpr int row_bytes = 2 * head_dim; /* of a tile in shared memory */
constexpr int row_granules = row_bytes / 16;
constexpr int tile_bytes = block_n * row_bytes;

static_assert(block_m % (16 * num_warps) == 0, "warp_tile: a warp owns whole 16-row mma tiles");
static_assert(block_n % 16 == 0, "warp_tile: a step is whole 16-row mma tiles");
static_assert(threads <= 1024, "threads: a block has at most 1024");
static_assert(row_bytes % 128 == 0, "alignment: rows are whole 128-byte lines of 16-byte copies");
static_assert(block_n * row_granules % threads == 0,
              "alignment: threads copy equal shares of a tile");
static_assert(stages >= 2, "a step is copied while another is read");
static_assert(smem_bytes >= 2 * stages * tile_bytes, "smem_overflow: the ring fits");
static_assert(smem_bytes >= block_m * row_bytes, "smem_overflow: the output fits into the ring");

/* What a thread's tiles need, or up to 8 less where an SM then holds a block more:
 * unbounded, ptxas takes 127 to 136, 167 to 194 and 228 to 255. */
constexpr int registers = m_tiles * n_tiles <= 8 ? 128 : m_tiles == 1 ? 168 : 255;
constexpr int fitting_blocks = 65536 / (registers * threads); /* in an SM's register file */
constexpr int min_blocks = fitting_blocks > 1 ? fitting_blocks : 1;

constexpr float scale_log2 = 0.125f * 1.44269504f; /* log2(e) / sqrt(head_dim) */
static_assert(head_dim == 64, "scale_log2 is that of 64");

/* Below every real score, and finite: a difference of two is never NaN. */
constexpr float lowest_max = -1e30f;

/* Where 16 bytes of a tile lie.  An ldmatrix phase reads one granule of 8
 * consecutive rows: in plain 128-byte rows all in the same four banks, swizzled
 * all in different ones. */
__device__ __forceinline__ u32 tile_offset(u32 row, u32 granule)
{
    return row * row_bytes + 16 * (swizzle ? granule ^ row % 8 : granule);
}

/* tile_smem [block_n, head_dim] = rows first.. of K or V [seq, head_dim] */
__device__ __forceinline__ void copy_tile(smem_addr tile_smem, const half *rows, u32 first, u32 seq)
{
    constexpr int rows_a_pass = threads / row_granules;
    const u32 granule = threadIdx.x % row_granules;

#pragma unroll
    for (int i = 0; i < block_n / rows_a_pass; i++) {
        const u32 row = threadIdx.x / row_granules + i * rows_a_pass;

        cp_async_16(tile_smem + tile_offset(row, granule),
                    rows + (first + row) * head_dim + 8 * granule, first + row < seq ? 16 : 0);
    }
}

/* q_rmem [warp_rows, head_dim] = rows first.. of Q [seq, head_dim], as mma's A */
__device__ __forceinline__ void load_query(u32 (&q_rmem)[m_tiles][d_steps][4], const half *Q,
                                           u32 first, u32 seq)
{
    const u32 group = lane_id() / 4, pair = 2 * (lane_id() % 4);

#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int d = 0; d < d_steps; d++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const u32 row = first + 16 * m + group + 8 * (i % 2);
                const u32 column = 16 * d + pair + 8 * (i / 2);

                q_rmem[m][d][i] = row < seq ? ld_global_4(Q + row * head_dim + column) : 0;
            }
}

/* s [warp_rows, block_n] = q [warp_rows, head_dim] k_smem [block_n, head_dim]^T */
__device__ __forceinline__ void multiply_qk(float (&s)[m_tiles][n_tiles][4],
                                            const u32 (&q_rmem)[m_tiles][d_steps][4],
                                            smem_addr k_smem)
{
    const u32 row = lane_id() / 16 * 8 + lane_id() % 8, granule = lane_id() / 8 % 2;

#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int n = 0; n < n_tiles; n++)
            s[m][n][0] = s[m][n][1] = s[m][n][2] = s[m][n][3] = 0;
#pragma unroll
    for (int d = 0; d < d_steps; d++)
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4]; /* both depth halves of K rows 8n.., then of 8n+8.. */

            ldmatrix_x4(k_rmem, k_smem + tile_offset(8 * n + row, 2 * d + granule));
#pragma unroll
            for (int m = 0; m < m_tiles; m++) {
                mma_m16n8k16_f16_f32(s[m][n], q_rmem[m][d], k_rmem[0], k_rmem[1], s[m][n]);
                mma_m16n8k16_f16_f32(s[m][n + 1], q_rmem[m][d], k_rmem[2], k_rmem[3], s[m][n + 1]);
            }
        }
}

/* Scores of query rows row.. and K rows column.. that do not count become -inf:
 * those past the end, and if causal those in the row's future. */
__device__ __forceinline__ void mask_scores(float (&s)[m_tiles][n_tiles][4], u32 row, u32 column,
                                            u32 seq, bool causal)
{
    row += lane_id() / 4;
    column += 2 * (lane_id() % 4);

#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int n = 0; n < n_tiles; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const u32 at_row = row + 16 * m + 8 * (i / 2), at_column = column + 8 * n + i % 2;

                if (at_column >= seq || (causal && at_column > at_row))
                    s[m][n][i] = -__builtin_huge_valf();
            }
}

/* s becomes p = 2^(scale (s - max)); o and row_sum, made with the maximum so
 * far, are rescaled to the new one.  Each row lies in 4 neighbouring lanes, and
 * row_sum is the lane's part. */
__device__ __forceinline__ void softmax_step(float (&s)[m_tiles][n_tiles][4],
                                             float (&o)[m_tiles][d_tiles][4],
                                             float (&row_max)[m_tiles][2],
                                             float (&row_sum)[m_tiles][2])
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int i = 0; i < 4; i += 2) { /* row group, then group + 8 */
            float top = row_max[m][i / 2], sum = 0;

#pragma unroll
            for (int n = 0; n < n_tiles; n++)
                top = max(top, max(s[m][n][i], s[m][n][i + 1]));
            top = max(top, shfl_xor(top, 1));
            top = max(top, shfl_xor(top, 2));

            const float rescale = ex2(scale_log2 * (row_max[m][i / 2] - top));
            const float base = scale_log2 * top;
#pragma unroll
            for (int n = 0; n < n_tiles; n++) {
                s[m][n][i] = ex2(scale_log2 * s[m][n][i] - base);
                s[m][n][i + 1] = ex2(scale_log2 * s[m][n][i + 1] - base);
                sum += s[m][n][i] + s[m][n][i + 1];
            }
#pragma unroll
            for (int d = 0; d < d_tiles; d++) {
                o[m][d][i] *= rescale;
                o[m][d][i + 1] *= rescale;
            }
            row_sum[m][i / 2] = rescale * row_sum[m][i / 2] + sum;
            row_max[m][i / 2] = top;
        }
}

/* o [warp_rows, head_dim] += p [warp_rows, block_n] v_smem [block_n, head_dim]
 * The accumulator layout of two neighbouring tiles of p is mma's A layout. */
__device__ __forceinline__ void multiply_pv(float (&o)[m_tiles][d_tiles][4],
                                            const float (&p)[m_tiles][n_tiles][4], smem_addr v_smem)
{
    const u32 row = lane_id() % 16, granule = lane_id() / 16;

#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
        u32 p_rmem[m_tiles][4];

#pragma unroll
        for (int m = 0; m < m_tiles; m++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                p_rmem[m][i] =
                    cvt_rn_f16x2_f32(p[m][n + i / 2][i % 2 * 2 + 1], p[m][n + i / 2][i % 2 * 2]);
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            u32 v_rmem[4]; /* both depth halves of V columns 8d.., then of 8d+8.. */

            ldmatrix_x4_trans(v_rmem, v_smem + tile_offset(8 * n + row, d + granule));
#pragma unroll
            for (int m = 0; m < m_tiles; m++) {
                mma_m16n8k16_f16_f32(o[m][d], p_rmem[m], v_rmem[0], v_rmem[1], o[m][d]);
                mma_m16n8k16_f16_f32(o[m][d + 1], p_rmem[m], v_rmem[2], v_rmem[3], o[m][d + 1]);
            }
        }
    }
}

/* Rows first.. of out [seq, head_dim] = o / row_sum, by way of the warp's own
 * part of shared memory: from there a warp stores whole rows, 16 bytes a lane. */
__device__ __forceinline__ void store_output(half *out, const float (&o)[m_tiles][d_tiles][4],
                                             const float (&row_sum)[m_tiles][2],
                                             smem_addr warp_smem, u32 first, u32 seq)
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            const u32 row = 16 * m + lane_id() / 4 + 4 * i;
            float sum = row_sum[m][i / 2];

            sum += shfl_xor(sum, 1);
            sum += shfl_xor(sum, 2);
            const float inverse = 1 / sum;
#pragma unroll
            for (int d = 0; d < d_tiles; d++)
                st_shared_4(warp_smem + tile_offset(row, d) + 4 * (lane_id() % 4),
                            cvt_rn_f16x2_f32(inverse * o[m][d][i + 1], inverse * o[m][d][i]));
        }
    syncwarp(); /* rows cross lanes, not warps */

    constexpr int rows_a_pass = 32 / row_granules;
    const u32 granule = lane_id() % row_granules;
#pragma unroll
    for (int i = 0; i < warp_rows / rows_a_pass; i++) {
        const u32 row = lane_id() / row_granules + i * rows_a_pass;

        if (first + row < seq)
            st_global_16(out + (first + row) * head_dim + 8 * granule,
                         ld_shared_16(warp_smem + tile_offset(row, granule)));
    }
}

/* One dimension of blocks, heads times query tiles.  Causal blocks differ in
 * length: the longest run first, of all heads.  Otherwise the tiles of a head
 * are neighbours, and share its K and V in the L2 cache. */
__device__ __forceinline__ void find_work(u32 tiles, bool causal, u32 &head, u32 &tile)
{
    const u32 heads = gridDim.x / tiles;

    head = causal ? blockIdx.x % heads : blockIdx.x / tiles;
    tile = causal ? tiles - 1 - blockIdx.x / heads : blockIdx.x % tiles;
}

extern "C" __global__ void __launch_bounds__(threads, min_blocks)
    flash_attention(const half *__restrict__ Q, /* [batch, heads, seq, head_dim], contiguous */
                    const half *__restrict__ K, /* the same */
                    const half *__restrict__ V, /* the same */
                    half *__restrict__ out,     /* the same */
                    int seq_len, int causal)
{
    const u32 seq = u32(seq_len);
    u32 head, tile;
    find_work((seq + block_m - 1) / block_m, causal, head, tile);
    const size_t head_start = size_t(head) * seq * head_dim;
    const u32 first_row = tile * block_m + warp_id() * warp_rows;
    const u32 end = causal ? min(seq, (tile + 1) * block_m) : seq; /* of the K rows it sees */
    const u32 steps = (end + block_n - 1) / block_n;
    const smem_addr ring_smem = smem_base(); /* [stages, {K, V}, block_n, head_dim] */

    const auto copy_step = [&](u32 step, u32 slot) {
        const smem_addr k_smem = ring_smem + slot * (2 * tile_bytes);

        if (step < steps) {
            copy_tile(k_smem, K + head_start, step * block_n, seq);
            copy_tile(k_smem + tile_bytes, V + head_start, step * block_n, seq);
        }
        cp_async_commit(); /* an empty group in the tail, so that the count below holds */
    };

    for (u32 step = 0; step < stages - 1; step++)
        copy_step(step, step);

    u32 q_rmem[m_tiles][d_steps][4];
    load_query(q_rmem, Q + head_start, first_row, seq);

    float o[m_tiles][d_tiles][4] = {};
    float row_max[m_tiles][2], row_sum[m_tiles][2] = {};
    for (int m = 0; m < m_tiles; m++)
        row_max[m][0] = row_max[m][1] = lowest_max;

    u32 slot = 0;
#pragma unroll 1
    for (u32 step = 0; step < steps; step++) {
        const u32 column = step * block_n;
        const smem_addr k_smem = ring_smem + slot * (2 * tile_bytes);

        cp_async_wait<stages - 2>(); /* of the stages - 1 steps under way, the oldest is there, */
        barrier(); /* for all threads; and none still reads the step before, which is next filled */
        copy_step(step + stages - 1, slot == 0 ? stages - 1 : slot - 1);

        if (!causal || column < first_row + warp_rows) { /* else all is the warp's future */
            float s[m_tiles][n_tiles][4];

            multiply_qk(s, q_rmem, k_smem);
            if (column + block_n > seq || (causal && column + block_n > first_row + 1))
                mask_scores(s, first_row, column, seq, causal);
            softmax_step(s, o, row_max, row_sum);
            multiply_pv(o, s, k_smem + tile_bytes);
        }
        slot = slot == stages - 1 ? 0 : slot + 1;
    }

    barrier(); /* no warp reads the ring any more: it takes the output */
    store_output(out + head_start, o, row_sum, ring_smem + warp_id() * (warp_rows * row_bytes),
                 first_row, seq);
}
