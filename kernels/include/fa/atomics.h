/* atomics.h - CUDA's atomic operations, for the emulation
 *
 * For the types that nvcc has, with the suffixes _block and _system.  One fiber
 * runs at a time, so a plain read and write is atomic.  A thread that does many
 * without a barrier may be waiting for another one, so it lets others run.
 */
#ifndef FA_ATOMICS_H
#define FA_ATOMICS_H

#include "fa/builtins.h"
#include "fa/vectors.h"

template <typename T>
inline void fa_emu_atomic(const T *p, fa_site at)
{
    if (fa_emu_grid.watched)
        fa_emu_meet(p, sizeof(T));
    fa_emu_may_wait(at);
}

/* Sums of floats depend on the order in which they are added. */
template <typename T>
inline T fa_emu_atomic_sum(T *p, T v, fa_site at)
{
    const T old = *p;

    fa_emu_unordered(p);
    *p = T(old + v);
    fa_emu_atomic(p, at);
    return old;
}

/* NAME(p, v) is one read and one write: *p = NEXT, of 'old' and 'v'. */
#define FA_EMU_ATOMIC_OF(NAME, T, NEXT)                    \
    inline T NAME(T *p, T v, fa_site at = fa_site::here()) \
    {                                                      \
        const T old = *p;                                  \
                                                           \
        *p = NEXT;                                         \
        fa_emu_atomic(p, at);                              \
        return old;                                        \
    }
#define FA_EMU_ATOMIC(NAME, T, NEXT)        \
    FA_EMU_ATOMIC_OF(NAME, T, NEXT)         \
    FA_EMU_ATOMIC_OF(NAME##_block, T, NEXT) \
    FA_EMU_ATOMIC_OF(NAME##_system, T, NEXT)
#define FA_EMU_ATOMIC_INTEGERS(NAME, NEXT) \
    FA_EMU_ATOMIC(NAME, int, NEXT)         \
    FA_EMU_ATOMIC(NAME, unsigned, NEXT)    \
    FA_EMU_ATOMIC(NAME, unsigned long long, NEXT)

#define FA_EMU_ATOMIC_SUM(T)                                           \
    inline T atomicAdd(T *p, T v, fa_site at = fa_site::here())        \
    {                                                                  \
        return fa_emu_atomic_sum(p, v, at);                            \
    }                                                                  \
    inline T atomicAdd_block(T *p, T v, fa_site at = fa_site::here())  \
    {                                                                  \
        return fa_emu_atomic_sum(p, v, at);                            \
    }                                                                  \
    inline T atomicAdd_system(T *p, T v, fa_site at = fa_site::here()) \
    {                                                                  \
        return fa_emu_atomic_sum(p, v, at);                            \
    }

/* Signed numbers wrap around too. */
FA_EMU_ATOMIC(atomicAdd, int, int(unsigned(old) + unsigned(v)))
FA_EMU_ATOMIC(atomicAdd, unsigned, old + v)
FA_EMU_ATOMIC(atomicAdd, unsigned long long, old + v)
FA_EMU_ATOMIC_SUM(float)
FA_EMU_ATOMIC_SUM(double)

/* Each element for itself. */
inline float2 atomicAdd(float2 *p, float2 v, fa_site at = fa_site::here())
{
    return { fa_emu_atomic_sum(&p->x, v.x, at), fa_emu_atomic_sum(&p->y, v.y, at) };
}

inline float4 atomicAdd(float4 *p, float4 v, fa_site at = fa_site::here())
{
    return { fa_emu_atomic_sum(&p->x, v.x, at), fa_emu_atomic_sum(&p->y, v.y, at),
             fa_emu_atomic_sum(&p->z, v.z, at), fa_emu_atomic_sum(&p->w, v.w, at) };
}

FA_EMU_ATOMIC(atomicSub, int, int(unsigned(old) - unsigned(v)))
FA_EMU_ATOMIC(atomicSub, unsigned, old - v)
FA_EMU_ATOMIC_INTEGERS(atomicMin, v < old ? v : old)
FA_EMU_ATOMIC(atomicMin, long long, v < old ? v : old)
FA_EMU_ATOMIC_INTEGERS(atomicMax, old < v ? v : old)
FA_EMU_ATOMIC(atomicMax, long long, old < v ? v : old)
FA_EMU_ATOMIC_INTEGERS(atomicAnd, old &v)
FA_EMU_ATOMIC_INTEGERS(atomicOr, old | v)
FA_EMU_ATOMIC_INTEGERS(atomicXor, old ^ v)
/* The last one wins. */
FA_EMU_ATOMIC_INTEGERS(atomicExch, (fa_emu_exchange(p), v))
FA_EMU_ATOMIC(atomicExch, float, (fa_emu_exchange(p), v))
FA_EMU_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
FA_EMU_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)

/* Loops of it sum floats of types that have no atomicAdd. */
#define FA_EMU_ATOMIC_CAS_OF(NAME, T)                                        \
    inline T NAME(T *p, T expected, T desired, fa_site at = fa_site::here()) \
    {                                                                        \
        const T old = *p;                                                    \
                                                                             \
        fa_emu_exchange(p);                                                  \
        if (old == expected)                                                 \
            *p = desired;                                                    \
        fa_emu_atomic(p, at);                                                \
        return old;                                                          \
    }
#define FA_EMU_ATOMIC_CAS(T)                 \
    FA_EMU_ATOMIC_CAS_OF(atomicCAS, T)       \
    FA_EMU_ATOMIC_CAS_OF(atomicCAS_block, T) \
    FA_EMU_ATOMIC_CAS_OF(atomicCAS_system, T)

FA_EMU_ATOMIC_CAS(int)
FA_EMU_ATOMIC_CAS(unsigned)
FA_EMU_ATOMIC_CAS(unsigned long long)
FA_EMU_ATOMIC_CAS(unsigned short)

#endif
