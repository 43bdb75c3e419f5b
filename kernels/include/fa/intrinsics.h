/* intrinsics.h - CUDA's functions of numbers, for the emulation
 *
 * What <math.h> has is used as it is.  A fast intrinsic (__expf) is as exact as
 * its function here.  Arithmetic is here as it is rounded to nearest (_rn);
 * rounding.h has the others.
 */
#ifndef FA_INTRINSICS_H
#define FA_INTRINSICS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "fa/emulator.h"

template <typename To, typename From>
inline To fa_emu_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;

    memcpy(static_cast<void *>(&to), &from, sizeof(to));
    return to;
}

inline int __float_as_int(float x)
{
    return fa_emu_bits<int>(x);
}
inline unsigned __float_as_uint(float x)
{
    return fa_emu_bits<unsigned>(x);
}
inline float __int_as_float(int x)
{
    return fa_emu_bits<float>(x);
}
inline float __uint_as_float(unsigned x)
{
    return fa_emu_bits<float>(x);
}
inline long long __double_as_longlong(double x)
{
    return fa_emu_bits<long long>(x);
}
inline double __longlong_as_double(long long x)
{
    return fa_emu_bits<double>(x);
}
inline int __double2loint(double x)
{
    return int(fa_emu_bits<uint64_t>(x));
}
inline int __double2hiint(double x)
{
    return int(fa_emu_bits<uint64_t>(x) >> 32);
}
inline double __hiloint2double(int high, int low)
{
    return fa_emu_bits<double>(uint64_t(unsigned(high)) << 32 | unsigned(low));
}

/* nvcc's pairs of types; R is the result's. */
#define FA_EMU_MIN_MAX(R, A, B)     \
    inline R min(A a, B b)          \
    {                               \
        const R x = (R)a, y = (R)b; \
                                    \
        return y < x ? y : x;       \
    }                               \
    inline R max(A a, B b)          \
    {                               \
        const R x = (R)a, y = (R)b; \
                                    \
        return x < y ? y : x;       \
    }
#define FA_EMU_MIN_MAX_INTEGERS(S, U) \
    FA_EMU_MIN_MAX(S, S, S)           \
    FA_EMU_MIN_MAX(U, U, U)           \
    FA_EMU_MIN_MAX(U, S, U)           \
    FA_EMU_MIN_MAX(U, U, S)

FA_EMU_MIN_MAX_INTEGERS(int, unsigned)
FA_EMU_MIN_MAX_INTEGERS(long, unsigned long)
FA_EMU_MIN_MAX_INTEGERS(long long, unsigned long long)

#define FA_EMU_MIN_MAX_NAMED(PREFIX, T) \
    inline T PREFIX##min(T x, T y)      \
    {                                   \
        return min(x, y);               \
    }                                   \
    inline T PREFIX##max(T x, T y)      \
    {                                   \
        return max(x, y);               \
    }
FA_EMU_MIN_MAX_NAMED(u, unsigned)
FA_EMU_MIN_MAX_NAMED(ll, long long)
FA_EMU_MIN_MAX_NAMED(ull, unsigned long long)

/* A NaN is no number: the other one is the result. */
#define FA_EMU_MIN_MAX_FLOATS(R, A, B, SUFFIX) \
    inline R min(A a, B b)                     \
    {                                          \
        return fmin##SUFFIX(a, b);             \
    }                                          \
    inline R max(A a, B b)                     \
    {                                          \
        return fmax##SUFFIX(a, b);             \
    }
FA_EMU_MIN_MAX_FLOATS(float, float, float, f)
FA_EMU_MIN_MAX_FLOATS(double, double, double, )
FA_EMU_MIN_MAX_FLOATS(double, float, double, )
FA_EMU_MIN_MAX_FLOATS(double, double, float, )

#define FA_EMU_FUNCTION_1(R, NAME, A, RESULT) \
    inline R NAME(A x)                        \
    {                                         \
        return RESULT;                        \
    }
#define FA_EMU_FUNCTION_2(T, NAME, RESULT) \
    inline T NAME(T x, T y)                \
    {                                      \
        return RESULT;                     \
    }
#define FA_EMU_FUNCTION_3(T, NAME, RESULT) \
    inline T NAME(T x, T y, T z)           \
    {                                      \
        return RESULT;                     \
    }

constexpr double fa_emu_pi = 3.14159265358979323846;

