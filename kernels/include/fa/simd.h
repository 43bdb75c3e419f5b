/* simd.h - CUDA's functions of two halves or four bytes of a word, for the emulation
 *
 * NAME2 is of halves, NAME4 of bytes; "s" is signed, "u" unsigned, "ss" and "us"
 * saturate.
 */
#ifndef FA_SIMD_H
#define FA_SIMD_H

#include "fa/intrinsics.h"
#include "fa/vectors.h"

/* Lane i of a word. */
template <typename T>
inline int fa_emu_lane(unsigned word, unsigned i)
{
    return T(word >> 8 * sizeof(T) * i);
}

template <typename T>
inline int fa_emu_clamped(int x)
{
    constexpr int most = T(-1) < T(0) ? (1 << (8 * sizeof(T) - 1)) - 1 : (1 << 8 * sizeof(T)) - 1;
    constexpr int least = T(-1) < T(0) ? -most - 1 : 0;

    return x < least ? least : x > most ? most : x;
}

template <typename T>
inline unsigned fa_emu_placed(int x, unsigned i)
{
    constexpr unsigned bits = 8 * sizeof(T);

    return (unsigned(x) & ((1u << bits) - 1)) << bits * i;
}

/* NAME(x, y): each lane is RESULT, of the lanes a and b, which are T. */
#define FA_EMU_SIMD_OF(NAME, T, RESULT)                                   \
    inline unsigned NAME(unsigned x, unsigned y)                          \
    {                                                                     \
        unsigned word = 0;                                                \
                                                                          \
        for (unsigned i = 0; i < 4 / sizeof(T); i++) {                    \
            const int a = fa_emu_lane<T>(x, i), b = fa_emu_lane<T>(y, i); \
                                                                          \
            word |= fa_emu_placed<T>(RESULT, i);                          \
        }                                                                 \
        return word;                                                      \
    }
