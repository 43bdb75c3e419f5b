/* half.h - fp16 and bf16 for the emulation, as cuda_fp16.h and cuda_bf16.h have them
 *
 * A type of 16 bits is made by FA_EMU_SIXTEEN_BITS(H, H2, NAME), its functions by
 * the templates.  Each operation rounds once, to nearest even: sums and products
 * of 16-bit numbers are exact enough in float, fma is done in double.  Overloads
 * are chosen by fa_emu_16 and fa_emu_16x2, which exist for these types alone.
 */
#ifndef FA_HALF_H
#define FA_HALF_H

#include "fa/atomics.h"
#include "fa/intrinsics.h"

template <typename T>
struct fa_emu_format {
};
template <typename T>
using fa_emu_16 = typename fa_emu_format<T>::scalar;
template <typename T>
using fa_emu_16x2 = typename fa_emu_format<T>::pair;

/* Rounded so that rounding it again, to fewer bits, is as rounding once. */
inline float fa_emu_to_odd(double x)
{
    const float near = float(x);
    uint32_t bits = fa_emu_bits<uint32_t>(near);

    if (double(near) == x || !(x == x) || x - x != 0)
        return near;
    if ((near < 0 ? -double(near) : double(near)) > (x < 0 ? -x : x))
        bits--;
    return fa_emu_bits<float>(bits | 1);
}

/* a b + c, rounded to odd: 'rest' is what the sum of doubles lacks. */
inline float fa_emu_fma_to_odd(float a, float b, float c)
{
    const double p = double(a) * b, q = c, sum = p + q;
    const double q_part = sum - p, rest = (p - (sum - q_part)) + (q - q_part);
    uint64_t bits = fa_emu_bits<uint64_t>(sum);

    if (rest != 0 && rest == rest && !(bits & 1))
        bits += (rest > 0) == (sum > 0) ? 1 : uint64_t(-1);
    return fa_emu_to_odd(fa_emu_bits<double>(bits));
}

/* The neighbour of 'near' on the other side of x, if 'near' is on the wrong one:
 * 'up' and 'down' say which sides are right. */
template <typename H>
inline H fa_emu_directed(H near, float x, bool up, bool down)
{
    const float f = near;

    if (!(down && f > x) && !(up && f < x))
        return near;
    if (f == 0)
        near.__x = f < x ? 0x0001 : 0x8001;
    else
        near.__x = uint16_t(near.__x + ((f > 0) == (f < x) ? 1 : -1));
    return near;
}

