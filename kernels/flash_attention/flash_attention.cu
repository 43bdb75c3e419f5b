/* flash_attention.cu - out = softmax(Q K^T / sqrt(head_dim)) V, forward
 *
 * Inputs and output are fp16, sums are fp32.  seq is any number >= 1.  'causal' is chosen at run
 * time.  'group' heads of Q share one head of K and V.
 *
 * A block owns BLOCK_M query rows of one head.  A warp owns whole 16-row mma tiles of them and
 * keeps their output in registers.  K and V pass through rings of BLOCK_N-row tiles in shared
 * memory.  A step takes one tile of each, in slices of SLICE_N columns.
 *
 * Rows past seq are loaded as zeros, masked, and not stored.  They must be zeros, because 0 times
 * the bytes behind V could be NaN.
 */
#include "steps.h"

/* Store o / sum as the rows of out [seq, head_dim] from 'first' on.  With STAGED_OUTPUT, the warp
 * goes through warp_smem [warp_rows, head_dim] and stores whole rows. */
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
    syncwarp(); /* lanes exchange rows, warps do not */

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

/* A block's shared memory, and its pending copies */
struct block {
    const problem &all;
    u32 warp_first;             /* row of the block */
    smem_addr q_smem, out_smem; /* the warp's rows */
    smem_addr k_ring, v_ring;
    supply k_supply, v_supply;
    u32 k_slot, v_slot; /* of the current step */

    __device__ __forceinline__ explicit block(const problem &launch)
        : all(launch), warp_first(warp_id() * warp_rows)
    {
        constexpr int q_bytes = q_rows * row_bytes;
        constexpr int rings_bytes = (k_stages + v_stages) * tile_bytes;

        q_smem = smem_base() + warp_first * row_bytes;
        k_ring = smem_base() + q_bytes;
        v_ring = k_ring + k_stages * tile_bytes;
        out_smem = output_rows > 0 ? q_smem + (q_bytes + rings_bytes) : q_smem;
        k_supply = v_supply = {};
        k_slot = v_slot = 0;
    }

    /* A warp copies its own rows of Q, so no other warp waits for them. */
    __device__ __forceinline__ void copy_q(const item &of) const
    {
        const u32 row = of.first_row + warp_first;
        const copy_share<head_dim, 32> share(lane_id());
        const half *from = all.q + (of.q_start + (row * head_dim + share.offset()));

        if (persistent && of.steps == 0)
            return;
        if (row + warp_rows <= all.seq)
            share.template copy_rows<warp_rows, true>(q_smem, from, warp_rows);
        else
            share.template copy_rows<warp_rows, false>(q_smem, from,
                                                       row < all.seq ? all.seq - row : 0);
    }

    __device__ __forceinline__ void read_q(query &q) const
    {
#pragma unroll
        for (int m = 0; m < m_tiles; m++)
#pragma unroll
            for (int d = 0; d < d_steps; d++)
                read_query(q[m][d], q_smem, m, d);
    }

    /* Q of the first item belongs to the copy group of K's first tile. */
    __device__ __forceinline__ void start_q(query &q, const item &first) const
    {
        if constexpr (q_home != flash::Q_REGISTERS)
            copy_q(first);
        if constexpr (q_home == flash::Q_THROUGH_RING) {
            commit_copies();
            await_copies(0);
            read_q(q);
            barrier(); /* the rings overwrite Q */
        }
    }

    /* With Q_AHEAD: after an item's first copies, wait for its Q, then start to copy the next
     * item's. */
    __device__ __forceinline__ void take_q(query &q, const item &next) const
    {
        if (q_home == flash::Q_AHEAD) {
            read_q(q);
            syncwarp(); /* all lanes have read Q */
            if (persistent)
                copy_q(next);
        }
    }

    __device__ __forceinline__ void copy_k()
    {
        k_supply.copy<true, false>(all, k_ring, v_ring);
        k_supply.go_on(all, k_stages);
    }

    __device__ __forceinline__ void copy_v()
    {
        v_supply.copy<false, true>(all, k_ring, v_ring);
        v_supply.go_on(all, v_stages);
    }

    __device__ __forceinline__ void copy_both()
    {
        if constexpr (together) {
            k_supply.copy<true, true>(all, k_ring, v_ring);
            k_supply.go_on(all, k_stages);
        } else {
            copy_k();
            copy_v();
        }
    }

