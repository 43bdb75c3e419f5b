/* cub.h - CUB's reductions and scans of blocks and warps, for the emulation
 *
 * Lanes fold in order of their numbers, then warps do.  Results that CUB does not
 * define, such as a sum for other threads than the first one, have all bits set.
 * As with CUB, the storage is free for others after a barrier.
 */
#ifndef FA_CUB_H
#define FA_CUB_H

#include "fa/groups.h"

namespace cub
{

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm {
    BLOCK_SCAN_RAKING,
    BLOCK_SCAN_RAKING_MEMOIZE,
    BLOCK_SCAN_WARP_SCANS
};

#define FA_EMU_CUB_OPERATOR(NAME, RESULT)          \
    struct NAME {                                  \
        template <typename T>                      \
        T operator()(const T &a, const T &b) const \
        {                                          \
            return RESULT;                         \
        }                                          \
    };
FA_EMU_CUB_OPERATOR(Sum, a + b)
FA_EMU_CUB_OPERATOR(Max, a < b ? b : a)
FA_EMU_CUB_OPERATOR(Min, b < a ? b : a)

template <typename T>
inline T fa_undefined(T v)
{
    memset(static_cast<void *>(&v), 0xff, sizeof(v));
    return v;
}

/* A value a warp. */
template <typename T>
struct fa_storage {
    alignas(T) unsigned char fa_bytes[32][sizeof(T)];

    void fa_put(unsigned warp, const T &v)
    {
        memcpy(fa_bytes[warp], &v, sizeof(T));
    }
    T fa_get(unsigned warp, T v) const
    {
        memcpy(static_cast<void *>(&v), fa_bytes[warp], sizeof(T));
        return v;
    }
};

/* What a thread needs to know of a scan. */
template <typename T>
struct fa_scanned {
    T inclusive, before, total;
    bool is_first; /* it has no predecessor */
};

/* Of this thread's tile of 'Width' lanes; 'own' is its place there. */
template <int Width, typename T, typename Operator>
inline fa_scanned<T> fa_scan_tile(T v, Operator op, unsigned own, fa_site at)
{
    const cooperative_groups::fa_all<T> all(
        cooperative_groups::tiled_partition<Width>(cooperative_groups::this_thread_block()), v, at);
    const unsigned bit = 1u << fa_emu_thread_rank() % 32;
    const unsigned before = all.lanes() & (bit - 1);

    return { all.folded(before | bit, op), own ? all.folded(before, op) : v,
             all.folded(all.lanes(), op), own == 0 };
}

template <typename T, typename Operator>
inline fa_scanned<T> fa_scan_block(fa_storage<T> &storage, T v, Operator op, fa_site at)
{
    const unsigned rank = fa_emu_thread_rank(), warp = rank / 32;
    const unsigned warps = (fa_emu_volume(fa_emu_grid.fa_block) + 31) / 32;
    fa_scanned<T> r = fa_scan_tile<32>(v, op, rank % 32, at);

    if (rank % 32 == 0)
        storage.fa_put(warp, r.total);
    __syncthreads(at);
    T total = storage.fa_get(0, v);
    for (unsigned w = 1; w < warps; w++) {
        if (w == warp) {
            r.before = r.is_first ? total : op(total, r.before);
            r.inclusive = op(total, r.inclusive);
        }
        total = op(total, storage.fa_get(w, v));
    }
    r.total = total;
    r.is_first = rank == 0;
    return r;
}

template <typename T, int N, typename Operator>
inline T fa_fold(const T (&v)[N], Operator op)
{
    T sum = v[0];

    for (int i = 1; i < N; i++)
        sum = op(sum, v[i]);
    return sum;
}

template <typename T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1,
          int Z = 1, int Unused = 0>
class BlockReduce
{
  public:
    using TempStorage = fa_storage<T>;

  private:
    TempStorage &fa_own;

  public:
    explicit BlockReduce(TempStorage &storage) : fa_own(storage)
    {
    }
    /* Of the first 'valid' threads. */
    template <typename Operator>
    T Reduce(T v, Operator op, int valid, fa_site at = fa_site::here())
    {
        const unsigned rank = fa_emu_thread_rank(), first = rank / 32 * 32;
        const unsigned left = unsigned(valid) > first ? unsigned(valid) - first : 0;
        const cooperative_groups::fa_all<T> all(
            cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block()), v,
            at);
        const unsigned lanes = all.lanes() & (left < 32 ? (1u << left) - 1 : ~0u);

        if (rank % 32 == 0 && lanes)
            fa_own.fa_put(rank / 32, all.folded(lanes, op));
        __syncthreads(at);
        if (rank != 0)
            return fa_undefined(v);
        T sum = fa_own.fa_get(0, v);
        for (unsigned w = 1; w * 32 < unsigned(valid); w++)
            sum = op(sum, fa_own.fa_get(w, v));
        return sum;
    }
    template <typename Operator>
    T Reduce(T v, Operator op, fa_site at = fa_site::here())
    {
        return Reduce(v, op, X * Y * Z, at);
    }
    template <int N, typename Operator>
    T Reduce(T (&v)[N], Operator op, fa_site at = fa_site::here())
    {
        return Reduce(fa_fold(v, op), op, X * Y * Z, at);
    }
    T Sum(T v, fa_site at = fa_site::here())
    {
        return Reduce(v, cub::Sum(), X * Y * Z, at);
    }
    T Sum(T v, int valid, fa_site at = fa_site::here())
    {
        return Reduce(v, cub::Sum(), valid, at);
    }
    template <int N>
    T Sum(T (&v)[N], fa_site at = fa_site::here())
    {
        return Reduce(v, cub::Sum(), at);
    }
};

