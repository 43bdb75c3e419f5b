/* global.h - loads and stores of global memory, 16, 8, 4 and 2 bytes
 *
 * Addresses are multiples of the size.  Plain dereferences work as well, but the
 * emulator checks only these wrappers to the byte: alignment, bounds, and stores
 * of two threads to one place without a barrier between.  "streaming" is for
 * data that is used once: caches evict it first (.cs).
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
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x[0]), "=r"(v.x[1]), "=r"(v.x[2]), "=r"(v.x[3])
                 : "l"(__cvta_generic_to_global(p))
                 : "memory");
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

__device__ __forceinline__ u32 ld_global_streaming_4(const void *p FA_ALSO_AT)
{
    u32 v;
#ifdef FA_EMULATION
    fa_emu_global_load(&v, p, 4, at);
#else
    asm("ld.global.cs.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)));
#endif
    return v;
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
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)),
                 "r"(v.x[0]), "r"(v.x[1]), "r"(v.x[2]), "r"(v.x[3])
                 : "memory"); /* the compiler may split an assignment in four */
#endif
}

__device__ __forceinline__ void st_global_streaming_16(void *p, vec16 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_global_store(p, &v, 16, at);
#else
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)),
                 "r"(v.x[0]), "r"(v.x[1]), "r"(v.x[2]), "r"(v.x[3])
                 : "memory");
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