    /* Start the copies that steps before step 0 would have started.  Where there is nothing to
     * copy, commit as many empty groups, because later waits count groups. */
    __device__ __forceinline__ void start_copies(const cursor &first)
    {
        constexpr int ahead = k_ahead > v_ahead ? k_ahead : v_ahead;

        k_supply.go_to(all, first);
        v_supply.go_to(all, first);
#pragma unroll 1
        for (int i = -ahead; i < 0; i++) {
            if constexpr (together) {
                copy_both();
                continue;
            }
            if (refill_apart)
                start_v(i + v_ahead >= 0);
            if (i + k_ahead >= 0)
                copy_k();
            else
                commit_none(parts);
            if (!refill_apart)
                start_v(i + v_ahead >= 0);
        }
    }

    __device__ __forceinline__ void start_v(bool begun)
    {
        if (begun)
            copy_v();
        else
            commit_none(1);
    }

    /* The tiles of the current step */
    __device__ __forceinline__ step_tiles tiles() const
    {
        return { q_smem, k_ring + k_slot * tile_bytes, v_ring + v_slot * tile_bytes };
    }

    __device__ __forceinline__ void next_tiles()
    {
        k_slot = k_slot == k_stages - 1 ? 0 : k_slot + 1;
        v_slot = k_stages == v_stages ? k_slot : v_slot == v_stages - 1 ? 0 : v_slot + 1;
    }

    /* Wait for part 'part' of a step's K, and with the last part for its V. */
    __device__ __forceinline__ void await_part(int part) const
    {
        constexpr int groups = parts + 1; /* a step */
        const int k_later = parts - part + groups * (k_ahead - 1), v_later = groups * (v_ahead - 1);

        if (refill_ahead)
            await_copies(part == parts - 1 && v_later < k_later ? v_later : k_later);
        else
            await_copies(0);
    }

    /* Wait for all of an item's first step.  A later item's Q may be among the latest copies. */
    __device__ __forceinline__ void await_first() const
    {
        if (persistent && q_rows > 0)
            await_copies(0);
        else
            await_part(waits - 1);
    }

    /* Refill as early in a step as possible: copy into the tiles that all warps have finished. */
    __device__ __forceinline__ void refill()
    {
        if (refill_ahead)
            copy_both();
    }

    /* Begin a step that does not wait for the parts of K one by one. */
    __device__ __forceinline__ void begin_step(bool first)
    {
#pragma unroll
        for (int part = 1; part < waits; part++)
            if (!first)
                await_part(part);
        refill();
    }

    /* Rings of a single tile are refilled after the step. */
    __device__ __forceinline__ void end_step()
    {
        if (refill_ahead)
            return;
        barrier(); /* all are past the tiles */
        copy_both();
    }

    /* Go to an item's next step.  'left' counts that step and those after it. */
    __device__ __forceinline__ void next_step(u32 &left)
    {
        end_step();
        next_tiles();
        if (--left > 0)
            await_part(0);
    }
};

/* A warp's state for the current item */
struct progress {
    query q;
    accumulator acc;
};

/* A step without a mask.  If K comes in parts, the last of them with V, the first scores are
 * computed part by part.  Returns what work_step() returns. */
__device__ __forceinline__ int step_whole(block &b, progress &mine, bool first)
{
    constexpr int depth = d_steps / waits;
    const step_tiles at = b.tiles();

    return work_step(
        mine.acc, mine.q, at, first,
        [&](scores &s) {
            multiply_qk<depth>(s, mine.q, at.q_smem, at.k_smem);
#pragma unroll
            for (int part = 1; part < waits; part++) {
                if (!first)
                    b.await_part(part);
                multiply_qk<depth>(s, mine.q, at.q_smem, at.k_smem, part * depth);
            }
        },
        [&] {
            b.refill();
        });
}

/* A step with rings of a single tile, which are refilled in the middle of the step: all scores are
 * computed before the first weight. */
__device__ __forceinline__ void step_apart(block &b, progress &mine, const item &next,
                                           const view &seen, bool first)
{
    const step_tiles at = b.tiles();
    scores s;
    weights p;

    if (persistent && q_rows > 0 && first) /* as await_first() */
        await_copies(0);
    else
        await_copies(2 * (k_stages - 1));
    if (first)
        b.take_q(mine.q, next);
    b.copy_v(); /* into the tile of the previous step */
    if (seen.end > 0)
        multiply_qk(s, mine.q, at.q_smem, at.k_smem);
    await_copies(2 * (v_stages - 1));
    b.copy_k(); /* into the tile that was just used */
    if (seen.end == 0)
        return;
    if (seen.end < block_n || (seen.causal && seen.sees < block_n))
        mask_scores(s, 0, 0, seen.end, seen.causal, seen.sees);
    softmax_slice(p, mine.acc, s);
    multiply_pv(mine.acc.o, p, at.v_smem);
}

