/* vectors.h - CUDA's vector types for the emulation: char1 ... double4
 *
 * Sizes and alignments are those of nvcc, because kernels cast pointers to them.
 */
#ifndef FA_VECTORS_H
#define FA_VECTORS_H

#include "fa/emulator.h"

#define FA_EMU_VECTOR_3(T, NAME)                 \
    struct NAME##3                               \
    {                                            \
        T x, y, z;                               \
    };                                           \
    inline NAME##3 make_##NAME##3(T x, T y, T z) \
    {                                            \
        return { x, y, z };                      \
    }

/* The alignments of pairs and of fours. */
#define FA_EMU_VECTORS(T, NAME, TWO, FOUR)            \
    struct NAME##1                                    \
    {                                                 \
        T x;                                          \
    };                                                \
    struct alignas(TWO) NAME##2                       \
    {                                                 \
        T x, y;                                       \
    };                                                \
    struct alignas(FOUR) NAME##4                      \
    {                                                 \
        T x, y, z, w;                                 \
    };                                                \
    inline NAME##1 make_##NAME##1(T x)                \
    {                                                 \
        return { x };                                 \
    }                                                 \
    inline NAME##2 make_##NAME##2(T x, T y)           \
    {                                                 \
        return { x, y };                              \
    }                                                 \
    inline NAME##4 make_##NAME##4(T x, T y, T z, T w) \
    {                                                 \
        return { x, y, z, w };                        \
    }

FA_EMU_VECTORS(signed char, char, 2, 4)
FA_EMU_VECTOR_3(signed char, char)
FA_EMU_VECTORS(unsigned char, uchar, 2, 4)
FA_EMU_VECTOR_3(unsigned char, uchar)
FA_EMU_VECTORS(short, short, 4, 8)
FA_EMU_VECTOR_3(short, short)
FA_EMU_VECTORS(unsigned short, ushort, 4, 8)
FA_EMU_VECTOR_3(unsigned short, ushort)
FA_EMU_VECTORS(int, int, 8, 16)
FA_EMU_VECTOR_3(int, int)
FA_EMU_VECTORS(unsigned, uint, 8, 16)
FA_EMU_VECTORS(long, long, 2 * sizeof(long), 16)
FA_EMU_VECTOR_3(long, long)
FA_EMU_VECTORS(unsigned long, ulong, 2 * sizeof(long), 16)
FA_EMU_VECTOR_3(unsigned long, ulong)
FA_EMU_VECTORS(long long, longlong, 16, 16)
FA_EMU_VECTOR_3(long long, longlong)
FA_EMU_VECTORS(unsigned long long, ulonglong, 16, 16)
FA_EMU_VECTOR_3(unsigned long long, ulonglong)
FA_EMU_VECTORS(float, float, 8, 16)
FA_EMU_VECTOR_3(float, float)
FA_EMU_VECTORS(double, double, 16, 16)
FA_EMU_VECTOR_3(double, double)

using dim3 = fa_emu_dim3;
using uint3 = fa_emu_dim3; /* the type of threadIdx and its kin */

inline uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
    return { x, y, z };
}

#endif
