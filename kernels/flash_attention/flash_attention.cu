/* flash_attention.cu - out = softmax(Q K^T / sqrt(head_dim)) V, forward
 *
 * fp16 in and out, fp32 accumulate, any seq >= 1, causal or not at run time,
 * one head of K and V for 'group' heads of Q.  A block owns BLOCK_M query rows
 * of one head, a warp whole 16-row mma tiles of them, whose output stays in
 * registers.  K and V pass through rings of BLOCK_N-row tiles in shared memory;
 * a step is one tile of each, and is worked on in slices of SLICE_N columns.
 *
 * The softmax is online (Milakov and Gimelshein 2018) and in base 2: the scale
 * 1/sqrt(head_dim) and log2(e) are one factor, applied in the exponent.  What
 * is subtracted there need not be the rows' maximum: RESCALE says how near it
 * is kept.
 *
 * Rows past seq are zeros on the way in, masked, and not stored; zeros, since
 * 0 times whatever lies behind V could be NaN.
 */
#include <fa/fa.h>

#include "limits.h"

using namespace fa;

constexpr int block_m = BLOCK_M;
constexpr int block_n = BLOCK_N;
constexpr int num_warps = NUM_WARPS;
constexpr int k_stages = K_STAGES;
constexpr int v_stages = V_STAGES;
constexpr int block_k = BLOCK_K;
constexpr int slice_n = SLICE_N;
constexpr int pipeline = PIPELINE;   /* flash::pipeline */
constexpr int lookahead = LOOKAHEAD; /* ldmatrix under way before the first is used */
constexpr int rescale = RESCALE;     /* enum rescale */
constexpr int exponential = EXPONENTIAL;
constexpr bool sum_by_mma = SUM_BY_MMA; /* row sums from tensor cores, of rounded weights */
constexpr int layout = LAYOUT;          /* flash::layout */
constexpr int copy_bytes = COPY_BYTES;  /* of one copy to shared memory */
constexpr bool cp_async = CP_ASYNC;     /* or through registers */
constexpr int q_home = Q_HOME;          /* flash::q_home */
constexpr int block_order = BLOCK_ORDER;
constexpr bool persistent = PERSISTENT;
constexpr bool staged_output = STAGED_OUTPUT; /* through shared memory, whole rows */
constexpr bool streaming = STREAMING;         /* Q and out leave the caches first */
constexpr int unroll = UNROLL;                /* steps, at run time */
constexpr int slice_unroll = SLICE_UNROLL;    /* slices of a step, in pairs where they overlap */
constexpr int pair_unroll = slice_unroll > 2 ? slice_unroll / 2 : 1;
constexpr int min_blocks = MIN_BLOCKS; /* an SM; 0: the compiler's choice */
constexpr int head_dim = HEAD_DIM;
constexpr int smem_bytes = SMEM_BYTES; /* what the launch provides */

constexpr flash::config config = { block_m,    block_n,    num_warps, k_stages,
                                   v_stages,   block_k,    slice_n,   pipeline,
                                   layout,     copy_bytes, q_home,    staged_output,
                                   persistent, min_blocks, head_dim,  smem_bytes };

static_assert(flash::threads_fit(config), "threads");
static_assert(flash::warp_tile_fits(config), "warp_tile");
static_assert(flash::alignment_fits(config), "alignment");
static_assert(flash::block_k_fits(config), "block_k");
static_assert(flash::slice_fits(config), "slice");
static_assert(flash::pipeline_fits(config), "pipeline");
static_assert(flash::stages_fit(config), "stages");
static_assert(flash::grid_fits(config), "grid");
static_assert(flash::smem_fits(config), "smem_overflow");

enum rescale {
    RESCALE_ALWAYS,     /* the maximum so far, at each slice */
    RESCALE_VOTE,       /* the same, but sums are rescaled only where a maximum has grown */
    RESCALE_LAZY,       /* a maximum that is less than 2^lazy_bits behind stays */
    RESCALE_OPTIMISTIC, /* none is computed until a weight comes near fp16's end */
};
enum exponential {
    EXPONENTIAL_F32,
    EXPONENTIAL_F16X2
};
enum block_order {
    ORDER_TILES_FIRST,
    ORDER_HEADS_FIRST,
    ORDER_HEADS_FIRST_IF_CAUSAL
};