FA_EMU_FUNCTION_1(float, rsqrtf, float, 1.0f / sqrtf(x))
FA_EMU_FUNCTION_1(double, rsqrt, double, 1.0 / sqrt(x))
FA_EMU_FUNCTION_1(float, rcbrtf, float, 1.0f / cbrtf(x))
FA_EMU_FUNCTION_1(double, rcbrt, double, 1.0 / cbrt(x))
FA_EMU_FUNCTION_1(float, sinpif, float, float(sin(fa_emu_pi *fmod(x, 2.0))))
FA_EMU_FUNCTION_1(double, sinpi, double, sin(fa_emu_pi *fmod(x, 2.0)))
FA_EMU_FUNCTION_1(float, cospif, float, float(cos(fa_emu_pi *fmod(x, 2.0))))
FA_EMU_FUNCTION_1(double, cospi, double, cos(fa_emu_pi *fmod(x, 2.0)))
FA_EMU_FUNCTION_1(float, normcdff, float, 0.5f * erfcf(-x / sqrtf(2.0f)))
FA_EMU_FUNCTION_1(double, normcdf, double, 0.5 * erfc(-x / sqrt(2.0)))
FA_EMU_FUNCTION_2(float, fdividef, x / y)
FA_EMU_FUNCTION_2(float, rhypotf, 1.0f / hypotf(x, y))
FA_EMU_FUNCTION_2(double, rhypot, 1.0 / hypot(x, y))
FA_EMU_FUNCTION_3(double, norm3d, hypot(hypot(x, y), z))
FA_EMU_FUNCTION_3(double, rnorm3d, 1.0 / norm3d(x, y, z))
FA_EMU_FUNCTION_3(float, norm3df, float(norm3d(x, y, z)))
FA_EMU_FUNCTION_3(float, rnorm3df, float(rnorm3d(x, y, z)))

inline double norm4d(double x, double y, double z, double w)
{
    return hypot(norm3d(x, y, z), w);
}

inline double rnorm4d(double x, double y, double z, double w)
{
    return 1.0 / norm4d(x, y, z, w);
}

inline float norm4df(float x, float y, float z, float w)
{
    return float(norm4d(x, y, z, w));
}

inline float rnorm4df(float x, float y, float z, float w)
{
    return float(rnorm4d(x, y, z, w));
}

