/* rounding.h - CUDA's arithmetic that rounds other than to nearest, for the emulation
 *
 * The processor rounds as it is told meanwhile.  Operands and results are volatile,
 * so that nothing is computed before or after.
 */
#ifndef FA_ROUNDING_H
#define FA_ROUNDING_H

#include <fenv.h>
#include <math.h>

class fa_emu_rounding
{
    int fa_before;

  public:
    explicit fa_emu_rounding(int mode) : fa_before(fegetround())
    {
        fesetround(mode);
    }
    ~fa_emu_rounding()
    {
        fesetround(fa_before);
    }
};

/* R NAME(A...): RESULT of the operands */
#define FA_EMU_ROUNDED_1(R, NAME, MODE, A, RESULT) \
    inline R NAME(A fa_a)                          \
    {                                              \
        const fa_emu_rounding mode(MODE);          \
        const volatile A x = fa_a;                 \
        const volatile R result = RESULT;          \
                                                   \
        return result;                             \
    }
#define FA_EMU_ROUNDED_2(T, NAME, MODE, RESULT) \
    inline T NAME(T fa_a, T fa_b)               \
    {                                           \
        const fa_emu_rounding mode(MODE);       \
        const volatile T x = fa_a, y = fa_b;    \
        const volatile T result = RESULT;       \
                                                \
        return result;                          \
    }
#define FA_EMU_ROUNDED_3(T, NAME, MODE, RESULT)        \
    inline T NAME(T fa_a, T fa_b, T fa_c)              \
    {                                                  \
        const fa_emu_rounding mode(MODE);              \
        const volatile T x = fa_a, y = fa_b, z = fa_c; \
        const volatile T result = RESULT;              \
                                                       \
        return result;                                 \
    }

/* float (f) and double (d) in one direction */
#define FA_EMU_ROUNDED_ARITHMETIC(T, F, FMA, SQRT, FUSED, TO, MODE) \
    FA_EMU_ROUNDED_2(T, __##F##add_##TO, MODE, x + y)               \
    FA_EMU_ROUNDED_2(T, __##F##sub_##TO, MODE, x - y)               \
    FA_EMU_ROUNDED_2(T, __##F##mul_##TO, MODE, x *y)                \
    FA_EMU_ROUNDED_2(T, __##F##div_##TO, MODE, x / y)               \
    FA_EMU_ROUNDED_3(T, FMA##_##TO, MODE, FUSED(x, y, z))           \
    FA_EMU_ROUNDED_1(T, __##F##rcp_##TO, MODE, T, 1 / x)            \
    FA_EMU_ROUNDED_1(T, __##F##sqrt_##TO, MODE, T, SQRT(x))

#define FA_EMU_ROUNDED(TO, MODE)                                                     \
    FA_EMU_ROUNDED_ARITHMETIC(float, f, __fmaf, sqrtf, fmaf, TO, MODE)               \
    FA_EMU_ROUNDED_ARITHMETIC(double, d, __fma, sqrt, fma, TO, MODE)                 \
    FA_EMU_ROUNDED_1(float, __int2float_##TO, MODE, int, float(x))                   \
    FA_EMU_ROUNDED_1(float, __uint2float_##TO, MODE, unsigned, float(x))             \
    FA_EMU_ROUNDED_1(float, __ll2float_##TO, MODE, long long, float(x))              \
    FA_EMU_ROUNDED_1(float, __ull2float_##TO, MODE, unsigned long long, float(x))    \
    FA_EMU_ROUNDED_1(double, __ll2double_##TO, MODE, long long, double(x))           \
    FA_EMU_ROUNDED_1(double, __ull2double_##TO, MODE, unsigned long long, double(x)) \
    FA_EMU_ROUNDED_1(float, __double2float_##TO, MODE, double, float(x))

FA_EMU_ROUNDED(rz, FE_TOWARDZERO)
FA_EMU_ROUNDED(ru, FE_UPWARD)
FA_EMU_ROUNDED(rd, FE_DOWNWARD)

#endif