constexpr int threads = flash::threads(config);
constexpr int warp_rows = block_m / num_warps;
constexpr int m_tiles = warp_rows / 16;   /* mma tiles of query rows a warp */
constexpr int slices = block_n / slice_n; /* a step */
constexpr int n_tiles = slice_n / 8;      /* mma tiles of K rows a slice */
constexpr int d_tiles = head_dim / 8;     /* mma tiles of output columns */
constexpr int d_steps = head_dim / 16;    /* mma depth steps of Q K^T */
constexpr int parts = head_dim / block_k; /* copy groups of a tile of K */
constexpr int part_steps = block_k / 16;  /* mma depth steps of a part */
constexpr int row_bytes = flash::row_bytes(config);
constexpr int row_granules = head_dim / 8; /* 16 bytes each */
constexpr int q_rows = flash::q_rows(config), output_rows = flash::output_rows(config);
constexpr int tile_bytes = block_n * row_bytes;
constexpr int slice_bytes = slice_n * row_bytes;

/* How the rings are refilled: one barrier a step, and each ring a tile ahead;
 * each ring as soon as its tile is used, with a barrier for each; or both after
 * the step. */
constexpr bool refill_ahead = k_stages >= 2 && v_stages >= 2;
constexpr bool refill_apart = !refill_ahead && slices == 1;
constexpr bool together = k_stages == v_stages && !refill_apart; /* K and V, always */

constexpr float log2_e = 1.44269504f;
constexpr float scale_log2 = /* log2(e) / sqrt(head_dim) */
    log2_e * (head_dim == 32   ? 0.176776695f
              : head_dim == 64 ? 0.125f
                               : 0.0883883476f);
static_assert(head_dim == 32 || head_dim == 64 || head_dim == 128, "scale_log2 knows these");

/* Below every real score, and finite: a difference of two is never NaN. */
constexpr float lowest_base = -1e30f;
constexpr float lazy_bits = 8;
constexpr float weight_limit = 32768; /* of a sum of weights: each then fits into fp16 */

using query = u32[m_tiles][d_steps][4];       /* [warp_rows, head_dim] as mma's A */
using scores = float[m_tiles][n_tiles][4];    /* [warp_rows, slice_n] as mma's C */
using weights = u32[m_tiles][n_tiles / 2][4]; /* the same as mma's A */
using row_values = float[m_tiles][2];         /* of rows g and g + 8 of each mma tile */

/* What a warp carries from slice to slice: out = o / sum.  Each row lies in 4
 * neighbouring lanes; 'sum' is the lane's part, or with sum_by_mma the whole. */
struct accumulator {
    float o[m_tiles][d_tiles][4];
    row_values base; /* weights are 2^(scale_log2 * score - base) */
    row_values sum;
};

/* Where 16 bytes of a tile lie.  An ldmatrix phase reads one granule of 8
 * consecutive rows: in plain 128-byte rows all in the same four banks, swizzled
 * or padded all in different ones. */
__device__ __forceinline__ u32 tile_offset(u32 row, u32 granule)
{
    if (layout == flash::LAYOUT_XOR)
        granule ^= head_dim == 32 ? row / 2 % 4 : row % 8;
    return row * row_bytes + 16 * granule;
}

__device__ __forceinline__ u32 stream_ld_4(const void *p)
{
    return streaming ? ld_global_streaming_4(p) : ld_global_4(p);
}

/* One copy of copy_bytes, of zeros where 'inside' is false */
__device__ __forceinline__ void copy(smem_addr to, const half *from, bool inside)
{
    if (cp_async && copy_bytes == 16)
        cp_async_16(to, from, inside ? 16 : 0);
    else if (cp_async)
        cp_async_4(to, from, inside ? 4 : 0);
    else if (copy_bytes == 16)
        st_shared_16(to, inside ? ld_global_16(from) : vec16{});
    else
        st_shared_4(to, inside ? ld_global_4(from) : 0);
}

