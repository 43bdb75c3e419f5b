/* math.h - conversions and the fast exponential
 *
 * fp16 pairs are packed in a u32: element 0 (the lower address) in the low
 * half.  Conversions to 16 bits round to nearest even.
 */
#ifndef FA_MATH_H
#define FA_MATH_H

#include "fa/types.h"

namespace fa
{

/* 2^x; ex2.approx.ftz.f32: 2 ulp, denormals flushed, ex2(-inf) = +0. */
__device__ __forceinline__ float ex2(float x)
{
#ifdef FA_EMULATION
    return fa_emu_ex2(x);
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

/* 1 / x; rcp.approx.ftz.f32: 1 ulp, denormals flushed */
__device__ __forceinline__ float rcp(float x)
{
#ifdef FA_EMULATION
    return 1 / x;
#else
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

/* popc.b32: how many bits are set */
__device__ __forceinline__ u32 popc(u32 x)
{
#ifdef FA_EMULATION
    return u32(__builtin_popcount(x));
#else
    return u32(__popc(x));
#endif
}

/* cvt.f32.f16: exact */
__device__ __forceinline__ float cvt_f32_f16(half h)
{
#ifdef FA_EMULATION
    return fa_emu_f32_f16(h.bits);
#else
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
    return f;
#endif
}

/* cvt.rn.f16.f32: what rounds to more than 65504 becomes infinity */
__device__ __forceinline__ half cvt_rn_f16_f32(float f)
{
    half h;
#ifdef FA_EMULATION
    h.bits = fa_emu_f16_f32(f);
#else
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
#endif
    return h;
}

/* cvt.rn.f16x2.f32 d, hi, lo: in the instruction's operand order, so 'lo' is
 * element 0. */
__device__ __forceinline__ u32 cvt_rn_f16x2_f32(float hi, float lo)
{
#ifdef FA_EMULATION
    return u32(fa_emu_f16_f32(hi)) << 16 | fa_emu_f16_f32(lo);
#else
    u32 d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
    return d;
#endif
}

/* The halves of a pair: 0 is the low one. */
__device__ __forceinline__ float cvt_f32_f16x2_lo(u32 pair)
{
    return cvt_f32_f16(half{ u16(pair) });
}

__device__ __forceinline__ float cvt_f32_f16x2_hi(u32 pair)
{
    return cvt_f32_f16(half{ u16(pair >> 16) });
}

/* mul.rn.f16x2: both products, each rounded once */
__device__ __forceinline__ u32 mul_f16x2(u32 a, u32 b)
{
#ifdef FA_EMULATION
    return cvt_rn_f16x2_f32(cvt_f32_f16x2_hi(a) * cvt_f32_f16x2_hi(b),
                            cvt_f32_f16x2_lo(a) * cvt_f32_f16x2_lo(b));
#else
    u32 d;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
#endif
}

/* ex2.approx.f16x2 (sm_75): 2^x of both, relative error at most 2^-9.9 */
__device__ __forceinline__ u32 ex2_f16x2(u32 a)
{
#ifdef FA_EMULATION
    return cvt_rn_f16x2_f32(ex2(cvt_f32_f16x2_hi(a)), ex2(cvt_f32_f16x2_lo(a)));
#else
    u32 d;
    asm("ex2.approx.f16x2 %0, %1;" : "=r"(d) : "r"(a));
    return d;
#endif
}

/* exact: a bf16 is the upper half of its float */
__device__ __forceinline__ float cvt_f32_bf16(bfloat16 b)
{
    return __uint_as_float(u32(b.bits) << 16);
}

/* cvt.rn.bf16x2.f32 d, hi, lo (sm_80): 'lo' is element 0 */
__device__ __forceinline__ u32 cvt_rn_bf16x2_f32(float hi, float lo)
{
#ifdef FA_EMULATION
    return u32(fa_emu_bf16_f32(hi)) << 16 | fa_emu_bf16_f32(lo);
#else
    u32 d;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
    return d;
#endif
}

} // namespace fa

#endif