__device__ __forceinline__ void work_steps_apart(block &b, progress &mine, const item &now,
                                                 const item &next)
{
    clear(mine.acc);
#pragma unroll unroll
    for (u32 i = 0; i < now.steps; i++) {
        step_apart(b, mine, next, view_of(b.all, now.first_row + b.warp_first, i * block_n),
                   i == 0);
        b.next_tiles();
    }
}

/* All steps of an item.  The one at the diagonal comes first if diagonal_first.  Then come the
 * steps without a mask, and at last those at an edge or with weights that outgrew their bases.
 * Each kind has its own code, because one loop with branches is slower. */
__device__ __forceinline__ void work_steps(block &b, progress &mine, const item &now,
                                           const item &next)
{
    const problem &all = b.all;
    const u32 warp_row = now.first_row + b.warp_first;
    const u32 whole = (all.causal ? warp_row + 1 : all.seq) / block_n; /* tiles before an edge */
    const u32 edges = all.descending() || whole >= now.steps ? 0 : now.steps - whole;
    u32 left = now.steps;
    int from = 0, end = 0; /* of a step in progress, the columns that are left */
    const auto column = [&] {
        return all.column(left, now.steps);
    };

    b.await_first();
    b.take_q(mine.q, next);
    if (all.descending()) {
        for (; left > 0 && column() >= warp_row + warp_rows; b.next_step(left))
            b.begin_step(left == now.steps); /* other warps' steps */
    }
    if (all.descending() && left > 0 && column() + block_n > warp_row + 1) {
        b.begin_step(left == now.steps);
        end = work_diagonal(mine.acc, mine.q, b.tiles(), int(warp_row - column()));
        if (end == 0)
            b.next_step(left);
    } else {
        clear(mine.acc);
    }
    if (end == 0 && !(optimistic && all.descending() && outgrow_bases(mine.acc))) {
        int done = slices;

#pragma unroll unroll
        while (left > edges) {
            done = step_whole(b, mine, left == now.steps);
            if (done < slices)
                break;
            b.next_step(left);
        }
        if (done < slices) {
            from = done * slice_n;
            end = block_n;
        }
    }
    for (; left > 0; b.next_step(left)) {
        view seen = view_of(all, warp_row, column());

        if (end > 0)
            seen.end = end;
        else
            b.begin_step(left == now.steps);
        work_exactly(mine.acc, mine.q, b.tiles(), from, seen);
        from = end = 0;
    }
}

/* Compute block_m query rows of one head. */
__device__ __forceinline__ void attend(block &b, progress &mine, const item &now, const item &next)
{
    const problem &all = b.all;
    const u32 warp_row = now.first_row + b.warp_first;

    if constexpr (q_home == flash::Q_REGISTERS)
        load_query(mine.q, all.q + now.q_start, warp_row, all.seq);

    if constexpr (refill_apart)
        work_steps_apart(b, mine, now, next);
    else
        work_steps(b, mine, now, next);
    if (staged_output && !persistent && q_rows == 0)
        barrier(); /* no warp reads the rings any more */
    if (staged_output && q_home == flash::Q_SHARED)
        syncwarp(); /* all lanes have read Q there */
    store_output(all.out + now.q_start, mine.acc, b.out_smem, warp_row, all.seq);
}

extern "C" __global__ void __launch_bounds__(threads, min_blocks)
    flash_attention(const half *__restrict__ Q, /* [batch, heads, seq, head_dim], contiguous */
                    const half *__restrict__ K, /* [batch, heads / group, seq, head_dim] */
                    const half *__restrict__ V, /* the same */
                    half *__restrict__ out,     /* as Q */
                    int seq, int causal, int heads /* in all batches */, int group,
                    int /* head_dim: only the reference needs it */)
{
    const problem all = make_problem(Q, K, V, out, u32(seq), causal != 0, u32(heads), u32(group));
    block b(all);
    progress mine;
    cursor at = first_cursor(all);
    item now = find_item(all, at);

    b.start_q(mine.q, now);
    b.start_copies(at);
    for (;;) {
        const cursor after = next_cursor(all, at);
        const item next = persistent ? find_item(all, after) : item{};

        attend(b, mine, now, next);
        if (!persistent || next.steps == 0)
            break;
        now = next;
        at = after;
        if constexpr (q_home == flash::Q_SHARED) {
            syncwarp(); /* all lanes have read the output there */
            b.copy_q(now);
            commit_copies();
        }
    }
}
