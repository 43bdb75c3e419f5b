/* half_types.h - one 16-bit type, its pair, and their conversions (half.h)
 *
 * FA_EMU_SIXTEEN_BITS(H, H2, NAME): the type, the type of two, and the word for
 * it in the names of conversions.  WIDEN and NARROW are its conversions from and
 * to float.
 */
#ifndef FA_HALF_TYPES_H
#define FA_HALF_TYPES_H

#include "fa/half.h"

#define FA_EMU_SIXTEEN_BITS(H, H2, NAME, WIDEN, NARROW)                    \
    struct alignas(2) H##_raw {                                            \
        unsigned short x;                                                  \
    };                                                                     \
    struct alignas(4) H2##_raw {                                           \
        unsigned short x, y;                                               \
    };                                                                     \
    struct alignas(2) H {                                                  \
        unsigned short __x;                                                \
                                                                           \
        H() = default;                                                     \
        H(const H##_raw &raw) : __x(raw.x)                                 \
        {                                                                  \
        }                                                                  \
        operator H##_raw() const                                           \
        {                                                                  \
            return { __x };                                                \
        }                                                                  \
        H(float x) : __x(NARROW(x))                                        \
        {                                                                  \
        }                                                                  \
        H(double x) : __x(NARROW(fa_emu_to_odd(x)))                        \
        {                                                                  \
        }                                                                  \
        H(short x) : H(float(x))                                           \
        {                                                                  \
        }                                                                  \
        H(unsigned short x) : H(float(x))                                  \
        {                                                                  \
        }                                                                  \
        H(int x) : H(double(x))                                            \
        {                                                                  \
        }                                                                  \
        H(unsigned x) : H(double(x))                                       \
        {                                                                  \
        }                                                                  \
        H(long x) : H(double(x))                                           \
        {                                                                  \
        }                                                                  \
        H(unsigned long x) : H(double(x))                                  \
        {                                                                  \
        }                                                                  \
        H(long long x) : H(double(x))                                      \
        {                                                                  \
        }                                                                  \
        H(unsigned long long x) : H(double(x))                             \
        {                                                                  \
        }                                                                  \
        H(bool x) : H(float(x))                                            \
        {                                                                  \
        }                                                                  \
        operator float() const                                             \
        {                                                                  \
            return WIDEN(__x);                                             \
        }                                                                  \
    };                                                                     \
    struct alignas(4) H2 {                                                 \
        H x, y;                                                            \
                                                                           \
        H2() = default;                                                    \
        H2(const H2##_raw &raw) : x(H##_raw{ raw.x }), y(H##_raw{ raw.y }) \
        {                                                                  \
        }                                                                  \
        operator H2##_raw() const                                          \
        {                                                                  \
            return { x.__x, y.__x };                                       \
        }                                                                  \
        H2(H x_, H y_) : x(x_), y(y_)                                      \
        {                                                                  \
        }                                                                  \
    };                                                                     \
    template <>                                                            \
    struct fa_emu_format<H> {                                              \
        using fa_scalar = H;                                               \
    };                                                                     \
    template <>                                                            \
    struct fa_emu_format<H2> {                                             \
        using fa_pair = H2;                                                \
    };                                                                     \
    FA_EMU_16_CONVERSIONS(H, H2, NAME)                                     \
    FA_EMU_16_INTEGER(H, NAME, short, short)                               \
    FA_EMU_16_INTEGER(H, NAME, ushort, unsigned short)                     \
    FA_EMU_16_INTEGER(H, NAME, int, int)                                   \
    FA_EMU_16_INTEGER(H, NAME, uint, unsigned)                             \
    FA_EMU_16_INTEGER(H, NAME, ll, long long)                              \
    FA_EMU_16_INTEGER(H, NAME, ull, unsigned long long)

#define FA_EMU_16_CONVERSIONS(H, H2, NAME)                                                  \
    FA_EMU_FUNCTION_1(H, __float2##NAME, float, H(x))                                       \
    FA_EMU_FUNCTION_1(H, __float2##NAME##_rn, float, H(x))                                  \
    FA_EMU_FUNCTION_1(H, __float2##NAME##_rz, float, fa_emu_directed(H(x), x, x<0, x> 0))   \
    FA_EMU_FUNCTION_1(H, __float2##NAME##_ru, float, fa_emu_directed(H(x), x, true, false)) \
    FA_EMU_FUNCTION_1(H, __float2##NAME##_rd, float, fa_emu_directed(H(x), x, false, true)) \
    FA_EMU_FUNCTION_1(H, __double2##NAME, double, H(x))                                     \
    FA_EMU_FUNCTION_1(float, __##NAME##2float, H, x)                                        \
    FA_EMU_FUNCTION_1(H2, __float2##NAME##2_rn, float, H2(x, x))                            \
    FA_EMU_FUNCTION_2_OF(H2, __floats2##NAME##2_rn, float, H2(x, y))                        \
    FA_EMU_FUNCTION_1(H2, __float22##NAME##2_rn, float2, H2(x.x, x.y))                      \
    FA_EMU_FUNCTION_1(float2, __##NAME##22float2, H2, make_float2(x.x, x.y))                \
    FA_EMU_FUNCTION_1(float, __low2float, H2, x.x)                                          \
    FA_EMU_FUNCTION_1(float, __high2float, H2, x.y)                                         \
    FA_EMU_FUNCTION_1(H, __low2##NAME, H2, x.x)                                             \
    FA_EMU_FUNCTION_1(H, __high2##NAME, H2, x.y)                                            \
    FA_EMU_FUNCTION_1(H2, __low2##NAME##2, H2, H2(x.x, x.x))                                \
    FA_EMU_FUNCTION_1(H2, __high2##NAME##2, H2, H2(x.y, x.y))                               \
    FA_EMU_FUNCTION_1(H2, __lowhigh2highlow, H2, H2(x.y, x.x))                              \
    FA_EMU_FUNCTION_1(H2, __##NAME##2##NAME##2, H, H2(x, x))                                \
    FA_EMU_FUNCTION_2_OF(H2, __halves2##NAME##2, H, H2(x, y))                               \
    FA_EMU_FUNCTION_2_OF(H2, make_##NAME##2, H, H2(x, y))                                   \
    FA_EMU_FUNCTION_2_OF(H2, __lows2##NAME##2, H2, H2(x.x, y.x))                            \
    FA_EMU_FUNCTION_2_OF(H2, __highs2##NAME##2, H2, H2(x.y, y.y))                           \
    FA_EMU_FUNCTION_1(unsigned short, __##NAME##_as_ushort, H, x.__x)                       \
    FA_EMU_FUNCTION_1(short, __##NAME##_as_short, H, short(x.__x))                          \
    FA_EMU_FUNCTION_1(H, __ushort_as_##NAME, unsigned short, fa_emu_bits<H>(x))             \
    FA_EMU_FUNCTION_1(H, __short_as_##NAME, short, fa_emu_bits<H>(x))

#define FA_EMU_FUNCTION_2_OF(R, NAME, A, RESULT) \
    inline R NAME(A x, A y)                      \
    {                                            \
        return RESULT;                           \
    }

#define FA_EMU_16_INTEGER(H, NAME, WORD, T)                                         \
    FA_EMU_FUNCTION_1(H, __##WORD##2##NAME##_rn, T, H(x))                           \
    FA_EMU_FUNCTION_1(T, __##NAME##2##WORD##_rn, H, fa_emu_saturated<T>(rintf(x)))  \
    FA_EMU_FUNCTION_1(T, __##NAME##2##WORD##_rz, H, fa_emu_saturated<T>(truncf(x))) \
    FA_EMU_FUNCTION_1(T, __##NAME##2##WORD##_ru, H, fa_emu_saturated<T>(ceilf(x)))  \
    FA_EMU_FUNCTION_1(T, __##NAME##2##WORD##_rd, H, fa_emu_saturated<T>(floorf(x)))

#endif