/* How 'lanes' threads copy rows of 'columns' elements: each always the same
 * piece of a row. */
template <int columns, int lanes>
struct copy_share {
    static constexpr int pieces = 2 * columns / copy_bytes; /* of a row */
    static constexpr int rows_a_pass = lanes / pieces;
    u32 row, column; /* the first of this thread */

    explicit __device__ __forceinline__ copy_share(u32 lane)
        : row(lane / pieces), column(lane % pieces * (copy_bytes / 2))
    {
    }

    __device__ __forceinline__ u32 offset() const /* of the element in [.., head_dim] */
    {
        return row * head_dim + column;
    }

    /* tile_smem [rows, head_dim] = as many rows of [.., head_dim], of which
     * 'valid' exist, in the columns first_column.. ; 'from' is this thread's
     * first element of them. */
    template <int rows>
    __device__ __forceinline__ void copy_rows(smem_addr tile_smem, const half *from, u32 valid,
                                              u32 first_column = 0) const
    {
        const u32 at = first_column + column;
        const auto passes = [&](bool whole) {
#pragma unroll
            for (int i = 0; i < (rows + rows_a_pass - 1) / rows_a_pass; i++) {
                const u32 to = row + i * rows_a_pass;

                if (rows % rows_a_pass == 0 || to < rows)
                    copy(tile_smem + tile_offset(to, at / 8) + at % 8 * 2,
                         from + i * rows_a_pass * head_dim, whole || to < valid);
            }
        };

        if (valid >= rows)
            passes(true); /* most are, and need no test */
        else
            passes(false);
    }
};

/* Let at most n groups of copies stay in flight, n folding to a constant, and
 * never more than 15. */
template <int N = 0>
__device__ __forceinline__ void wait_copies(int n)
{
    if (n <= N || N == 15)
        cp_async_wait<N>();
    else if constexpr (N < 15)
        wait_copies<N + 1>(n);
}

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

                q[m][d][i] =
                    first + group + row < seq ? stream_ld_4(head + row * head_dim + column) : 0;
            }
}

/* One mma tile of the warp's rows, q_smem [warp_rows, head_dim] */
__device__ __forceinline__ void read_query(u32 (&q)[4], smem_addr q_smem, int m, int d)
{
    ldmatrix_x4(q, q_smem + tile_offset(16 * m + lane_id() % 16, 2 * d + lane_id() / 16));
}

/* Read 'count' operands of four registers in order, 'lookahead' of them ahead
 * of their use. */
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

/* s [warp_rows, slice_n] = q [warp_rows, head_dim] k_smem [slice_n, head_dim]^T,
 * or the share of it that one part of head_dim has, added to that of part 0 */
