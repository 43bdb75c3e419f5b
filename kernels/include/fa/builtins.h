/* builtins.h - what nvcc declares by itself for a warp and a block, for the
 * emulation: barriers, shuffles, votes, fences, cached loads and stores
 *
 * Warp functions take any mask: the lanes that it names wait for each other, at
 * one place of the source, but for those of __syncwarp().
 */
#ifndef FA_BUILTINS_H
#define FA_BUILTINS_H

#include "fa/emulator.h"

inline void __syncthreads(fa_site at = fa_site::here())
{
    fa_emu_barrier_votes(false, at); /* without threads that have ended */
}

inline int __syncthreads_count(int p, fa_site at = fa_site::here())
{
    return int(fa_emu_barrier_votes(p != 0, at));
}

inline int __syncthreads_or(int p, fa_site at = fa_site::here())
{
    return fa_emu_barrier_votes(p != 0, at) != 0;
}

inline int __syncthreads_and(int p, fa_site at = fa_site::here())
{
    return fa_emu_barrier_votes(p == 0, at) == 0;
}

inline void __syncwarp(unsigned mask = FA_EMU_ALL, fa_site at = fa_site::here())
{
    fa_emu_collective_of(FA_EMU_SYNCWARP, mask, nullptr, at);
}

inline unsigned __activemask(fa_site at = fa_site::here())
{
    return fa_emu_active_lanes(at);
}

/* Called where a loop may wait for another thread. */
inline void fa_emu_may_wait(fa_site at)
{
    if (fa_emu_grid.atomics_left-- == 0)
        fa_emu_spin(at);
}

template <typename T>
inline T fa_emu_shuffled(int operation, unsigned mask, T v, unsigned lane, int width, fa_site at)
{
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    fa_emu_shfl operand = { 0, lane, unsigned(width) };

    if (width < 1 || width > 32 || (width & (width - 1)) != 0)
        fa_emu_trap(at);
    memcpy(&operand.value, &v, sizeof(T));
    fa_emu_collective_of(operation, mask, &operand, at);
    memcpy(static_cast<void *>(&v), &operand.value, sizeof(T));
    return v;
}

template <typename T>
inline T __shfl_sync(unsigned mask, T v, int lane, int width = 32, fa_site at = fa_site::here())
{
    return fa_emu_shuffled(FA_EMU_SHFL_IDX, mask, v, unsigned(lane), width, at);
}

template <typename T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32,
                        fa_site at = fa_site::here())
{
    return fa_emu_shuffled(FA_EMU_SHFL_UP, mask, v, delta, width, at);
}

template <typename T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32,
                          fa_site at = fa_site::here())
{
    return fa_emu_shuffled(FA_EMU_SHFL_DOWN, mask, v, delta, width, at);
}

template <typename T>
inline T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32,
                         fa_site at = fa_site::here())
{
    return fa_emu_shuffled(FA_EMU_SHFL_XOR, mask, v, unsigned(lanes), width, at);
}

inline unsigned __ballot_sync(unsigned mask, int p, fa_site at = fa_site::here())
{
    fa_emu_shfl operand = { p != 0, 0, 32 };

    fa_emu_collective_of(FA_EMU_BALLOT, mask, &operand, at);
    fa_emu_may_wait(at);
    return unsigned(operand.value);
}

inline int __any_sync(unsigned mask, int p, fa_site at = fa_site::here())
{
    return __ballot_sync(mask, p, at) != 0;
}

inline int __all_sync(unsigned mask, int p, fa_site at = fa_site::here())
{
    return __ballot_sync(mask, !p, at) == 0;
}

template <typename T>
inline fa_emu_gather fa_emu_gathered(unsigned mask, T v, fa_site at)
{
    static_assert(sizeof(T) <= 8, "a value of at most 8 bytes");
    fa_emu_gather all;

    all.value = 0;
    memcpy(&all.value, &v, sizeof(T));
    fa_emu_collective_of(FA_EMU_GATHER, mask, &all, at);
    return all;
}

template <typename T>
inline unsigned __match_any_sync(unsigned mask, T v, fa_site at = fa_site::here())
{
    const fa_emu_gather all = fa_emu_gathered(mask, v, at);
    unsigned same = 0;

    for (unsigned i = 0; i < 32; i++)
        if ((all.lanes >> i & 1) && all.values[i] == all.value)
            same |= 1u << i;
    return same;
}

