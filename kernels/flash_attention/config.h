/* config.h - one configuration of flash_attention.cu, from its macros
 *
 * README.md says what the tunables mean.  Illegal configurations are refused here, by the name of
 * the gate that rejects them.
 */
#ifndef FLASH_ATTENTION_CONFIG_H
#define FLASH_ATTENTION_CONFIG_H

#include <fa/fa.h>

#include "limits.h"

using namespace fa;

enum rescale {
    RESCALE_ALWAYS,     /* the base is the maximum so far, at each slice */
    RESCALE_VOTE,       /* the same; sums are rescaled only if a maximum has grown */
    RESCALE_LAZY,       /* the base stays if it is less than lazy_bits below the maximum */
    RESCALE_OPTIMISTIC, /* no maximum is computed until a weight nears the limit of fp16 */
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

constexpr int block_m = BLOCK_M;
constexpr int block_n = BLOCK_N;
constexpr int num_warps = NUM_WARPS;
constexpr int k_stages = K_STAGES;
constexpr int v_stages = V_STAGES;
constexpr int block_k = BLOCK_K;
constexpr int slice_n = SLICE_N;
constexpr int pipeline = PIPELINE;   /* flash::pipeline */
constexpr int lookahead = LOOKAHEAD; /* ldmatrix in flight before the first is used */
constexpr int rescale = RESCALE;     /* enum rescale */
constexpr int exponential = EXPONENTIAL;
constexpr bool sum_by_mma = SUM_BY_MMA; /* tensor cores sum the rounded weights */
constexpr int layout = LAYOUT;          /* flash::layout */
constexpr int copy_bytes = COPY_BYTES;  /* of one copy to shared memory */
constexpr bool cp_async = CP_ASYNC;     /* otherwise copies go through registers */
constexpr int q_home = Q_HOME;          /* flash::q_home */
constexpr int block_order = BLOCK_ORDER;
constexpr bool persistent = PERSISTENT;
constexpr bool staged_output = STAGED_OUTPUT; /* through shared memory, whole rows */
constexpr bool streaming = STREAMING;         /* the caches evict Q and out first */
constexpr int unroll = UNROLL;                /* steps of the loop at run time */
constexpr int slice_unroll = SLICE_UNROLL;    /* slices of a step, in pairs where they overlap */
constexpr int pair_unroll = slice_unroll > 2 ? slice_unroll / 2 : 1;
constexpr int min_blocks = MIN_BLOCKS; /* blocks of an SM; 0: the compiler's choice */
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

constexpr int threads = flash::threads(config);
constexpr int warp_rows = block_m / num_warps;
constexpr int m_tiles = warp_rows / 16;   /* mma tiles of query rows a warp */
constexpr int slices = block_n / slice_n; /* a step */
constexpr int d_tiles = head_dim / 8;     /* mma tiles of output columns */
constexpr int d_steps = head_dim / 16;    /* mma depth steps of Q K^T */
constexpr int parts = head_dim / block_k; /* copy groups of a tile of K */
constexpr int part_steps = block_k / 16;  /* mma depth steps of a part */
constexpr int row_bytes = flash::row_bytes(config);
constexpr int row_granules = head_dim / 8; /* 16 bytes each */
constexpr int q_rows = flash::q_rows(config), output_rows = flash::output_rows(config);
constexpr int tile_bytes = block_n * row_bytes;
constexpr int slice_bytes = slice_n * row_bytes;

/* How the rings are refilled.  Ahead: each ring holds a later tile, and a step has one barrier.
 * Apart: each ring as soon as its tile is used, with a barrier for each.  Otherwise: both rings
 * after the step. */
constexpr bool refill_ahead = k_stages >= 2 && v_stages >= 2;
constexpr bool refill_apart = !refill_ahead && slices == 1;
constexpr bool together = k_stages == v_stages && !refill_apart; /* in copies of K and V */
constexpr int k_ahead = refill_ahead ? k_stages - 1 : k_stages;  /* tiles ahead of the step's */
constexpr int waits = refill_ahead ? parts : 1;                  /* of a step, for its copies */
constexpr int v_ahead = refill_ahead || refill_apart ? v_stages - 1 : v_stages;

/* Causal items begin at the diagonal and go down, if a tile can hold the warp's part of the
 * diagonal and the registers can hold its scores.  All others go up, and end at their edges. */
constexpr bool diagonal_first = block_n % warp_rows == 0 && m_tiles <= 2 && !refill_apart;

#endif