__device__ __forceinline__ void multiply_qk(scores &s, const query &q, smem_addr q_smem,
                                            smem_addr k_smem, int part = 0)
{
    const u32 row = lane_id() / 16 * 8 + lane_id() % 8, granule = lane_id() / 8 % 2;
    constexpr int pairs = n_tiles / 2, steps = parts == 1 ? d_steps : part_steps;
    u32 q_read[m_tiles][4];

    if (part == 0) {
#pragma unroll
        for (int m = 0; m < m_tiles; m++)
#pragma unroll
            for (int n = 0; n < n_tiles; n++)
                s[m][n][0] = s[m][n][1] = s[m][n][2] = s[m][n][3] = 0;
    }
    for_operands<steps * pairs>(
        [&](u32(&k)[4], int i) {
            const int d = part * part_steps + i / pairs, n = i % pairs * 2;

            /* both depth halves of K rows 8n.., then of 8n+8.. */
            ldmatrix_x4(k, k_smem + tile_offset(8 * n + row, 2 * d + granule));
        },
        [&](const u32(&k)[4], int i) {
            const int d = part * part_steps + i / pairs, n = i % pairs * 2;

#pragma unroll
            for (int m = 0; m < m_tiles; m++) {
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
        });
}

/* o [warp_rows, head_dim] += p [warp_rows, slice_n] v_smem [slice_n, head_dim];
 * with RESCALE_OPTIMISTIC only if 'on', the same in all lanes */
__device__ __forceinline__ void multiply_pv(accumulator &acc, const weights &p, smem_addr v_smem,
                                            bool on = true)
{
    const u32 row = lane_id() % 16, granule = lane_id() / 16;
    constexpr int pairs = d_tiles / 2;

    for_operands<n_tiles / 2 * pairs>(
        [&](u32(&v)[4], int i) {
            const int n = i / pairs, d = i % pairs * 2;

            /* both depth halves of V columns 8d.., then of 8d+8.. */
            ldmatrix_x4_trans(v, v_smem + tile_offset(16 * n + row, d + granule));
        },
        [&](const u32(&v)[4], int i) {
            const int n = i / pairs, d = i % pairs * 2;

#pragma unroll
            for (int m = 0; m < m_tiles; m++) {
                if (rescale == RESCALE_OPTIMISTIC) {
                    mma_m16n8k16_f16_f32_if(on, acc.o[m][d], p[m][n], v[0], v[1]);
                    mma_m16n8k16_f16_f32_if(on, acc.o[m][d + 1], p[m][n], v[2], v[3]);
                } else {
                    mma_m16n8k16_f16_f32(acc.o[m][d], p[m][n], v[0], v[1], acc.o[m][d]);
                    mma_m16n8k16_f16_f32(acc.o[m][d + 1], p[m][n], v[2], v[3], acc.o[m][d + 1]);
                }
            }
        });
}

/* Scores of query rows row.. and K rows column.. that do not count become -inf:
 * those past the end, and if causal those in the row's future. */
__device__ __forceinline__ void mask_scores(scores &s, u32 row, u32 column, u32 seq, bool causal)
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

/* p = 2^(scale_log2 * s - base), and 'sum' their sums, as accumulator.sum has
 * them */
__device__ __forceinline__ void weigh(weights &p, row_values &sum, const scores &s,
                                      const row_values &base)
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++) {
        float whole[4] = {};

#pragma unroll
        for (int n = 0; n < n_tiles / 2; n++) {
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

/* top = the maxima of the rows of s, as bases */
__device__ __forceinline__ void row_maxima(row_values &top, const scores &s)
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

/* Raise 'base' towards the maxima of s as RESCALE says, and bring o and sum,
 * made with the old one, to the new one. */
template <int policy>
__device__ __forceinline__ void follow_maximum(accumulator &acc, const scores &s)
{
    row_values top;
    bool grown = false;

    row_maxima(top, s);
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            top[m][i] = max(acc.base[m][i], top[m][i]);
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

/* Is a weight too large for fp16, in any row of the warp, or not a number? */
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

/* p = the weights of s, whatever it takes */
__device__ __forceinline__ void softmax_slice(weights &p, accumulator &acc, const scores &s)
{
    row_values sum;

    if constexpr (rescale == RESCALE_OPTIMISTIC) {
        weigh(p, sum, s, acc.base);
        if (overflows(sum)) {
            follow_maximum<RESCALE_ALWAYS>(acc, s);
            weigh(p, sum, s, acc.base);
        }
    } else {
        follow_maximum<rescale>(acc, s);
        weigh(p, sum, s, acc.base);
    }
    add_sums(acc, sum);
}

/* p = the weights of s with the base as it is: 'on' turns false where they
 * overflow, and then they must not be used. */
__device__ __forceinline__ void try_softmax_slice(weights &p, accumulator &acc, const scores &s,
                                                  bool &on)
{
    row_values sum;

    weigh(p, sum, s, acc.base);
    on = !overflows(sum) && on;
    if (on)
        add_sums(acc, sum);
}

/* Rows first.. of out [seq, head_dim] = o / sum, straight or by way of
 * warp_smem [warp_rows, head_dim]: from there a warp stores whole rows. */
__device__ __forceinline__ void store_output(half *out, const accumulator &acc, smem_addr warp_smem,
                                             u32 first, u32 seq)
{
#pragma unroll
    for (int m = 0; m < m_tiles; m++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const u32 row = 16 * m + lane_id() / 4 + 8 * i;
            float sum = acc.sum[m][i];

            if (!sum_by_mma) {
                sum += shfl_xor(sum, 1);
                sum += shfl_xor(sum, 2);
            }
            const float inverse = rcp(sum);
#pragma unroll
            for (int d = 0; d < d_tiles; d++) {
                const u32 pair = cvt_rn_f16x2_f32(inverse * acc.o[m][d][2 * i + 1],
                                                  inverse * acc.o[m][d][2 * i]);

                if (staged_output)
                    st_shared_4(warp_smem + tile_offset(row, d) + 4 * (lane_id() % 4), pair);
                else if (first + row < seq)
                    st_global_4(out + (first + row) * head_dim + 8 * d + 2 * (lane_id() % 4), pair);
            }
        }
    if (!staged_output)
        return;
    syncwarp(); /* rows cross lanes, not warps */

    constexpr int rows_a_pass = 32 / row_granules;
    const u32 granule = lane_id() % row_granules, lane_row = lane_id() / row_granules;
    const auto store_rows = [&](bool whole) {
#pragma unroll
        for (int i = 0; i < warp_rows / rows_a_pass; i++) {
            const u32 row = lane_row + i * rows_a_pass;
            const vec16 part = ld_shared_16(warp_smem + tile_offset(row, granule));

            if (!whole && first + row >= seq)
                continue;
            half *to =
                out + (first + lane_row) * head_dim + 8 * granule + i * rows_a_pass * head_dim;
            if (streaming)
                st_global_streaming_16(to, part);
            else
                st_global_16(to, part);
        }
    };

    if (first + warp_rows <= seq)
        store_rows(true);
    else
        store_rows(false);
}

/* The launch's arguments, and how its blocks walk the items: the tiles of query
 * rows of all heads */
struct problem {
    const half *q, *k, *v;
    half *out;
    u32 seq;
    bool causal;
    u32 group;                /* heads of Q that share a head of K and V */
    u32 tiles;                /* of block_m query rows, a head */
    bool heads_first;         /* neighbours are all heads' tiles of one place; or the
                               * tiles of a head, which share its K and V in the L2 cache */
    u32 fast, slow;           /* items are fast * slow */
    u32 fast_step, slow_step; /* from a persistent block's item to its next */
};

/* A place in the order of items */
struct cursor {
    u32 fast, slow;
};

/* A grid of one block an item has two dimensions, a persistent one has one. */
__device__ __forceinline__ cursor first_cursor(const problem &all)
{
    if (persistent)
        return { blockIdx.x % all.fast, blockIdx.x / all.fast };
    return { blockIdx.x, blockIdx.y };
}

__device__ __forceinline__ cursor next_cursor(const problem &all, cursor at)
{
    at.fast += all.fast_step;
    at.slow += all.slow_step;
    if (at.fast >= all.fast) {
        at.fast -= all.fast;
        at.slow++;
    }
    return at;
}

/* One head's tile of query rows, and what of K and V it sees */
struct item {
    size_t q_start, kv_start; /* elements before the head */
    u32 first_row;
    u32 steps; /* tiles of K; 0: past the last item */
};

/* Causal tiles differ in length: the longest run first. */
__device__ __forceinline__ item find_item(const problem &all, cursor at)
{
    const u32 head = all.heads_first ? at.fast : at.slow;
    const u32 nth = all.heads_first ? at.slow : at.fast;
    const u32 tile = all.causal ? all.tiles - 1 - nth : nth;
    const u32 end = all.causal ? min(all.seq, (tile + 1) * block_m) : all.seq;
    const u32 kv_head = all.group == 1 ? head : head / all.group;
    const size_t head_elements = size_t(all.seq) * head_dim;

    return { head * head_elements, kv_head * head_elements, tile * block_m,
             !persistent || at.slow < all.slow ? (end + block_n - 1) / block_n : 0 };
}

/* Where copies to the rings go on: tile after tile of one item after the other.
 * One serves both K and V where they are copied together. */
struct supply {
    cursor at;    /* the item */
    size_t start; /* elements before its head of K and V, and to this thread's piece */
    u32 row;      /* of the head, the first of the tile to be copied next */
    u32 steps;    /* of the item, tiles from there on */
    u32 slot;     /* of the ring, to be filled next */

    __device__ __forceinline__ void go_to(const problem &all, cursor to)
    {
        const item next = find_item(all, to);

        at = to;
        start = next.kv_start;
        row = 0;
        steps = next.steps;
    }

    __device__ __forceinline__ void go_on(const problem &all, u32 stages)
    {
        slot = slot == stages - 1 ? 0 : slot + 1;
        row += block_n;
        if (steps > 0 && --steps == 0 && persistent)
            go_to(all, next_cursor(all, at));
    }

    /* One group for each part of a tile, empty past the last so that counts
     * hold. */
    template <int copy_parts>
    __device__ __forceinline__ void copy(const problem &all, const half *rows, smem_addr ring) const
    {
        constexpr int columns = head_dim / copy_parts;
        const copy_share<columns, threads> share(threadIdx.x);

#pragma unroll
        for (int part = 0; part < copy_parts; part++) {
            if (steps > 0)
                share.template copy_rows<block_n>(
                    ring + slot * tile_bytes,
                    rows + (start + (row * head_dim + share.offset() + part * columns)),
                    all.seq - row, part * columns);
            if (cp_async)
                cp_async_commit();
        }
    }
};

/* What a step works on, for one warp */
struct step_tiles {
    smem_addr q_smem, k_smem, v_smem;
    u32 warp_row, column;
    bool first; /* of the item */
    bool edge;  /* some scores do not count, and from some slice on none does */
};

/* Slices of a step from 'slice' on, one after the other */
__device__ __forceinline__ void work_slices(accumulator &acc, const query &q, const step_tiles &at,
                                            const problem &all, int slice)
{
    const u32 past = all.causal ? min(all.seq, at.warp_row + warp_rows) : all.seq;

#pragma unroll 1
    for (int i = slice; i < slices && at.column + i * slice_n < past; i++) {
        scores s;
        weights p;

        multiply_qk(s, q, at.q_smem, at.k_smem + i * slice_bytes);
        if (at.edge)
            mask_scores(s, at.warp_row, at.column + i * slice_n, all.seq, all.causal);
        softmax_slice(p, acc, s);
        multiply_pv(acc, p, at.v_smem + i * slice_bytes);
    }
}

/* All slices of a step that is at no edge, overlapping as PIPELINE says, without
 * a branch between them; 'refill' starts copies once the tensor cores are busy.
 * Returns how many from the first on are done: with
 * RESCALE_OPTIMISTIC none from one on whose weights overflow. */
template <typename Refill>
__device__ __forceinline__ int work_step(accumulator &acc, const query &q, const step_tiles &at,
                                         Refill refill)
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
        multiply_pv(acc, p[odd], at.v_smem + i * slice_bytes, on[odd]);
        done += on[odd];
    };

    score(0, 0);
    if constexpr (pipeline == flash::PIPELINE_THREE_DEEP)
        score(1, 1);
    refill();
    if (optimistic && at.first)
        row_maxima(acc.base, s[0]);
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
                add(i + odd - 2, odd);
                score(i + odd, odd);
                weight(1 - odd);
            }
        add(slices - 2, 0);
        weight(1);
        add(slices - 1, 1);
    }
    return done;
}

