/* builtins.h - the functions that nvcc declares by itself, for the emulation
 *
 * The functions that kernels use most.  Others have a wrapper in fa.h, or do not
 * compile here.  Warp functions take the full mask only, because the emulator
 * waits for all lanes of a warp.
 */
#ifndef FA_BUILTINS_H
#define FA_BUILTINS_H

#include "fa/warp.h"

inline void fa_emu_full_mask(unsigned mask, fa_site at)
{
    if (mask != fa::WARP_ALL)
        fa_emu_trap(at);
}

inline void __syncthreads(fa_site at = fa_site::here())
{
    fa_emu_barrier(at);
}

inline void __syncwarp(unsigned mask = fa::WARP_ALL, fa_site at = fa_site::here())
{
    fa_emu_full_mask(mask, at);
    fa::syncwarp(at);
}

template <typename T>
inline T __shfl_xor_sync(unsigned mask, T v, int lanes, fa_site at = fa_site::here())
{
    fa_emu_full_mask(mask, at);
    return fa::shfl_xor(v, fa::u32(lanes), at);
}

template <typename T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, fa_site at = fa_site::here())
{
    fa_emu_full_mask(mask, at);
    return fa::shfl_down(v, delta, at);
}

template <typename T>
inline T __shfl_sync(unsigned mask, T v, int lane, fa_site at = fa_site::here())
{
    fa_emu_full_mask(mask, at);
    return fa::shfl_idx(v, fa::u32(lane), at);
}

inline unsigned __ballot_sync(unsigned mask, bool p, fa_site at = fa_site::here())
{
    fa_emu_full_mask(mask, at);
    return fa::vote_ballot(p, at);
}

inline bool __any_sync(unsigned mask, bool p, fa_site at = fa_site::here())
{
    return __ballot_sync(mask, p, at) != 0;
}

inline bool __all_sync(unsigned mask, bool p, fa_site at = fa_site::here())
{
    return __ballot_sync(mask, !p, at) == 0;
}

template <typename T>
inline T __ldg(const T *p)
{
    return *p;
}

#endif
