/* global.h - loads and stores of global memory, 16, 8, 4 and 2 bytes
 *
 * Addresses are multiples of the size.  Plain dereferences work as well; these
 * are checked under emulation to the byte: alignment, bounds, and two threads
 * that store to one place without a barrier between.
 */
#ifndef FA_GLOBAL_H
#define FA_GLOBAL_H

#include "fa/types.h"

namespace fa
{

__device__ __forceinline__ vec16 ld_global_16(const void *p FA_ALSO_AT)
{
    vec16 v;
#ifdef FA_EMULATION
    fa_emu_global_load(&v, p, 16, at);
#else
    uint4 w = *static_cast<const uint4 *>(p);
    v.x[0] = w.x, v.x[1] = w.y, v.x[2] = w.z, v.x[3] = w.w;
#endif
    return v;
}

__device__ __forceinline__ vec8 ld_global_8(const void *p FA_ALSO_AT)
{
    vec8 v;
#ifdef FA_EMULATION
    fa_emu_global_load(&v, p, 8, at);
#else
    uint2 w = *static_cast<const uint2 *>(p);
    v.x[0] = w.x, v.x[1] = w.y;
#endif
    return v;
}

__device__ __forceinline__ u32 ld_global_4(const void *p FA_ALSO_AT)
{
#ifdef FA_EMULATION
    u32 v;
    fa_emu_global_load(&v, p, 4, at);
    return v;
#else
    return *static_cast<const u32 *>(p);
#endif
}

__device__ __forceinline__ u16 ld_global_2(const void *p FA_ALSO_AT)
{
#ifdef FA_EMULATION
    u16 v;
    fa_emu_global_load(&v, p, 2, at);
    return v;
#else
    return *static_cast<const u16 *>(p);
#endif
}

__device__ __forceinline__ void st_global_16(void *p, vec16 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_global_store(p, &v, 16, at);
#else
    *static_cast<uint4 *>(p) = make_uint4(v.x[0], v.x[1], v.x[2], v.x[3]);
#endif
}

__device__ __forceinline__ void st_global_8(void *p, vec8 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_global_store(p, &v, 8, at);
#else
    *static_cast<uint2 *>(p) = make_uint2(v.x[0], v.x[1]);
#endif
}

__device__ __forceinline__ void st_global_4(void *p, u32 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_global_store(p, &v, 4, at);
#else
    *static_cast<u32 *>(p) = v;
#endif
}

__device__ __forceinline__ void st_global_2(void *p, u16 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_global_store(p, &v, 2, at);
#else
    *static_cast<u16 *>(p) = v;
#endif
}

} // namespace fa

#endif