FA_EMU_FUNCTION_1(float, __expf, float, expf(x))
FA_EMU_FUNCTION_1(float, __exp10f, float, exp10f(x))
FA_EMU_FUNCTION_1(float, __logf, float, logf(x))
FA_EMU_FUNCTION_1(float, __log2f, float, log2f(x))
FA_EMU_FUNCTION_1(float, __log10f, float, log10f(x))
FA_EMU_FUNCTION_1(float, __sinf, float, sinf(x))
FA_EMU_FUNCTION_1(float, __cosf, float, cosf(x))
FA_EMU_FUNCTION_1(float, __tanf, float, tanf(x))
FA_EMU_FUNCTION_1(float, __tanhf, float, tanhf(x))
FA_EMU_FUNCTION_1(float, __saturatef, float, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
FA_EMU_FUNCTION_1(float, __frcp_rn, float, 1.0f / x)
FA_EMU_FUNCTION_1(float, __fsqrt_rn, float, sqrtf(x))
FA_EMU_FUNCTION_1(float, __frsqrt_rn, float, float(1.0 / sqrt(double(x))))
FA_EMU_FUNCTION_1(double, __drcp_rn, double, 1.0 / x)
FA_EMU_FUNCTION_1(double, __dsqrt_rn, double, sqrt(x))
FA_EMU_FUNCTION_2(float, __powf, powf(x, y))
FA_EMU_FUNCTION_2(float, __fdividef, x / y)
FA_EMU_FUNCTION_2(float, __fadd_rn, x + y)
FA_EMU_FUNCTION_2(float, __fsub_rn, x - y)
FA_EMU_FUNCTION_2(float, __fmul_rn, x *y)
FA_EMU_FUNCTION_2(float, __fdiv_rn, x / y)
FA_EMU_FUNCTION_3(float, __fmaf_rn, fmaf(x, y, z))
FA_EMU_FUNCTION_2(double, __dadd_rn, x + y)
FA_EMU_FUNCTION_2(double, __dsub_rn, x - y)
FA_EMU_FUNCTION_2(double, __dmul_rn, x *y)
FA_EMU_FUNCTION_2(double, __ddiv_rn, x / y)
FA_EMU_FUNCTION_3(double, __fma_rn, fma(x, y, z))

inline void __sincosf(float x, float *sine, float *cosine)
{
    *sine = sinf(x);
    *cosine = cosf(x);
}

inline void sincospif(float x, float *sine, float *cosine)
{
    *sine = sinpif(x);
    *cosine = cospif(x);
}

inline void sincospi(double x, double *sine, double *cosine)
{
    *sine = sinpi(x);
    *cosine = cospi(x);
}

/* To an integer: what is too large becomes the largest, and NaN 0. */
template <typename T>
inline T fa_emu_saturated(double x)
{
    constexpr T least = T(-1) < T(0) ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
    constexpr T most = T(~least);

    if (!(x == x))
        return 0;
    return x <= double(least) ? least : x >= double(most) ? most : T(x);
}

#define FA_EMU_TO_INTEGER(FROM, F, TO, T)                                        \
    FA_EMU_FUNCTION_1(T, __##FROM##2##TO##_rn, F, fa_emu_saturated<T>(rint(x)))  \
    FA_EMU_FUNCTION_1(T, __##FROM##2##TO##_rz, F, fa_emu_saturated<T>(trunc(x))) \
    FA_EMU_FUNCTION_1(T, __##FROM##2##TO##_ru, F, fa_emu_saturated<T>(ceil(x)))  \
    FA_EMU_FUNCTION_1(T, __##FROM##2##TO##_rd, F, fa_emu_saturated<T>(floor(x)))
#define FA_EMU_TO_INTEGERS(FROM, F)            \
    FA_EMU_TO_INTEGER(FROM, F, int, int)       \
    FA_EMU_TO_INTEGER(FROM, F, uint, unsigned) \
    FA_EMU_TO_INTEGER(FROM, F, ll, long long)  \
    FA_EMU_TO_INTEGER(FROM, F, ull, unsigned long long)

FA_EMU_TO_INTEGERS(float, float)
FA_EMU_TO_INTEGERS(double, double)

FA_EMU_FUNCTION_1(float, __int2float_rn, int, float(x))
FA_EMU_FUNCTION_1(float, __uint2float_rn, unsigned, float(x))
FA_EMU_FUNCTION_1(float, __ll2float_rn, long long, float(x))
FA_EMU_FUNCTION_1(float, __ull2float_rn, unsigned long long, float(x))
FA_EMU_FUNCTION_1(double, __int2double_rn, int, x)
FA_EMU_FUNCTION_1(double, __uint2double_rn, unsigned, x)
FA_EMU_FUNCTION_1(double, __ll2double_rn, long long, double(x))
FA_EMU_FUNCTION_1(double, __ull2double_rn, unsigned long long, double(x))
FA_EMU_FUNCTION_1(float, __double2float_rn, double, float(x))

FA_EMU_FUNCTION_1(int, __popc, unsigned, __builtin_popcount(x))
FA_EMU_FUNCTION_1(int, __popcll, unsigned long long, __builtin_popcountll(x))
FA_EMU_FUNCTION_1(int, __clz, int, x ? __builtin_clz(unsigned(x)) : 32)
FA_EMU_FUNCTION_1(int, __clzll, long long, x ? __builtin_clzll((unsigned long long)x) : 64)
FA_EMU_FUNCTION_1(int, __ffs, int, __builtin_ffs(x))
FA_EMU_FUNCTION_1(int, __ffsll, long long, __builtin_ffsll(x))

inline unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}

inline unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}

/* Each half byte of the selector picks one of the 8 bytes, or, with its top bit,
 * the sign of that byte. */
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const uint64_t bytes = uint64_t(y) << 32 | x;
    unsigned result = 0;

    for (int i = 0; i < 4; i++) {
        const unsigned pick = selector >> 4 * i;
        const unsigned byte = unsigned(bytes >> 8 * (pick & 7)) & 0xff;

        result |= (pick & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return result;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return unsigned((uint64_t(high) << 32 | low) << (by & 31) >> 32);
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return unsigned((uint64_t(high) << 32 | low) >> (by & 31));
}

inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by)
{
    return by >= 32 ? low : __funnelshift_l(low, high, by);
}

inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by)
{
    return by >= 32 ? high : __funnelshift_r(low, high, by);
}

FA_EMU_FUNCTION_2(int, __mulhi, int(int64_t(x) * y >> 32))
FA_EMU_FUNCTION_2(unsigned, __umulhi, unsigned(uint64_t(x) * y >> 32))
FA_EMU_FUNCTION_2(long long, __mul64hi, (long long)((__int128)x *y >> 64))
FA_EMU_FUNCTION_2(unsigned long long, __umul64hi,
                  (unsigned long long)((unsigned __int128)x *y >> 64))
FA_EMU_FUNCTION_2(int, __mul24,
                  int(unsigned(int(unsigned(x) << 8) >> 8) * unsigned(int(unsigned(y) << 8) >> 8)))
FA_EMU_FUNCTION_2(unsigned, __umul24, (x & 0xffffff) * (y & 0xffffff))
FA_EMU_FUNCTION_2(int, __hadd, int((int64_t(x) + y) >> 1))
FA_EMU_FUNCTION_2(int, __rhadd, int((int64_t(x) + y + 1) >> 1))
FA_EMU_FUNCTION_2(unsigned, __uhadd, unsigned((uint64_t(x) + y) >> 1))
FA_EMU_FUNCTION_2(unsigned, __urhadd, unsigned((uint64_t(x) + y + 1) >> 1))

inline unsigned __sad(int x, int y, unsigned z)
{
    return (x < y ? unsigned(y) - unsigned(x) : unsigned(x) - unsigned(y)) + z;
}

inline unsigned __usad(unsigned x, unsigned y, unsigned z)
{
    return (x < y ? y - x : x - y) + z;
}

#endif
