/* half.h - fp16 and bf16 for the emulation, as cuda_fp16.h and cuda_bf16.h have them
 *
 * A type of 16 bits is made by FA_EMU_SIXTEEN_BITS(H, H2, NAME), its functions by
 * the templates.  Each operation rounds once, to nearest even: sums and products
 * of 16-bit numbers are exact enough in float, fma is done in double.  Overloads
 * are chosen by fa_emu_16 and fa_emu_16x2, which exist for these types alone.
 * A kernel's tunables are macros that stand in front of this file, so its names
 * begin with fa_; x and y are members.
 */
#ifndef FA_HALF_H
#define FA_HALF_H

#include "fa/atomics.h"
#include "fa/intrinsics.h"

template <typename fa_T>
struct fa_emu_format {
};
template <typename fa_T>
using fa_emu_16 = typename fa_emu_format<fa_T>::fa_scalar;
template <typename fa_T>
using fa_emu_16x2 = typename fa_emu_format<fa_T>::fa_pair;

/* Rounded so that rounding it again, to fewer bits, is as rounding once. */
inline float fa_emu_to_odd(double x)
{
    const float fa_near = float(x);
    uint32_t fa_bits = fa_emu_bits<uint32_t>(fa_near);

    if (double(fa_near) == x || !(x == x) || x - x != 0)
        return fa_near;
    if ((fa_near < 0 ? -double(fa_near) : double(fa_near)) > (x < 0 ? -x : x))
        fa_bits--;
    return fa_emu_bits<float>(fa_bits | 1);
}

/* a b + c, rounded to odd: 'fa_rest' is what the sum of doubles lacks. */
inline float fa_emu_fma_to_odd(float fa_a, float fa_b, float fa_c)
{
    const double fa_p = double(fa_a) * fa_b, fa_q = fa_c, fa_sum = fa_p + fa_q;
    const double fa_q_part = fa_sum - fa_p,
                 fa_rest = (fa_p - (fa_sum - fa_q_part)) + (fa_q - fa_q_part);
    uint64_t fa_bits = fa_emu_bits<uint64_t>(fa_sum);

    if (fa_rest != 0 && fa_rest == fa_rest && !(fa_bits & 1))
        fa_bits += (fa_rest > 0) == (fa_sum > 0) ? 1 : uint64_t(-1);
    return fa_emu_to_odd(fa_emu_bits<double>(fa_bits));
}

/* The neighbour of 'fa_near' on the other side of x, if that is on the wrong one:
 * 'fa_up' and 'fa_down' say which sides are right. */
template <typename fa_H>
inline fa_H fa_emu_directed(fa_H fa_near, float x, bool fa_up, bool fa_down)
{
    const float fa_f = fa_near;

    if (!(fa_down && fa_f > x) && !(fa_up && fa_f < x))
        return fa_near;
    if (fa_f == 0)
        fa_near.__x = fa_f < x ? 0x0001 : 0x8001;
    else
        fa_near.__x = uint16_t(fa_near.__x + ((fa_f > 0) == (fa_f < x) ? 1 : -1));
    return fa_near;
}

