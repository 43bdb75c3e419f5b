/* smem.h - the block's dynamic shared memory
 *
 * The launch sets its size; the base is a multiple of 16 and not zero.  Every
 * access goes through a wrapper, at a multiple of its size.  A thread may read
 * what another wrote after barrier(), or after syncwarp() if both are in one
 * warp; the emulator checks both.
 */
#ifndef FA_SMEM_H
#define FA_SMEM_H

#include "fa/types.h"

#ifndef FA_EMULATION
extern __shared__ __align__(16) unsigned char fa_smem_dynamic[];
#endif

namespace fa
{

__device__ __forceinline__ smem_addr smem_base()
{
#ifdef FA_EMULATION
    return smem_addr{ FA_EMU_SMEM_BASE };
#else
    return smem_addr{ u32(__cvta_generic_to_shared(fa_smem_dynamic)) };
#endif
}

__device__ __forceinline__ vec16 ld_shared_16(smem_addr a FA_ALSO_AT)
{
    vec16 v;
#ifdef FA_EMULATION
    fa_emu_smem_load(&v, a.byte, 16, at);
#else
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x[0]), "=r"(v.x[1]), "=r"(v.x[2]), "=r"(v.x[3])
                 : "r"(a.byte));
#endif
    return v;
}

__device__ __forceinline__ vec8 ld_shared_8(smem_addr a FA_ALSO_AT)
{
    vec8 v;
#ifdef FA_EMULATION
    fa_emu_smem_load(&v, a.byte, 8, at);
#else
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x[0]), "=r"(v.x[1]) : "r"(a.byte));
#endif
    return v;
}

__device__ __forceinline__ u32 ld_shared_4(smem_addr a FA_ALSO_AT)
{
    u32 v;
#ifdef FA_EMULATION
    fa_emu_smem_load(&v, a.byte, 4, at);
#else
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a.byte));
#endif
    return v;
}

__device__ __forceinline__ u16 ld_shared_2(smem_addr a FA_ALSO_AT)
{
    u16 v;
#ifdef FA_EMULATION
    fa_emu_smem_load(&v, a.byte, 2, at);
#else
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(a.byte));
#endif
    return v;
}

__device__ __forceinline__ float ld_shared_f32(smem_addr a FA_ALSO_AT)
{
    float v;
#ifdef FA_EMULATION
    fa_emu_smem_load(&v, a.byte, 4, at);
#else
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(a.byte));
#endif
    return v;
}

__device__ __forceinline__ void st_shared_16(smem_addr a, vec16 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_smem_store(a.byte, &v, 16, at);
#else
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(a.byte), "r"(v.x[0]), "r"(v.x[1]),
                 "r"(v.x[2]), "r"(v.x[3])
                 : "memory");
#endif
}

__device__ __forceinline__ void st_shared_8(smem_addr a, vec8 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_smem_store(a.byte, &v, 8, at);
#else
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(a.byte), "r"(v.x[0]), "r"(v.x[1])
                 : "memory");
#endif
}

__device__ __forceinline__ void st_shared_4(smem_addr a, u32 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_smem_store(a.byte, &v, 4, at);
#else
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(a.byte), "r"(v) : "memory");
#endif
}

__device__ __forceinline__ void st_shared_2(smem_addr a, u16 v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_smem_store(a.byte, &v, 2, at);
#else
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(a.byte), "h"(v) : "memory");
#endif
}

__device__ __forceinline__ void st_shared_f32(smem_addr a, float v FA_ALSO_AT)
{
#ifdef FA_EMULATION
    fa_emu_smem_store(a.byte, &v, 4, at);
#else
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(a.byte), "f"(v) : "memory");
#endif
}

} // namespace fa

#endif
