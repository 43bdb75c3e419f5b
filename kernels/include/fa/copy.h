/* copy.h - asynchronous copies from global to shared memory (sm_80)
 *
 * The next commit of a thread closes the group of its copies so far; wait<N>
 * returns when at most the N latest groups of the thread are unfinished.  Then
 * this thread sees the data; other threads need a barrier after the wait.
 */
#ifndef FA_COPY_H
#define FA_COPY_H

#include "fa/types.h"

namespace fa
{

/* cp.async.cg.shared.global: 16 bytes, bypassing L1.  It reads 'src_bytes' of
 * them (0..16) and writes zeros for the rest; with 0, 'src' is not read.  Both
 * addresses are multiples of 16. */
__device__ __forceinline__ void cp_async_16(smem_addr dst, const void *src,
                                            u32 src_bytes = 16 FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_cp_async(dst.byte, src, 16, src_bytes, at);
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst.byte),
                 "l"(__cvta_generic_to_global(src)), "r"(src_bytes)
                 : "memory");
#endif
}

/* cp.async.ca.shared.global: 8 bytes, src_bytes in 0..8, addresses multiples
 * of 8 */
__device__ __forceinline__ void cp_async_8(smem_addr dst, const void *src,
                                           u32 src_bytes = 8 FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_cp_async(dst.byte, src, 8, src_bytes, at);
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(dst.byte),
                 "l"(__cvta_generic_to_global(src)), "r"(src_bytes)
                 : "memory");
#endif
}

/* cp.async.ca.shared.global: 4 bytes, the smallest form */
__device__ __forceinline__ void cp_async_4(smem_addr dst, const void *src,
                                           u32 src_bytes = 4 FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_cp_async(dst.byte, src, 4, src_bytes, at);
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(dst.byte),
                 "l"(__cvta_generic_to_global(src)), "r"(src_bytes)
                 : "memory");
#endif
}

/* cp.async.commit_group; an empty group is legal and counts */
__device__ __forceinline__ void cp_async_commit()
{
#ifdef FA_EMULATION
    fa_emu_cp_async_commit();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* cp.async.wait_group N: no macro of a kernel has the name of the parameter */
template <int fa_groups>
__device__ __forceinline__ void cp_async_wait()
{
    static_assert(fa_groups >= 0, "a number of groups that may stay in flight");
#ifdef FA_EMULATION
    fa_emu_cp_async_wait(fa_groups);
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(fa_groups) : "memory");
#endif
}

} // namespace fa

#endif
