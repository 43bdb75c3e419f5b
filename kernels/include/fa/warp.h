/* warp.h - barriers, shuffles and votes
 *
 * All are collective: every thread of the block (barrier) or all 32 lanes of
 * the warp (the others) must arrive at the same call.  Only barrier() and
 * syncwarp() order shared memory.
 */
#ifndef FA_WARP_H
#define FA_WARP_H

#include "fa/types.h"

namespace fa
{

constexpr u32 WARP_ALL = 0xffffffffu;

/* Position in the warp, 0..31, for blocks of one dimension. */
__device__ __forceinline__ u32 lane_id()
{
    return threadIdx.x % 32;
}

__device__ __forceinline__ u32 warp_id()
{
    return threadIdx.x / 32;
}

/* bar.sync 0: all threads of the block */
__device__ __forceinline__ void barrier(FA_AT)
{
#ifdef FA_EMULATION
    fa_emu_barrier(at);
#else
    __syncthreads();
#endif
}

__device__ __forceinline__ void syncwarp(FA_AT)
{
#ifdef FA_EMULATION
    fa_emu_collective(FA_EMU_SYNCWARP, nullptr, at);
#else
    __syncwarp();
#endif
}

/* shfl.sync.bfly: the value of lane (own ^ mask), mask in 0..31 */
__device__ __forceinline__ u32 shfl_xor(u32 v, u32 mask FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return fa_emu_shuffle(FA_EMU_SHFL_XOR, v, mask, at);
#else
    return __shfl_xor_sync(WARP_ALL, v, int(mask));
#endif
}

__device__ __forceinline__ float shfl_xor(float v, u32 mask FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return __uint_as_float(fa_emu_shuffle(FA_EMU_SHFL_XOR, __float_as_uint(v), mask, at));
#else
    return __shfl_xor_sync(WARP_ALL, v, int(mask));
#endif
}

/* shfl.sync.down: the value of lane (own + delta), its own beyond lane 31 */
__device__ __forceinline__ u32 shfl_down(u32 v, u32 delta FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return fa_emu_shuffle(FA_EMU_SHFL_DOWN, v, delta, at);
#else
    return __shfl_down_sync(WARP_ALL, v, delta);
#endif
}

__device__ __forceinline__ float shfl_down(float v, u32 delta FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return __uint_as_float(fa_emu_shuffle(FA_EMU_SHFL_DOWN, __float_as_uint(v), delta, at));
#else
    return __shfl_down_sync(WARP_ALL, v, delta);
#endif
}

/* shfl.sync.idx: the value of lane 'lane' % 32 */
__device__ __forceinline__ u32 shfl_idx(u32 v, u32 lane FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return fa_emu_shuffle(FA_EMU_SHFL_IDX, v, lane, at);
#else
    return __shfl_sync(WARP_ALL, v, int(lane));
#endif
}

__device__ __forceinline__ float shfl_idx(float v, u32 lane FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return __uint_as_float(fa_emu_shuffle(FA_EMU_SHFL_IDX, __float_as_uint(v), lane, at));
#else
    return __shfl_sync(WARP_ALL, v, int(lane));
#endif
}

/* vote.sync: over the warp, the same answer in every lane */
__device__ __forceinline__ u32 vote_ballot(bool p FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return fa_emu_shuffle(FA_EMU_BALLOT, p, 0, at);
#else
    return __ballot_sync(WARP_ALL, p);
#endif
}

__device__ __forceinline__ bool vote_any(bool p FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return fa_emu_shuffle(FA_EMU_BALLOT, p, 0, at) != 0;
#else
    return __any_sync(WARP_ALL, p);
#endif
}

__device__ __forceinline__ bool vote_all(bool p FA_ALSO_AT)
{
#ifdef FA_EMULATION
    return fa_emu_shuffle(FA_EMU_BALLOT, !p, 0, at) == 0;
#else
    return __all_sync(WARP_ALL, p);
#endif
}

/* End the launch with an error. */
__device__ __forceinline__ void trap(FA_AT)
{
#ifdef FA_EMULATION
    fa_emu_trap(at);
#else
    __trap();
#endif
}

} // namespace fa

#endif
