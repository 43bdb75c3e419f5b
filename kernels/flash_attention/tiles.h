/* tiles.h - tiles of Q, K and V in shared memory, and the copies that fill them
 *
 * A tile consists of rows of head_dim elements; each row has row_bytes.
 */
#ifndef FLASH_ATTENTION_TILES_H
#define FLASH_ATTENTION_TILES_H

#include "config.h"

/* The offset of a granule (16 bytes) of a tile.  An ldmatrix phase reads one granule of 8
 * consecutive rows.  In plain 128-byte rows, all of them are in the same four banks.  In swizzled
 * or padded rows, they are in different banks. */
__device__ __forceinline__ u32 tile_offset(u32 row, u32 granule)
{
    if (layout == flash::LAYOUT_XOR)
        granule ^= head_dim == 32 ? row / 2 % 4 : row % 8;
    return row * row_bytes + 16 * granule;
}

/* One copy of copy_bytes, which are zeros if 'inside' is false */
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

/* How 'lanes' threads copy rows of 'columns' elements.  Each thread copies the same piece of all
 * its rows. */
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

    /* tile_smem [rows, head_dim] = rows of [.., head_dim], in the columns first_column.. .  'valid'
     * rows exist, or all of them if 'whole'.  'from' is this thread's first element.  Few tiles are
     * not whole, so those use a loop. */
    template <int rows, bool whole>
    __device__ __forceinline__ void copy_rows(smem_addr tile_smem, const half *from, u32 valid,
                                              u32 first_column = 0) const
    {
        constexpr int passes = (rows + rows_a_pass - 1) / rows_a_pass;
        constexpr int repeat = whole ? passes : 1;
        const u32 at = first_column + column;

#pragma unroll repeat
        for (int i = 0; i < passes; i++) {
            const u32 to = row + i * rows_a_pass;

            if (rows % rows_a_pass == 0 || to < rows)
                copy(tile_smem + tile_offset(to, at / 8) + at % 8 * 2,
                     from + i * rows_a_pass * head_dim, whole || to < valid);
        }
    }
};

/* Wait until at most n groups of copies are in flight; n must fold to a constant, and is at most
 * 15. */
template <int N = 0>
__device__ __forceinline__ void wait_copies(int n)
{
    if (n <= N || N == 15)
        cp_async_wait<N>();
    else if constexpr (N < 15)
        wait_copies<N + 1>(n);
}

/* A group of this thread's copies since the last group */
__device__ __forceinline__ void commit_copies()
{
    if (cp_async)
        cp_async_commit();
}

/* Empty groups.  They are complete at once, and keep the counts of later waits right. */
__device__ __forceinline__ void commit_none(int groups)
{
    for (int i = 0; i < groups; i++)
        commit_copies();
}

/* Wait for all but the latest 'groups' of this thread's copies.  After it, the thread sees the
 * other threads' copies, too. */
__device__ __forceinline__ void await_copies(int groups)
{
    if (cp_async)
        wait_copies(groups);
    barrier();
}

#endif