template <typename T>
inline unsigned __match_all_sync(unsigned mask, T v, int *all_match, fa_site at = fa_site::here())
{
    const fa_emu_gather all = fa_emu_gathered(mask, v, at);

    *all_match = 1;
    for (unsigned i = 0; i < 32; i++)
        if ((all.lanes >> i & 1) && all.values[i] != all.value)
            *all_match = 0;
    return *all_match ? all.lanes : 0;
}

/* NAME(mask, v): NEXT, of 'sum' and the value 'x' of each other lane */
#define FA_EMU_REDUCE(NAME, T, NEXT)                                                \
    inline T NAME(unsigned mask, T v, fa_site at = fa_site::here())                 \
    {                                                                               \
        const fa_emu_gather all = fa_emu_gathered(mask, v, at);                     \
        T sum = T(all.values[__builtin_ctz(all.lanes)]);                            \
                                                                                    \
        for (unsigned left = all.lanes & (all.lanes - 1); left; left &= left - 1) { \
            const T x = T(all.values[__builtin_ctz(left)]);                         \
                                                                                    \
            sum = NEXT;                                                             \
        }                                                                           \
        return sum;                                                                 \
    }

FA_EMU_REDUCE(__reduce_add_sync, unsigned, sum + x)
FA_EMU_REDUCE(__reduce_add_sync, int, int(unsigned(sum) + unsigned(x)))
FA_EMU_REDUCE(__reduce_min_sync, unsigned, x < sum ? x : sum)
FA_EMU_REDUCE(__reduce_min_sync, int, x < sum ? x : sum)
FA_EMU_REDUCE(__reduce_max_sync, unsigned, sum < x ? x : sum)
FA_EMU_REDUCE(__reduce_max_sync, int, sum < x ? x : sum)
FA_EMU_REDUCE(__reduce_and_sync, unsigned, sum &x)
FA_EMU_REDUCE(__reduce_or_sync, unsigned, sum | x)
FA_EMU_REDUCE(__reduce_xor_sync, unsigned, sum ^ x)

/* Cache hints: the emulation has no cache. */
#define FA_EMU_LOAD(NAME)     \
    template <typename T>     \
    inline T NAME(const T *p) \
    {                         \
        return *p;            \
    }
#define FA_EMU_STORE(NAME)                                   \
    template <typename T>                                    \
    inline void NAME(T *p, typename fa_emu_value<T>::type v) \
    {                                                        \
        *p = v;                                              \
    }

/* What another block may have changed. */
#define FA_EMU_LOAD_AGAIN(NAME)                             \
    template <typename T>                                   \
    inline T NAME(const T *p, fa_site at = fa_site::here()) \
    {                                                       \
        fa_emu_may_wait(at);                                \
        return *p;                                          \
    }

FA_EMU_LOAD(__ldg)
FA_EMU_LOAD(__ldca)
FA_EMU_LOAD(__ldcs)
FA_EMU_LOAD(__ldlu)
FA_EMU_LOAD_AGAIN(__ldcg)
FA_EMU_LOAD_AGAIN(__ldcv)
FA_EMU_STORE(__stwb)
FA_EMU_STORE(__stcg)
FA_EMU_STORE(__stcs)
FA_EMU_STORE(__stwt)

/* The place of the n-th bit that is set, from 'base' on upwards, or with n < 0
 * downwards; ~0 if no such bit is set.  With 0 it is 'base', if that is set. */
inline unsigned __fns(unsigned mask, unsigned base, int n)
{
    const int step = n < 0 ? -1 : 1;
    int left = n < 0 ? -n : n;

    if (n == 0)
        return mask >> (base & 31) & 1 ? base : ~0u;
    for (int i = int(base); i >= 0 && i < 32; i += step)
        if ((mask >> i & 1) && --left == 0)
            return unsigned(i);
    return ~0u;
}

inline void __threadfence_block(fa_site at = fa_site::here())
{
    asm volatile("" ::: "memory");
    if (fa_emu_grid.apart)
        fa_emu_take_turns();
    fa_emu_may_wait(at);
}

inline void __threadfence(fa_site at = fa_site::here())
{
    fa_emu_grid.fenced = 1;
    __threadfence_block(at);
}

inline void __threadfence_system(fa_site at = fa_site::here())
{
    __threadfence(at);
}

inline void __nanosleep(unsigned, fa_site at = fa_site::here())
{
    fa_emu_spin(at);
}

inline void __trap(fa_site at = fa_site::here())
{
    fa_emu_trap(at);
}

#endif