#define FA_EMU_16_FUNCTION_1(NAME, RESULT)    \
    template <typename T>                     \
    inline fa_emu_16<T> h##NAME(T a)          \
    {                                         \
        const float x = a;                    \
                                              \
        return T(RESULT);                     \
    }                                         \
    template <typename T>                     \
    inline fa_emu_16x2<T> h2##NAME(T a)       \
    {                                         \
        return T(h##NAME(a.x), h##NAME(a.y)); \
    }

FA_EMU_16_FUNCTION_1(exp, expf(x))
FA_EMU_16_FUNCTION_1(exp2, exp2f(x))
FA_EMU_16_FUNCTION_1(exp10, exp10f(x))
FA_EMU_16_FUNCTION_1(log, logf(x))
FA_EMU_16_FUNCTION_1(log2, log2f(x))
FA_EMU_16_FUNCTION_1(log10, log10f(x))
FA_EMU_16_FUNCTION_1(sqrt, sqrtf(x))
FA_EMU_16_FUNCTION_1(rsqrt, 1 / sqrt(double(x)))
FA_EMU_16_FUNCTION_1(rcp, 1 / double(x))
FA_EMU_16_FUNCTION_1(sin, sinf(x))
FA_EMU_16_FUNCTION_1(cos, cosf(x))
FA_EMU_16_FUNCTION_1(tanh, tanhf(x))
FA_EMU_16_FUNCTION_1(floor, floorf(x))
FA_EMU_16_FUNCTION_1(ceil, ceilf(x))
FA_EMU_16_FUNCTION_1(trunc, truncf(x))
FA_EMU_16_FUNCTION_1(rint, rintf(x))

/* __NAME(a, b) and __NAME2(a, b) */
#define FA_EMU_16_FUNCTION_2(NAME, RESULT)                \
    template <typename T>                                 \
    inline fa_emu_16<T> __##NAME(T a, T b)                \
    {                                                     \
        const float x = a, y = b;                         \
                                                          \
        return T(RESULT);                                 \
    }                                                     \
    template <typename T>                                 \
    inline fa_emu_16x2<T> __##NAME##2(T a, T b)           \
    {                                                     \
        return T(__##NAME(a.x, b.x), __##NAME(a.y, b.y)); \
    }

FA_EMU_16_FUNCTION_2(hadd, x + y)
FA_EMU_16_FUNCTION_2(hsub, x - y)
FA_EMU_16_FUNCTION_2(hmul, x *y)
FA_EMU_16_FUNCTION_2(hadd_rn, x + y)
FA_EMU_16_FUNCTION_2(hsub_rn, x - y)
FA_EMU_16_FUNCTION_2(hmul_rn, x *y)
FA_EMU_16_FUNCTION_2(hadd_sat, __saturatef(x + y))
FA_EMU_16_FUNCTION_2(hsub_sat, __saturatef(x - y))
FA_EMU_16_FUNCTION_2(hmul_sat, __saturatef(x *y))
FA_EMU_16_FUNCTION_2(hmin, fminf(x, y))
FA_EMU_16_FUNCTION_2(hmax, fmaxf(x, y))
FA_EMU_16_FUNCTION_2(hmin_nan, x != x || y != y ? NAN : fminf(x, y))
FA_EMU_16_FUNCTION_2(hmax_nan, x != x || y != y ? NAN : fmaxf(x, y))

template <typename T>
inline fa_emu_16<T> __hdiv(T a, T b)
{
    return T(float(a) / float(b));
}

template <typename T>
inline fa_emu_16x2<T> __h2div(T a, T b)
{
    return T(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}

#define FA_EMU_16_FMA(NAME, RESULT)                                 \
    template <typename T>                                           \
    inline fa_emu_16<T> __##NAME(T a, T b, T c)                     \
    {                                                               \
        const float x = fa_emu_fma_to_odd(a, b, c);                 \
                                                                    \
        return T(RESULT);                                           \
    }                                                               \
    template <typename T>                                           \
    inline fa_emu_16x2<T> __##NAME##2(T a, T b, T c)                \
    {                                                               \
        return T(__##NAME(a.x, b.x, c.x), __##NAME(a.y, b.y, c.y)); \
    }

FA_EMU_16_FMA(hfma, x)
FA_EMU_16_FMA(hfma_sat, __saturatef(x))
FA_EMU_16_FMA(hfma_relu, x < 0 ? 0.0f : x)

template <typename T>
inline fa_emu_16<T> __hneg(T a)
{
    a.__x ^= 0x8000;
    return a;
}

template <typename T>
inline fa_emu_16<T> __habs(T a)
{
    a.__x &= 0x7fff;
    return a;
}

template <typename T>
inline fa_emu_16x2<T> __hneg2(T a)
{
    return T(__hneg(a.x), __hneg(a.y));
}

template <typename T>
inline fa_emu_16x2<T> __habs2(T a)
{
    return T(__habs(a.x), __habs(a.y));
}

template <typename T, typename = fa_emu_16<T>>
inline bool __hisnan(T a)
{
    const float x = a;

    return x != x;
}

template <typename T, typename = fa_emu_16<T>>
inline int __hisinf(T a)
{
    const float x = a;

    return x == INFINITY ? 1 : x == -INFINITY ? -1 : 0;
}

template <typename T>
inline fa_emu_16x2<T> __hisnan2(T a)
{
    return T(__hisnan(a.x), __hisnan(a.y));
}

/* Of scalars, of pairs (1 or 0 each; all bits of each), of both of a pair; "u" is
 * true of NaN. */
#define FA_EMU_16_COMPARE_OF(NAME, RESULT)                                                    \
    template <typename T, typename = fa_emu_16<T>>                                            \
    inline bool __h##NAME(T a, T b)                                                           \
    {                                                                                         \
        const float x = a, y = b;                                                             \
                                                                                              \
        return RESULT;                                                                        \
    }                                                                                         \
    template <typename T>                                                                     \
    inline fa_emu_16x2<T> __h##NAME##2(T a, T b)                                              \
    {                                                                                         \
        return T(__h##NAME(a.x, b.x), __h##NAME(a.y, b.y));                                   \
    }                                                                                         \
    template <typename T, typename = fa_emu_16x2<T>>                                          \
    inline bool __hb##NAME##2(T a, T b)                                                       \
    {                                                                                         \
        return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y);                                    \
    }                                                                                         \
    template <typename T, typename = fa_emu_16x2<T>>                                          \
    inline unsigned __h##NAME##2_mask(T a, T b)                                               \
    {                                                                                         \
        return (__h##NAME(a.x, b.x) ? 0xffffu : 0) | (__h##NAME(a.y, b.y) ? 0xffff0000u : 0); \
    }
#define FA_EMU_16_COMPARE(NAME, OPERATOR, OPPOSITE)                   \
    FA_EMU_16_COMPARE_OF(NAME, x OPERATOR y)                          \
    FA_EMU_16_COMPARE_OF(NAME##u, !(OPPOSITE))                        \
    template <typename T, typename = fa_emu_16<T>>                    \
    inline bool operator OPERATOR(T a, T b)                           \
    {                                                                 \
        return __h##NAME(a, b);                                       \
    }                                                                 \
    template <typename T, typename = fa_emu_16x2<T>, typename = void> \
    inline bool operator OPERATOR(T a, T b)                           \
    {                                                                 \
        return __hb##NAME##2(a, b);                                   \
    }

FA_EMU_16_COMPARE(eq, ==, x<y || x> y)
FA_EMU_16_COMPARE(le, <=, x > y)
FA_EMU_16_COMPARE(ge, >=, x < y)
FA_EMU_16_COMPARE(lt, <, x >= y)
FA_EMU_16_COMPARE(gt, >, x <= y)

/* Unlike the others, "ne" is false of NaN, and its operator is not. */
FA_EMU_16_COMPARE_OF(ne, x<y || x> y)
FA_EMU_16_COMPARE_OF(neu, x != y)

template <typename T, typename = fa_emu_16<T>>
inline bool operator!=(T a, T b)
{
    return __hneu(a, b);
}

template <typename T, typename = fa_emu_16x2<T>, typename = void>
inline bool operator!=(T a, T b)
{
    return __hbneu2(a, b);
}

#define FA_EMU_16_OPERATOR(OPERATOR, NAME, NAME2)          \
    template <typename T>                                  \
    inline fa_emu_16<T> operator OPERATOR(T a, T b)        \
    {                                                      \
        return NAME(a, b);                                 \
    }                                                      \
    template <typename T>                                  \
    inline fa_emu_16x2<T> operator OPERATOR(T a, T b)      \
    {                                                      \
        return NAME2(a, b);                                \
    }                                                      \
    template <typename T>                                  \
    inline fa_emu_16<T> &operator OPERATOR##=(T &a, T b)   \
    {                                                      \
        return a = NAME(a, b);                             \
    }                                                      \
    template <typename T>                                  \
    inline fa_emu_16x2<T> &operator OPERATOR##=(T &a, T b) \
    {                                                      \
        return a = NAME2(a, b);                            \
    }

FA_EMU_16_OPERATOR(+, __hadd, __hadd2)
FA_EMU_16_OPERATOR(-, __hsub, __hsub2)
FA_EMU_16_OPERATOR(*, __hmul, __hmul2)
FA_EMU_16_OPERATOR(/, __hdiv, __h2div)

template <typename T>
inline fa_emu_16<T> operator-(T a)
{
    return __hneg(a);
}

template <typename T>
inline fa_emu_16x2<T> operator-(T a)
{
    return __hneg2(a);
}

template <typename T>
inline fa_emu_16<T> atomicAdd(T *p, T v, fa_site at = fa_site::here())
{
    return fa_emu_atomic_sum(p, v, at);
}

template <typename T>
inline fa_emu_16x2<T> atomicAdd(T *p, T v, fa_site at = fa_site::here())
{
    return fa_emu_atomic_sum(p, v, at);
}

#endif