/* What BlockScan and WarpScan have in common: 'Scan' has fa_scan(v, op, at). */
template <typename T, typename Scan>
class fa_scans
{
    template <typename Operator>
    fa_scanned<T> fa_of(T v, Operator op, fa_site at)
    {
        return static_cast<Scan *>(this)->fa_scan(v, op, at);
    }

  public:
    template <typename Operator>
    void InclusiveScan(T v, T &out, Operator op, fa_site at = fa_site::here())
    {
        out = fa_of(v, op, at).inclusive;
    }
    template <typename Operator>
    void InclusiveScan(T v, T &out, Operator op, T &total, fa_site at = fa_site::here())
    {
        const fa_scanned<T> r = fa_of(v, op, at);

        out = r.inclusive;
        total = r.total;
    }
    template <typename Operator>
    void ExclusiveScan(T v, T &out, Operator op, fa_site at = fa_site::here())
    {
        const fa_scanned<T> r = fa_of(v, op, at);

        out = r.is_first ? fa_undefined(v) : r.before;
    }
    template <typename Operator>
    void ExclusiveScan(T v, T &out, T first, Operator op, T &total, fa_site at = fa_site::here())
    {
        const fa_scanned<T> r = fa_of(v, op, at);

        out = r.is_first ? first : op(first, r.before);
        total = r.total;
    }
    template <typename Operator>
    void ExclusiveScan(T v, T &out, T first, Operator op, fa_site at = fa_site::here())
    {
        T total;

        ExclusiveScan(v, out, first, op, total, at);
    }
    void InclusiveSum(T v, T &out, fa_site at = fa_site::here())
    {
        InclusiveScan(v, out, cub::Sum(), at);
    }
    void InclusiveSum(T v, T &out, T &total, fa_site at = fa_site::here())
    {
        InclusiveScan(v, out, cub::Sum(), total, at);
    }
    void ExclusiveSum(T v, T &out, fa_site at = fa_site::here())
    {
        ExclusiveScan(v, out, T(), cub::Sum(), at);
    }
    void ExclusiveSum(T v, T &out, T &total, fa_site at = fa_site::here())
    {
        ExclusiveScan(v, out, T(), cub::Sum(), total, at);
    }
    /* 'v' and 'out' may be the same. */
    template <int N>
    void ExclusiveSum(T (&v)[N], T (&out)[N], T &total, fa_site at = fa_site::here())
    {
        T sum;

        ExclusiveSum(fa_fold(v, cub::Sum()), sum, total, at);
        for (int i = 0; i < N; i++) {
            const T next = sum + v[i];

            out[i] = sum;
            sum = next;
        }
    }
    template <int N>
    void InclusiveSum(T (&v)[N], T (&out)[N], T &total, fa_site at = fa_site::here())
    {
        T sum;

        ExclusiveSum(fa_fold(v, cub::Sum()), sum, total, at);
        for (int i = 0; i < N; i++)
            out[i] = sum = sum + v[i];
    }
    template <int N>
    void ExclusiveSum(T (&v)[N], T (&out)[N], fa_site at = fa_site::here())
    {
        T total;

        ExclusiveSum(v, out, total, at);
    }
    template <int N>
    void InclusiveSum(T (&v)[N], T (&out)[N], fa_site at = fa_site::here())
    {
        T total;

        InclusiveSum(v, out, total, at);
    }
};

template <typename T>
class fa_block_scan : public fa_scans<T, fa_block_scan<T>>
{
    fa_storage<T> &fa_own;

  public:
    explicit fa_block_scan(fa_storage<T> &storage) : fa_own(storage)
    {
    }
    template <typename Operator>
    fa_scanned<T> fa_scan(T v, Operator op, fa_site at)
    {
        return fa_scan_block(fa_own, v, op, at);
    }
};

template <typename T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1,
          int Unused = 0>
class BlockScan : public fa_block_scan<T>
{
  public:
    using TempStorage = fa_storage<T>;

    explicit BlockScan(TempStorage &storage) : fa_block_scan<T>(storage)
    {
    }
};

/* A warp needs no storage. */
struct fa_no_storage {
    char fa_byte;
};

template <typename T, int Width = 32, int Unused = 0>
class WarpScan : public fa_scans<T, WarpScan<T, Width, Unused>>
{
  public:
    using TempStorage = fa_no_storage;

    explicit WarpScan(TempStorage &)
    {
    }
    template <typename Operator>
    fa_scanned<T> fa_scan(T v, Operator op, fa_site at)
    {
        return fa_scan_tile<Width>(v, op, fa_emu_thread_rank() % Width, at);
    }
};

template <typename T, int Width = 32, int Unused = 0>
class WarpReduce
{
  public:
    using TempStorage = fa_no_storage;

    explicit WarpReduce(TempStorage &)
    {
    }
    template <typename Operator>
    T Reduce(T v, Operator op, fa_site at = fa_site::here())
    {
        const fa_scanned<T> r = fa_scan_tile<Width>(v, op, fa_emu_thread_rank() % Width, at);

        return r.is_first ? r.total : fa_undefined(v);
    }
    T Sum(T v, fa_site at = fa_site::here())
    {
        return Reduce(v, cub::Sum(), at);
    }
};

} // namespace cub

#endif