#define FA_EMU_SIMD_SIGNED(NAME, RESULT)          \
    FA_EMU_SIMD_OF(__v##NAME##2, int16_t, RESULT) \
    FA_EMU_SIMD_OF(__v##NAME##4, int8_t, RESULT)
#define FA_EMU_SIMD_UNSIGNED(NAME, RESULT)         \
    FA_EMU_SIMD_OF(__v##NAME##2, uint16_t, RESULT) \
    FA_EMU_SIMD_OF(__v##NAME##4, uint8_t, RESULT)
#define FA_EMU_SIMD_BOTH(NAME, RESULT)  \
    FA_EMU_SIMD_SIGNED(NAME##s, RESULT) \
    FA_EMU_SIMD_UNSIGNED(NAME##u, RESULT)
/* "ss" and "us": a result that the lane cannot hold is its nearest value. */
#define FA_EMU_SIMD_CLAMPED(NAME, RESULT)                                      \
    FA_EMU_SIMD_OF(__v##NAME##ss2, int16_t, fa_emu_clamped<int16_t>(RESULT))   \
    FA_EMU_SIMD_OF(__v##NAME##ss4, int8_t, fa_emu_clamped<int8_t>(RESULT))     \
    FA_EMU_SIMD_OF(__v##NAME##us2, uint16_t, fa_emu_clamped<uint16_t>(RESULT)) \
    FA_EMU_SIMD_OF(__v##NAME##us4, uint8_t, fa_emu_clamped<uint8_t>(RESULT))
/* "cmp" sets all bits, "set" the lowest. */
#define FA_EMU_SIMD_COMPARE(KIND, NAME, OPERATOR) \
    KIND(cmp##NAME, a OPERATOR b ? -1 : 0)        \
    KIND(set##NAME, a OPERATOR b)

FA_EMU_SIMD_UNSIGNED(add, a + b)
FA_EMU_SIMD_UNSIGNED(sub, a - b)
FA_EMU_SIMD_CLAMPED(add, a + b)
FA_EMU_SIMD_CLAMPED(sub, a - b)
FA_EMU_SIMD_BOTH(max, a < b ? b : a)
FA_EMU_SIMD_BOTH(min, b < a ? b : a)
FA_EMU_SIMD_BOTH(absdiff, a < b ? b - a : a - b)
FA_EMU_SIMD_SIGNED(avgs, (a + b + (a + b >= 0)) >> 1)
FA_EMU_SIMD_UNSIGNED(avgu, (a + b + 1) >> 1)
FA_EMU_SIMD_UNSIGNED(haddu, (a + b) >> 1)
FA_EMU_SIMD_COMPARE(FA_EMU_SIMD_UNSIGNED, eq, ==)
FA_EMU_SIMD_COMPARE(FA_EMU_SIMD_UNSIGNED, ne, !=)
FA_EMU_SIMD_COMPARE(FA_EMU_SIMD_BOTH, ge, >=)
FA_EMU_SIMD_COMPARE(FA_EMU_SIMD_BOTH, gt, >)
FA_EMU_SIMD_COMPARE(FA_EMU_SIMD_BOTH, le, <=)
FA_EMU_SIMD_COMPARE(FA_EMU_SIMD_BOTH, lt, <)

/* NAME(x) is of x and zero. */
#define FA_EMU_SIMD_OF_ZERO(NAME, OF)     \
    inline unsigned __v##NAME(unsigned x) \
    {                                     \
        return OF;                        \
    }

FA_EMU_SIMD_OF_ZERO(neg2, __vsub2(0, x))
FA_EMU_SIMD_OF_ZERO(neg4, __vsub4(0, x))
FA_EMU_SIMD_OF_ZERO(negss2, __vsubss2(0, x))
FA_EMU_SIMD_OF_ZERO(negss4, __vsubss4(0, x))
FA_EMU_SIMD_OF_ZERO(abs2, __vabsdiffs2(x, 0))
FA_EMU_SIMD_OF_ZERO(abs4, __vabsdiffs4(x, 0))
FA_EMU_SIMD_OF_ZERO(absss2, __vmaxs2(x, __vnegss2(x)))
FA_EMU_SIMD_OF_ZERO(absss4, __vmaxs4(x, __vnegss4(x)))

/* The sum of the absolute differences. */
#define FA_EMU_SIMD_SAD(NAME, T)                                          \
    inline unsigned NAME(unsigned x, unsigned y)                          \
    {                                                                     \
        unsigned sum = 0;                                                 \
                                                                          \
        for (unsigned i = 0; i < 4 / sizeof(T); i++) {                    \
            const int a = fa_emu_lane<T>(x, i), b = fa_emu_lane<T>(y, i); \
                                                                          \
            sum += unsigned(a < b ? b - a : a - b);                       \
        }                                                                 \
        return sum;                                                       \
    }

FA_EMU_SIMD_SAD(__vsads2, int16_t)
FA_EMU_SIMD_SAD(__vsads4, int8_t)
FA_EMU_SIMD_SAD(__vsadu2, uint16_t)
FA_EMU_SIMD_SAD(__vsadu4, uint8_t)

/* c, and the products of the lanes of a with as many bytes of b, from byte 'from'
 * on. */
template <typename A, typename B>
inline unsigned fa_emu_dot(unsigned a, unsigned b, unsigned c, unsigned from)
{
    for (unsigned i = 0; i < 4 / sizeof(A); i++)
        c += unsigned(fa_emu_lane<A>(a, i)) * unsigned(fa_emu_lane<B>(b, from + i));
    return c;
}

/* Of words, and of vectors of the same lanes. */
#define FA_EMU_DOT(NAME, FROM, WORD, A, B, AS, BS)                                  \
    inline WORD NAME(WORD a, WORD b, WORD c)                                        \
    {                                                                               \
        return WORD(fa_emu_dot<A, B>(unsigned(a), unsigned(b), unsigned(c), FROM)); \
    }                                                                               \
    inline WORD NAME(AS a, BS b, WORD c)                                            \
    {                                                                               \
        return NAME(fa_emu_bits<WORD>(a), fa_emu_bits<WORD>(b), c);                 \
    }

FA_EMU_DOT(__dp4a, 0, int, int8_t, int8_t, char4, char4)
FA_EMU_DOT(__dp4a, 0, unsigned, uint8_t, uint8_t, uchar4, uchar4)
FA_EMU_DOT(__dp2a_lo, 0, int, int16_t, int8_t, short2, char4)
FA_EMU_DOT(__dp2a_lo, 0, unsigned, uint16_t, uint8_t, ushort2, uchar4)
FA_EMU_DOT(__dp2a_hi, 2, int, int16_t, int8_t, short2, char4)
FA_EMU_DOT(__dp2a_hi, 2, unsigned, uint16_t, uint8_t, ushort2, uchar4)

#endif