#define FA_EMU_16_FUNCTION_1(NAME, RESULT)             \
    template <typename fa_T>                           \
    inline fa_emu_16<fa_T> h##NAME(fa_T fa_a)          \
    {                                                  \
        const float x = fa_a;                          \
                                                       \
        return fa_T(RESULT);                           \
    }                                                  \
    template <typename fa_T>                           \
    inline fa_emu_16x2<fa_T> h2##NAME(fa_T fa_a)       \
    {                                                  \
        return fa_T(h##NAME(fa_a.x), h##NAME(fa_a.y)); \
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
FA_EMU_16_FUNCTION_1(tanh_approx, tanhf(x))
FA_EMU_16_FUNCTION_1(floor, floorf(x))
FA_EMU_16_FUNCTION_1(ceil, ceilf(x))
FA_EMU_16_FUNCTION_1(trunc, truncf(x))
FA_EMU_16_FUNCTION_1(rint, rintf(x))

/* __NAME(a, b) and __PAIR(a, b) */
#define FA_EMU_16_FUNCTION_2(NAME, PAIR, RESULT)                         \
    template <typename fa_T>                                             \
    inline fa_emu_16<fa_T> __##NAME(fa_T fa_a, fa_T fa_b)                \
    {                                                                    \
        const float x = fa_a, y = fa_b;                                  \
                                                                         \
        return fa_T(RESULT);                                             \
    }                                                                    \
    template <typename fa_T>                                             \
    inline fa_emu_16x2<fa_T> __##PAIR(fa_T fa_a, fa_T fa_b)              \
    {                                                                    \
        return fa_T(__##NAME(fa_a.x, fa_b.x), __##NAME(fa_a.y, fa_b.y)); \
    }

FA_EMU_16_FUNCTION_2(hadd, hadd2, x + y)
FA_EMU_16_FUNCTION_2(hsub, hsub2, x - y)
FA_EMU_16_FUNCTION_2(hmul, hmul2, x *y)
FA_EMU_16_FUNCTION_2(hadd_rn, hadd2_rn, x + y)
FA_EMU_16_FUNCTION_2(hsub_rn, hsub2_rn, x - y)
FA_EMU_16_FUNCTION_2(hmul_rn, hmul2_rn, x *y)
FA_EMU_16_FUNCTION_2(hadd_sat, hadd2_sat, __saturatef(x + y))
FA_EMU_16_FUNCTION_2(hsub_sat, hsub2_sat, __saturatef(x - y))
FA_EMU_16_FUNCTION_2(hmul_sat, hmul2_sat, __saturatef(x *y))
FA_EMU_16_FUNCTION_2(hmin, hmin2, fminf(x, y))
FA_EMU_16_FUNCTION_2(hmax, hmax2, fmaxf(x, y))
FA_EMU_16_FUNCTION_2(hmin_nan, hmin2_nan, x != x || y != y ? NAN : fminf(x, y))
FA_EMU_16_FUNCTION_2(hmax_nan, hmax2_nan, x != x || y != y ? NAN : fmaxf(x, y))

template <typename fa_T>
inline fa_emu_16<fa_T> __hdiv(fa_T fa_a, fa_T fa_b)
{
    return fa_T(float(fa_a) / float(fa_b));
}

template <typename fa_T>
inline fa_emu_16x2<fa_T> __h2div(fa_T fa_a, fa_T fa_b)
{
    return fa_T(__hdiv(fa_a.x, fa_b.x), __hdiv(fa_a.y, fa_b.y));
}

#define FA_EMU_16_FMA(NAME, PAIR, RESULT)                                                \
    template <typename fa_T>                                                             \
    inline fa_emu_16<fa_T> __##NAME(fa_T fa_a, fa_T fa_b, fa_T fa_c)                     \
    {                                                                                    \
        const float x = fa_emu_fma_to_odd(fa_a, fa_b, fa_c);                             \
                                                                                         \
        return fa_T(RESULT);                                                             \
    }                                                                                    \
    template <typename fa_T>                                                             \
    inline fa_emu_16x2<fa_T> __##PAIR(fa_T fa_a, fa_T fa_b, fa_T fa_c)                   \
    {                                                                                    \
        return fa_T(__##NAME(fa_a.x, fa_b.x, fa_c.x), __##NAME(fa_a.y, fa_b.y, fa_c.y)); \
    }

FA_EMU_16_FMA(hfma, hfma2, x)
FA_EMU_16_FMA(hfma_sat, hfma2_sat, __saturatef(x))
FA_EMU_16_FMA(hfma_relu, hfma2_relu, x < 0 ? 0.0f : x)

template <typename fa_T>
inline fa_emu_16<fa_T> __hneg(fa_T fa_a)
{
    fa_a.__x ^= 0x8000;
    return fa_a;
}

template <typename fa_T>
inline fa_emu_16<fa_T> __habs(fa_T fa_a)
{
    fa_a.__x &= 0x7fff;
    return fa_a;
}

template <typename fa_T>
inline fa_emu_16x2<fa_T> __hneg2(fa_T fa_a)
{
    return fa_T(__hneg(fa_a.x), __hneg(fa_a.y));
}

template <typename fa_T>
inline fa_emu_16x2<fa_T> __habs2(fa_T fa_a)
{
    return fa_T(__habs(fa_a.x), __habs(fa_a.y));
}

template <typename fa_T, typename = fa_emu_16<fa_T>>
inline bool __hisnan(fa_T fa_a)
{
    const float x = fa_a;

    return x != x;
}

template <typename fa_T, typename = fa_emu_16<fa_T>>
inline int __hisinf(fa_T fa_a)
{
    const float x = fa_a;

    return x == INFINITY ? 1 : x == -INFINITY ? -1 : 0;
}

template <typename fa_T>
inline fa_emu_16x2<fa_T> __hisnan2(fa_T fa_a)
{
    return fa_T(__hisnan(fa_a.x), __hisnan(fa_a.y));
}

/* Of scalars, of pairs (1 or 0 each; all bits of each), of both of a pair; "u" is
 * true of NaN. */
#define FA_EMU_16_COMPARE_OF(NAME, RESULT)                                 \
    template <typename fa_T, typename = fa_emu_16<fa_T>>                   \
    inline bool __h##NAME(fa_T fa_a, fa_T fa_b)                            \
    {                                                                      \
        const float x = fa_a, y = fa_b;                                    \
                                                                           \
        return RESULT;                                                     \
    }                                                                      \
    template <typename fa_T>                                               \
    inline fa_emu_16x2<fa_T> __h##NAME##2(fa_T fa_a, fa_T fa_b)            \
    {                                                                      \
        return fa_T(__h##NAME(fa_a.x, fa_b.x), __h##NAME(fa_a.y, fa_b.y)); \
    }                                                                      \
    template <typename fa_T, typename = fa_emu_16x2<fa_T>>                 \
    inline bool __hb##NAME##2(fa_T fa_a, fa_T fa_b)                        \
    {                                                                      \
        return __h##NAME(fa_a.x, fa_b.x) && __h##NAME(fa_a.y, fa_b.y);     \
    }                                                                      \
    template <typename fa_T, typename = fa_emu_16x2<fa_T>>                 \
    inline unsigned __h##NAME##2_mask(fa_T fa_a, fa_T fa_b)                \
    {                                                                      \
        return (__h##NAME(fa_a.x, fa_b.x) ? 0xffffu : 0) |                 \
               (__h##NAME(fa_a.y, fa_b.y) ? 0xffff0000u : 0);              \
    }
#define FA_EMU_16_COMPARE(NAME, OPERATOR, OPPOSITE)                         \
    FA_EMU_16_COMPARE_OF(NAME, x OPERATOR y)                                \
    FA_EMU_16_COMPARE_OF(NAME##u, !(OPPOSITE))                              \
    template <typename fa_T, typename = fa_emu_16<fa_T>>                    \
    inline bool operator OPERATOR(fa_T fa_a, fa_T fa_b)                     \
    {                                                                       \
        return __h##NAME(fa_a, fa_b);                                       \
    }                                                                       \
    template <typename fa_T, typename = fa_emu_16x2<fa_T>, typename = void> \
    inline bool operator OPERATOR(fa_T fa_a, fa_T fa_b)                     \
    {                                                                       \
        return __hb##NAME##2(fa_a, fa_b);                                   \
    }

FA_EMU_16_COMPARE(eq, ==, x<y || x> y)
FA_EMU_16_COMPARE(le, <=, x > y)
FA_EMU_16_COMPARE(ge, >=, x < y)
FA_EMU_16_COMPARE(lt, <, x >= y)
FA_EMU_16_COMPARE(gt, >, x <= y)

/* Unlike the others, "ne" is false of NaN, and its operator is not. */
FA_EMU_16_COMPARE_OF(ne, x<y || x> y)
FA_EMU_16_COMPARE_OF(neu, x != y)

template <typename fa_T, typename = fa_emu_16<fa_T>>
inline bool operator!=(fa_T fa_a, fa_T fa_b)
{
    return __hneu(fa_a, fa_b);
}

template <typename fa_T, typename = fa_emu_16x2<fa_T>, typename = void>
inline bool operator!=(fa_T fa_a, fa_T fa_b)
{
    return __hbneu2(fa_a, fa_b);
}

#define FA_EMU_16_OPERATOR(OPERATOR, NAME, NAME2)                         \
    template <typename fa_T>                                              \
    inline fa_emu_16<fa_T> operator OPERATOR(fa_T fa_a, fa_T fa_b)        \
    {                                                                     \
        return NAME(fa_a, fa_b);                                          \
    }                                                                     \
    template <typename fa_T>                                              \
    inline fa_emu_16x2<fa_T> operator OPERATOR(fa_T fa_a, fa_T fa_b)      \
    {                                                                     \
        return NAME2(fa_a, fa_b);                                         \
    }                                                                     \
    template <typename fa_T>                                              \
    inline fa_emu_16<fa_T> &operator OPERATOR##=(fa_T &fa_a, fa_T fa_b)   \
    {                                                                     \
        return fa_a = NAME(fa_a, fa_b);                                   \
    }                                                                     \
    template <typename fa_T>                                              \
    inline fa_emu_16x2<fa_T> &operator OPERATOR##=(fa_T &fa_a, fa_T fa_b) \
    {                                                                     \
        return fa_a = NAME2(fa_a, fa_b);                                  \
    }

FA_EMU_16_OPERATOR(+, __hadd, __hadd2)
FA_EMU_16_OPERATOR(-, __hsub, __hsub2)
FA_EMU_16_OPERATOR(*, __hmul, __hmul2)
FA_EMU_16_OPERATOR(/, __hdiv, __h2div)

template <typename fa_T>
inline fa_emu_16<fa_T> operator-(fa_T fa_a)
{
    return __hneg(fa_a);
}

template <typename fa_T>
inline fa_emu_16x2<fa_T> operator-(fa_T fa_a)
{
    return __hneg2(fa_a);
}

template <typename fa_T>
inline fa_emu_16<fa_T> atomicAdd(fa_T *fa_p, fa_T fa_v, fa_site fa_at = fa_site::here())
{
    return fa_emu_atomic_sum(fa_p, fa_v, fa_at);
}

template <typename fa_T>
inline fa_emu_16x2<fa_T> atomicAdd(fa_T *fa_p, fa_T fa_v, fa_site fa_at = fa_site::here())
{
    return fa_emu_atomic_sum(fa_p, fa_v, fa_at);
}

#endif
