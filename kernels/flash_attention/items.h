/* items.h - the query rows that a block works on, and their order
 */
#ifndef FLASH_ATTENTION_ITEMS_H
#define FLASH_ATTENTION_ITEMS_H

#include "tiles.h"

/* The launch's arguments, and the order in which its blocks visit the items: the tiles of query
 * rows of all heads */
struct problem {
    const half *q, *k, *v;
    half *out;
    u32 seq;
    bool causal;
    u32 group;                /* heads of Q that share a head of K and V */
    u32 tiles;                /* of block_m query rows, in each head */
    bool heads_first;         /* neighbours are all heads' tiles of one place; or the
                               * tiles of a head, which share its K and V in the L2 cache */
    u32 fast, slow;           /* there are fast * slow items */
    u32 fast_step, slow_step; /* from an item of a persistent block to its next one */

    /* Are an item's tiles processed from its last to its first? */
    __device__ __forceinline__ bool descending() const
    {
        return diagonal_first && causal;
    }

    /* The first row of the current tile, if 'left' of 'steps' tiles are left. */
    __device__ __forceinline__ u32 column(u32 left, u32 steps) const
    {
        return (descending() ? left - 1 : steps - left) * block_n;
    }

    /* The distance to the next tile, to be added; it may wrap around. */
    __device__ __forceinline__ u32 next_column() const
    {
        return descending() ? 0u - block_n : block_n;
    }
};

__device__ __forceinline__ problem make_problem(const half *q, const half *k, const half *v,
                                                half *out, u32 seq, bool causal, u32 heads,
                                                u32 group)
{
    problem all = {};

    all.q = q, all.k = k, all.v = v, all.out = out;
    all.seq = seq, all.causal = causal, all.group = group;
    all.tiles = (seq + block_m - 1) / block_m;
    all.heads_first =
        block_order == ORDER_HEADS_FIRST || (block_order == ORDER_HEADS_FIRST_IF_CAUSAL && causal);
    all.fast = all.heads_first ? heads : all.tiles;
    all.slow = all.heads_first ? all.tiles : heads;
    if (persistent)
        all.fast_step = gridDim.x % all.fast, all.slow_step = gridDim.x / all.fast;
    return all;
}

/* A place in the order of items */
struct cursor {
    u32 fast, slow;
};

/* The grid has two dimensions with one block for each item, and one dimension if blocks are
 * persistent. */
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

/* One head's tile of query rows, and the part of K and V that it sees */
struct item {
    size_t q_start, kv_start; /* elements before the head */
    u32 first_row;
    u32 steps; /* tiles of K; 0: past the last item */
};

/* Causal items differ in length.  The longest ones run first. */
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

/* The position of the copies to the rings, which take the tiles of one item after the other.  If K
 * and V are copied together, one supply serves both. */
struct supply {
    cursor at;    /* the item */
    size_t start; /* elements before its head of K and V, and to this thread's piece */
    u32 row;      /* of the head: the first row of the next tile to copy */
    u32 steps;    /* of the item: tiles from there on */
    u32 slot;     /* of the ring: the next one to fill */

    __device__ __forceinline__ void go_to(const problem &all, cursor to)
    {
        const item next = find_item(all, to);

        at = to;
        start = next.kv_start;
        row = all.column(next.steps, next.steps);
        steps = next.steps;
    }

    __device__ __forceinline__ void go_on(const problem &all, u32 stages)
    {
        slot = slot == stages - 1 ? 0 : slot + 1;
        row += all.next_column();
        if (steps > 0 && --steps == 0 && persistent)
            go_to(all, next_cursor(all, at));
    }

    /* Copy the tile, with a group for each of its parts. */
    template <int copy_parts, bool whole>
    __device__ __forceinline__ void copy_tile(const problem &all, const half *rows,
                                              smem_addr ring) const
    {
        constexpr int columns = head_dim / copy_parts;
        const copy_share<columns, threads> share(threadIdx.x);

#pragma unroll
        for (int part = 0; part < copy_parts; part++) {
            share.template copy_rows<block_n, whole>(
                ring + slot * tile_bytes,
                rows + (start + (row * head_dim + share.offset() + part * columns)), all.seq - row,
                part * columns);
            commit_copies();
        }
    }

    /* Copy the next tiles of K, of V or of both, into the rings that are given.  Past the last
     * tile, the groups are empty, so that the counts of the waits hold. */
    template <bool of_k, bool of_v>
    __device__ __forceinline__ void copy(const problem &all, smem_addr k_ring,
                                         smem_addr v_ring) const
    {
        if (steps == 0) {
            commit_none((of_k ? parts : 0) + of_v);
        } else if (row + block_n <= all.seq) {
            if (of_k)
                copy_tile<parts, true>(all, all.k, k_ring);
            if (of_v)
                copy_tile<1, true>(all, all.v, v_ring);
        } else {
            if (of_k)
                copy_tile<parts, false>(all, all.k, k_ring);
            if (of_v)
                copy_tile<1, false>(all, all.v, v_ring);
        }
    }
};

#endif
