/* limits.h - the legal configurations of flash_attention.cu
 *
 * Each rule is a function with the name of the gate of sweep.json and wide.json that rejects the
 * same configurations.  The kernel asserts the rules, so an illegal one never compiles.  A test
 * compares the rules with the gates on every point.  This file uses integers only and includes no
 * header, so that nvcc and a host compiler can read it.
 */
#ifndef FLASH_ATTENTION_LIMITS_H
#define FLASH_ATTENTION_LIMITS_H

namespace flash
{

enum layout {
    LAYOUT_PLAIN,
    LAYOUT_XOR,
    LAYOUT_PADDED
};
enum q_home {
    Q_SHARED,
    Q_REGISTERS,
    Q_THROUGH_RING,
    Q_AHEAD
};
enum pipeline {
    PIPELINE_SERIAL,
    PIPELINE_SCORES_AHEAD,
    PIPELINE_THREE_DEEP,
    PIPELINE_IN_TURNS
};

struct config {
    int block_m, block_n; /* query rows a block, rows of K and V a step */
    int num_warps;
    int k_stages, v_stages; /* tiles of K and of V that shared memory holds */
    int block_k;            /* columns of K in a copy group and in a part of Q K^T */
    int slice_n;            /* columns of scores that are live at once */
    int pipeline;
    int layout, copy_bytes;
    int q_home;
    int staged_output;
    int persistent, min_blocks;
    int head_dim;
    int smem_bytes; /* what the launch provides */
};

constexpr int threads(const config &c)
{
    return 32 * c.num_warps;
}

constexpr int row_bytes(const config &c) /* of a tile in shared memory */
{
    return 2 * c.head_dim + (c.layout == LAYOUT_PADDED ? 16 : 0);
}

/* Rows of shared memory that hold Q while it is read. */
constexpr int q_rows(const config &c)
{
    return c.q_home == Q_SHARED || c.q_home == Q_AHEAD ? c.block_m : 0;
}

/* Rows that the output needs in addition to those of Q and of the rings.  The rings of a persistent
 * block already hold the next item, and the rows of Q_AHEAD hold the next Q. */
constexpr int output_rows(const config &c)
{
    return c.staged_output && c.persistent && c.q_home != Q_SHARED ? c.block_m : 0;
}

constexpr int least_smem_bytes(const config &c)
{
    const int rows = q_rows(c) + c.block_n * (c.k_stages + c.v_stages) + output_rows(c);

    return row_bytes(c) * (rows > c.block_m ? rows : c.block_m);
}

/* no device launches a larger block */
constexpr bool threads_fit(const config &c)
{
    return threads(c) <= 1024;
}

/* a warp owns whole 16-row mma tiles */
constexpr bool warp_tile_fits(const config &c)
{
    return c.block_m % (16 * c.num_warps) == 0 && c.block_n % 16 == 0;
}

/* rows begin at multiples of 16 bytes, and blocks and warps copy whole rows at once */
constexpr bool alignment_fits(const config &c)
{
    return (c.copy_bytes == 4 || c.copy_bytes == 16) && row_bytes(c) % 16 == 0 &&
           c.head_dim % 32 == 0 && threads(c) % (2 * c.head_dim / c.copy_bytes) == 0 &&
           2 * c.head_dim / c.copy_bytes <= 32;
}

/* parts of a row of K are whole mma depth steps, and fit into the row */
constexpr bool block_k_fits(const config &c)
{
    return c.block_k % 16 == 0 && c.block_k <= c.head_dim && c.head_dim % c.block_k == 0;
}

constexpr bool slice_fits(const config &c)
{
    return c.slice_n % 16 == 0 && c.block_n % c.slice_n == 0;
}

/* slices of one step overlap, in pairs */
constexpr bool pipeline_fits(const config &c)
{
    return c.pipeline == PIPELINE_SERIAL || c.block_n % (2 * c.slice_n) == 0;
}

/* A ring of one tile is refilled while all of the step's scores wait in registers; otherwise both
 * rings are refilled after the step. */
constexpr bool stages_fit(const config &c)
{
    const bool single = c.k_stages == 1 || c.v_stages == 1;

    return c.k_stages >= 1 && c.v_stages >= 1 && (!single || c.block_k == c.head_dim) &&
           (!single || c.slice_n == c.block_n || (c.k_stages == 1 && c.v_stages == 1));
}

/* a persistent grid is as large as the number of resident blocks, and its rings are never empty */
constexpr bool grid_fits(const config &c)
{
    return c.persistent == 0 || (c.min_blocks >= 1 && c.q_home != Q_THROUGH_RING);
}

constexpr bool smem_fits(const config &c)
{
    return c.smem_bytes >= least_smem_bytes(c);
}

} // namespace flash

#endif
