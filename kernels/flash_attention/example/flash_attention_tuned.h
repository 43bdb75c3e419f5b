/* clang-format off */
/* A tuned configuration, written by fa-coord export.
 *
 *   sweep          flash_attention
 *   configuration  BLOCK_M=128 BLOCK_N=128 BLOCK_K=64 NUM_WARPS=4 STAGES=2 UNROLL=1 CP_ASYNC=1 SWIZZLE=1 HALF2=1
 *   state          the baseline, because nothing was shown to beat it
 *   best at        s512
 *   median         55.616 us for s512 (B=32 H=8 HKV=8 S=512 D=64 CAUSAL=0 LOGITS=1), spread 0.237 us, 5 samples, 1.000 x baseline
 *                  43.424 us for s512_causal (B=32 H=8 HKV=8 S=512 D=64 CAUSAL=1 LOGITS=1), spread 0.237 us, 5 samples, 1.000 x baseline
 *   interval       55.298 to 55.648 us
 *   gpu            NVIDIA H200
 *   driver         580.159.04
 *   toolkit        nvcc 13.0.88
 *   measured       2026-11-29T20:42:56.191Z
 *   database       flash_attention.db
 *   kernel sources dc2e40e1f76818e500f0d112a9c57179
 *   artifact       07e14f211771a1cc9799800299b6da88
 *   build          flash_attention.cu -std=c++17 -arch=sm_90 -O3
 *   arguments      fp16 *Q [B, H, S, D]
 *                  fp16 *K [B, HKV, S, D]
 *                  fp16 *V [B, HKV, S, D]
 *                  fp16 *out [B, H, S, D], output
 *                  int32 seq = S
 *                  int32 causal = CAUSAL
 *                  int32 heads = B * H
 *                  int32 group = H / HKV
 *                  int32 head_dim = D
 */
#ifndef FLASH_ATTENTION_TUNED_H
#define FLASH_ATTENTION_TUNED_H

/* tunables */
#define FLASH_ATTENTION_BLOCK_M 128
#define FLASH_ATTENTION_BLOCK_N 128
#define FLASH_ATTENTION_BLOCK_K 64
#define FLASH_ATTENTION_NUM_WARPS 4
#define FLASH_ATTENTION_STAGES 2
#define FLASH_ATTENTION_UNROLL 1
#define FLASH_ATTENTION_CP_ASYNC 1
#define FLASH_ATTENTION_SWIZZLE 1
#define FLASH_ATTENTION_HALF2 1

/* derived values */
#define FLASH_ATTENTION_HEAD_DIM 64
#define FLASH_ATTENTION_WARP_ROWS 32
#define FLASH_ATTENTION_THREADS 128
#define FLASH_ATTENTION_K_STAGES 2
#define FLASH_ATTENTION_V_STAGES 2
#define FLASH_ATTENTION_LAYOUT 1
#define FLASH_ATTENTION_COPY_BYTES 16
#define FLASH_ATTENTION_SLICE_N 16
#define FLASH_ATTENTION_PIPELINE 3
#define FLASH_ATTENTION_SLICE_UNROLL 16
#define FLASH_ATTENTION_LOOKAHEAD 3
#define FLASH_ATTENTION_RESCALE 3
#define FLASH_ATTENTION_EXPONENTIAL 0
#define FLASH_ATTENTION_SUM_BY_MMA 0
#define FLASH_ATTENTION_Q_HOME 3
#define FLASH_ATTENTION_BLOCK_ORDER 2
#define FLASH_ATTENTION_PERSISTENT 1
#define FLASH_ATTENTION_STAGED_OUTPUT 1
#define FLASH_ATTENTION_STREAMING 0
#define FLASH_ATTENTION_MIN_BLOCKS 2
#define FLASH_ATTENTION_ROW_BYTES 128
#define FLASH_ATTENTION_SMEM_BYTES 98304

/* the kernel, and what it was compiled for */
#define FLASH_ATTENTION_KERNEL_ENTRY "flash_attention"
#define FLASH_ATTENTION_KERNEL_STANDARD "c++17"
#define FLASH_ATTENTION_KERNEL_ARCH "sm_90"

/* Of the GPU it was tuned on; before this header, define those of yours. */
#ifndef FLASH_ATTENTION_SM_COUNT
#define FLASH_ATTENTION_SM_COUNT 132
#endif