/* Let all but the latest 'groups' of this thread's copies arrive, and see what
 * the others' brought. */
__device__ __forceinline__ void await_copies(int groups)
{
    if (cp_async)
        wait_copies(groups);
    barrier();
}

extern "C" __global__ void __launch_bounds__(threads, min_blocks)
    flash_attention(const half *__restrict__ Q, /* [batch, heads, seq, head_dim], contiguous */
                    const half *__restrict__ K, /* [batch, heads / group, seq, head_dim] */
                    const half *__restrict__ V, /* the same */
                    half *__restrict__ out,     /* as Q */
                    int seq, int causal, int all_heads /* batch * heads */, int group,
                    int /* head_dim, which only the reference does not know */)
{
    const u32 heads = u32(all_heads), tiles = (u32(seq) + block_m - 1) / block_m;
    const bool heads_first =
        block_order == ORDER_HEADS_FIRST || (block_order == ORDER_HEADS_FIRST_IF_CAUSAL && causal);
    const u32 fast = heads_first ? heads : tiles, slow = heads_first ? tiles : heads;
    problem all = {};
    all.q = Q, all.k = K, all.v = V, all.out = out;
    all.seq = u32(seq), all.causal = causal != 0, all.group = u32(group), all.tiles = tiles;
    all.heads_first = heads_first, all.fast = fast, all.slow = slow;
    if (persistent)
        all.fast_step = gridDim.x % fast, all.slow_step = gridDim.x / fast;
    const u32 warp_first = warp_id() * warp_rows; /* row of the block */
    constexpr int q_bytes = q_rows * row_bytes;
    constexpr int rings_bytes = (k_stages + v_stages) * tile_bytes;
    const smem_addr q_smem = smem_base() + warp_first * row_bytes; /* the warp's */
    const smem_addr k_ring = smem_base() + q_bytes;
    const smem_addr v_ring = k_ring + k_stages * tile_bytes;
    const smem_addr out_smem = output_rows > 0 ? q_smem + (q_bytes + rings_bytes) : q_smem;

    /* A warp brings its own rows of Q: no other needs to know. */
    const auto copy_q = [&](const item &of) {
        const u32 row = of.first_row + warp_first;

        const copy_share<head_dim, 32> share(lane_id());

        if (of.steps > 0)
            share.template copy_rows<warp_rows>(
                q_smem, Q + of.q_start + size_t(row) * head_dim + share.offset(),
                row < all.seq ? all.seq - row : 0);
    };
    const auto read_q = [&](query &q) {
#pragma unroll
        for (int m = 0; m < m_tiles; m++)
#pragma unroll
            for (int d = 0; d < d_steps; d++)
                read_query(q[m][d], q_smem, m, d);
    };

    query q;
    cursor at = first_cursor(all);
    item now = find_item(all, at);
    if constexpr (q_home != flash::Q_REGISTERS)
        copy_q(now); /* in the group of K's first tile */
    if constexpr (q_home == flash::Q_THROUGH_RING) {
        if (cp_async)
            cp_async_commit();
        await_copies(0);
        read_q(q);
        barrier(); /* the rings take its place */
    }

    supply k_supply = {}, v_supply = {};
    k_supply.go_to(all, at);
    v_supply.go_to(all, at);
    const auto copy_k = [&] {
        k_supply.copy<parts>(all, K, k_ring);
        k_supply.go_on(all, k_stages);
    };
    const auto copy_v = [&] {
        v_supply.copy<1>(all, V, v_ring);
        v_supply.go_on(all, v_stages);
    };
    const auto copy_both = [&] {
        if constexpr (together) {
            k_supply.copy<parts>(all, K, k_ring);
            k_supply.copy<1>(all, V, v_ring);
            k_supply.go_on(all, k_stages);
        } else {
            copy_k();
            copy_v();
        }
    };

    /* As if steps below 0 had been: each starts copies as a step does. */
    constexpr int k_ahead = refill_ahead ? k_stages - 1 : k_stages;
    constexpr int v_ahead = refill_ahead || refill_apart ? v_stages - 1 : v_stages;
    constexpr int ahead = k_ahead > v_ahead ? k_ahead : v_ahead;
#pragma unroll 1
    for (int i = -ahead; i < 0; i++) {
        if constexpr (together) {
            copy_both();
        } else {
            if (refill_apart && i + v_ahead >= 0)
                copy_v();
            if (i + k_ahead >= 0)
                copy_k();
            if (!refill_apart && i + v_ahead >= 0)
                copy_v();
        }
    }

    u32 k_slot = 0, v_slot = 0;
    for (;;) {
        const u32 warp_row = now.first_row + warp_first;
        const cursor after = next_cursor(all, at);
        const item next = persistent ? find_item(all, after) : item{};
        accumulator acc = {};

#pragma unroll
        for (int m = 0; m < m_tiles; m++)
            acc.base[m][0] = acc.base[m][1] = lowest_base;
        if constexpr (q_home == flash::Q_REGISTERS)
            load_query(q, Q + now.q_start, warp_row, all.seq);

#pragma unroll unroll
        for (u32 step = 0; step < now.steps; step++) {
            const u32 column = step * block_n;
            const smem_addr k_smem = k_ring + k_slot * tile_bytes;
            const smem_addr v_smem = v_ring + v_slot * tile_bytes;
            const bool first = step == 0;
            /* for this warp: all is the future; or part of it, or past the end */
            const bool idle = all.causal && column >= warp_row + warp_rows;
            const bool edge =
                column + block_n > all.seq || (all.causal && column + block_n > warp_row + 1);
            const auto nothing = [] {
            };
            const auto work = [&](auto refill) {
                const step_tiles on = { q_smem, k_smem, v_smem, warp_row, column, first, edge };
                int done = 0;

                if (idle || edge)
                    refill();
                if (idle)
                    return;
                if (!edge)
                    done = work_step(acc, q, on, refill);
                if (edge || (rescale == RESCALE_OPTIMISTIC && done < slices))
                    work_slices(acc, q, on, all, done);
            };
            /* once the item's first copies are there */
            const auto take_q = [&] {
                if (q_home == flash::Q_AHEAD && first) {
                    read_q(q);
                    syncwarp(); /* all lanes have, before */
                    if (persistent)
                        copy_q(next);
                }
            };

            k_slot = k_slot == k_stages - 1 ? 0 : k_slot + 1;
            v_slot = k_stages == v_stages ? k_slot : v_slot == v_stages - 1 ? 0 : v_slot + 1;
            if constexpr (refill_ahead && parts == 1) {
                constexpr int k_later = 1 + 2 * (k_ahead - 1), v_later = 2 * (v_ahead - 1);

                if (persistent && q_home == flash::Q_SHARED && first)
                    await_copies(0); /* Q is the latest */
                else
                    await_copies(k_later < v_later ? k_later : v_later);
                take_q();
                work(copy_both); /* into the tiles that all are past */
            } else if constexpr (!refill_ahead && !refill_apart) {
                await_copies(0);
                take_q();
                work(nothing);
                barrier();
                copy_both();
            } else {
                scores s;
                weights p;

                if constexpr (refill_ahead) {
                    constexpr int later = (parts + 1) * (k_stages - 2);
                    constexpr int v_later = (parts + 1) * (v_stages - 2);

#pragma unroll
                    for (int part = 0; part < parts; part++) {
                        const int issued = part > 0 ? parts + 1 : 0; /* by this step */
                        const int k_later = parts - part + later + issued;

                        if (persistent && q_home == flash::Q_SHARED && first && part == 0)
                            await_copies(0);
                        else
                            await_copies(part == parts - 1 && v_later + issued < k_later
                                             ? v_later + issued
                                             : k_later);
                        if (part == 0) {
                            take_q();
                            copy_both();
                        }
                        if (!idle)
                            multiply_qk(s, q, q_smem, k_smem, part);
                    }
                } else {
                    if (persistent && q_home == flash::Q_SHARED && first)
                        await_copies(0);
                    else
                        await_copies(2 * (k_stages - 1));
                    take_q();
                    copy_v(); /* into the tile of the step before */
                    if (!idle)
                        multiply_qk(s, q, q_smem, k_smem);
                    await_copies(2 * (v_stages - 1));
                    copy_k(); /* into the tile just used */
                }
                if (idle)
                    continue;
                if (edge)
                    mask_scores(s, warp_row, column, all.seq, all.causal);
                softmax_slice(p, acc, s);
                multiply_pv(acc, p, v_smem);
            }
        }

        if (staged_output && !persistent && q_rows == 0)
            barrier(); /* no warp reads the rings any more */
        store_output(out + now.q_start, acc, out_smem, warp_row, all.seq);
        if (!persistent || next.steps == 0)
            break;
        now = next;
        at = after;
        if constexpr (q_home == flash::Q_SHARED) {
            syncwarp(); /* all lanes have read the output there */
            copy_q(now);
            if (cp_async)
                cp_async_commit();
        }
    }
}
