/* clang-format off */
/* A tuned configuration, written by fa-coord export.
 *
 *   sweep          flash_attention
 *   configuration  BLOCK_M=128 BLOCK_N=64 NUM_WARPS=4 STAGES=2 SWIZZLE=1
 *   state          measured, not confirmed
 *   median         67.200 us for s512 (B=32 H=8 S=512 D=64 CAUSAL=0), spread 0.427 us, 15 samples, 1.069 x baseline
 *                  50.592 us for s512_causal (B=32 H=8 S=512 D=64 CAUSAL=1), spread 0.569 us, 15 samples, 1.110 x baseline
 *   interval       none
 *   gpu            NVIDIA H200
 *   driver         580.159.04
 *   toolkit        nvcc 13.0.88
 *   measured       2026-11-21T11:41:09.029Z
 *   database       flash_attention.db
 *   kernel sources 4d8abbe013013b7682102175397f3249
 *   artifact       8a5cf050ae1d1935958ff59218cc76b3
 *   build          flash_attention.cu -std=c++17 -arch=sm_90 -O3
 *   arguments      fp16 *Q [B, H, S, D]
 *                  fp16 *K [B, H, S, D]
 *                  fp16 *V [B, H, S, D]
 *                  fp16 *out [B, H, S, D], output
 *                  int32 seq = S
 *                  int32 causal = CAUSAL
 */
#ifndef FLASH_ATTENTION_TUNED_H
#define FLASH_ATTENTION_TUNED_H

/* tunables */
#define FLASH_ATTENTION_BLOCK_M 128
#define FLASH_ATTENTION_BLOCK_N 64
#define FLASH_ATTENTION_NUM_WARPS 4
#define FLASH_ATTENTION_STAGES 2
#define FLASH_ATTENTION_SWIZZLE 1

/* derived values */
#define FLASH_ATTENTION_HEAD_DIM 64
#define FLASH_ATTENTION_ROW_BYTES 128
#define FLASH_ATTENTION_THREADS 128
#define FLASH_ATTENTION_SMEM_BYTES 32768

/* the kernel, and what it was compiled for */
#define FLASH_ATTENTION_KERNEL_ENTRY "flash_attention"
#define FLASH_ATTENTION_KERNEL_STANDARD "c++17"
#define FLASH_ATTENTION_KERNEL_ARCH "sm_90"

/* The launch for a shape; each is a long long, and constant where the shape is.
 *   GRID_X   (S + BLOCK_M - 1) / BLOCK_M * B * H
 *   GRID_Y   1
 *   GRID_Z   1
 *   BLOCK_X  THREADS
 *   BLOCK_Y  1
 *   BLOCK_Z  1
 *   SMEM     SMEM_BYTES
 */
#define FLASH_ATTENTION_LAUNCH_GRID_X(B, H, S, D, CAUSAL) (((long long)(S) + FLASH_ATTENTION_BLOCK_M - 1) / FLASH_ATTENTION_BLOCK_M * (long long)(B) * (long long)(H))
#define FLASH_ATTENTION_LAUNCH_GRID_Y(B, H, S, D, CAUSAL) 1LL
#define FLASH_ATTENTION_LAUNCH_GRID_Z(B, H, S, D, CAUSAL) 1LL
#define FLASH_ATTENTION_LAUNCH_BLOCK_X(B, H, S, D, CAUSAL) ((long long)FLASH_ATTENTION_THREADS)
#define FLASH_ATTENTION_LAUNCH_BLOCK_Y(B, H, S, D, CAUSAL) 1LL
#define FLASH_ATTENTION_LAUNCH_BLOCK_Z(B, H, S, D, CAUSAL) 1LL
#define FLASH_ATTENTION_LAUNCH_SMEM(B, H, S, D, CAUSAL) ((long long)FLASH_ATTENTION_SMEM_BYTES)

#endif

/* What the source of the kernel reads: nvcc -DFA_EXPORT_KERNEL -include THIS ... */
#if defined(FA_EXPORT_KERNEL) && !defined(FLASH_ATTENTION_KERNEL_MACROS)
#define FLASH_ATTENTION_KERNEL_MACROS
#define BLOCK_M 128
#define BLOCK_N 64
#define NUM_WARPS 4
#define STAGES 2
#define SWIZZLE 1
#define HEAD_DIM 64
#define ROW_BYTES 128
#define THREADS 128
#define SMEM_BYTES 32768
#endif