/* The launch for a shape; each is a long long, and constant where the shape is.
 *   GRID_X   CASE WHEN PERSISTENT THEN MIN(sm_count * MIN_BLOCKS, B * H * ((S + BLOCK_M - 1) / BLOCK_M)) WHEN CAUSAL THEN B * H ELSE (S + BLOCK_M - 1) / BLOCK_M END
 *   GRID_Y   CASE WHEN PERSISTENT THEN 1 WHEN CAUSAL THEN (S + BLOCK_M - 1) / BLOCK_M ELSE B * H END
 *   GRID_Z   1
 *   BLOCK_X  THREADS
 *   BLOCK_Y  1
 *   BLOCK_Z  1
 *   SMEM     SMEM_BYTES
 */
#define FLASH_ATTENTION_LAUNCH_GRID_X(B, H, HKV, S, D, CAUSAL, LOGITS) ((FLASH_ATTENTION_PERSISTENT != 0) ? (((long long)FLASH_ATTENTION_SM_COUNT * FLASH_ATTENTION_MIN_BLOCKS < (long long)(B) * (long long)(H) * (((long long)(S) + FLASH_ATTENTION_BLOCK_M - 1) / FLASH_ATTENTION_BLOCK_M)) ? (long long)FLASH_ATTENTION_SM_COUNT * FLASH_ATTENTION_MIN_BLOCKS : (long long)(B) * (long long)(H) * (((long long)(S) + FLASH_ATTENTION_BLOCK_M - 1) / FLASH_ATTENTION_BLOCK_M)) : (((long long)(CAUSAL) != 0) ? (long long)(B) * (long long)(H) : ((long long)(S) + FLASH_ATTENTION_BLOCK_M - 1) / FLASH_ATTENTION_BLOCK_M))
#define FLASH_ATTENTION_LAUNCH_GRID_Y(B, H, HKV, S, D, CAUSAL, LOGITS) ((FLASH_ATTENTION_PERSISTENT != 0) ? 1 : (((long long)(CAUSAL) != 0) ? ((long long)(S) + FLASH_ATTENTION_BLOCK_M - 1) / FLASH_ATTENTION_BLOCK_M : (long long)(B) * (long long)(H)))
#define FLASH_ATTENTION_LAUNCH_GRID_Z(B, H, HKV, S, D, CAUSAL, LOGITS) 1LL
#define FLASH_ATTENTION_LAUNCH_BLOCK_X(B, H, HKV, S, D, CAUSAL, LOGITS) ((long long)FLASH_ATTENTION_THREADS)
#define FLASH_ATTENTION_LAUNCH_BLOCK_Y(B, H, HKV, S, D, CAUSAL, LOGITS) 1LL
#define FLASH_ATTENTION_LAUNCH_BLOCK_Z(B, H, HKV, S, D, CAUSAL, LOGITS) 1LL
#define FLASH_ATTENTION_LAUNCH_SMEM(B, H, HKV, S, D, CAUSAL, LOGITS) ((long long)FLASH_ATTENTION_SMEM_BYTES)

#endif

/* What the source of the kernel reads: nvcc -DFA_EXPORT_KERNEL -include THIS ... */
#if defined(FA_EXPORT_KERNEL) && !defined(FLASH_ATTENTION_KERNEL_MACROS)
#define FLASH_ATTENTION_KERNEL_MACROS
#define BLOCK_M 128
#define BLOCK_N 128
#define BLOCK_K 64
#define NUM_WARPS 4
#define STAGES 2
#define UNROLL 1
#define CP_ASYNC 1
#define SWIZZLE 1
#define HALF2 1
#define HEAD_DIM 64
#define WARP_ROWS 32
#define THREADS 128
#define K_STAGES 2
#define V_STAGES 2
#define LAYOUT 1
#define COPY_BYTES 16
#define SLICE_N 16
#define PIPELINE 3
#define SLICE_UNROLL 16
#define LOOKAHEAD 3
#define RESCALE 3
#define EXPONENTIAL 0
#define SUM_BY_MMA 0
#define Q_HOME 3
#define BLOCK_ORDER 2
#define PERSISTENT 1
#define STAGED_OUTPUT 1
#define STREAMING 0
#define MIN_BLOCKS 2
#define ROW_BYTES 128
#define SMEM_BYTES 98304
#endif
