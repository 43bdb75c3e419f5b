/* groups.h - cooperative groups of one block, for the emulation
 *
 * Included before a kernel's macros, so that <cooperative_groups.h> has nothing in it.
 * Whole blocks, tiles of a warp, and lanes that are together; a grid without its
 * sync(), for which a launch would have to be a cooperative one.
 */
#ifndef FA_GROUPS_H
#define FA_GROUPS_H

#include "fa/builtins.h"
#include "fa/vectors.h"

inline unsigned fa_emu_thread_rank()
{
    const fa_emu_dim3 at = fa_emu_self->fa_thread_index, size = fa_emu_grid.fa_block;

    return (at.z * size.y + at.y) * size.x + at.x;
}

inline unsigned fa_emu_volume(fa_emu_dim3 size)
{
    return size.x * size.y * size.z;
}

/* The lanes of this thread's tile of 'width' lanes. */
inline unsigned fa_emu_tile_lanes(unsigned width)
{
    const unsigned lane = fa_emu_thread_rank() % 32;

    return (width == 32 ? ~0u : (1u << width) - 1) << (lane & ~(width - 1));
}

/* How many of them are before this thread. */
inline unsigned fa_emu_rank_in(unsigned lanes)
{
    return unsigned(__builtin_popcount(lanes & ((1u << fa_emu_thread_rank() % 32) - 1)));
}

/* The lane of that rank. */
inline unsigned fa_emu_lane_in(unsigned lanes, unsigned rank)
{
    const unsigned lane = __fns(lanes, 0, int(rank) + 1);

    return lane < 32 ? lane : fa_emu_thread_rank() % 32;
}

/* A vote of lanes, by their ranks. */
inline unsigned fa_emu_packed(unsigned lanes, unsigned votes)
{
    unsigned packed = 0;

    for (unsigned rank = 0; lanes; lanes &= lanes - 1, rank++)
        packed |= (votes >> __builtin_ctz(lanes) & 1) << rank;
    return packed;
}

namespace cooperative_groups
{

/* Any of them but a grid: the lanes of a warp, or the block without any. */
class thread_group
{
  protected:
    unsigned fa_lanes;

    explicit thread_group(unsigned lanes) : fa_lanes(lanes)
    {
    }
    friend thread_group tiled_partition(const thread_group &parent, unsigned width);

  public:
    unsigned long long size() const
    {
        return fa_lanes ? unsigned(__builtin_popcount(fa_lanes))
                        : fa_emu_volume(fa_emu_grid.fa_block);
    }
    unsigned long long num_threads() const
    {
        return size();
    }
    unsigned long long thread_rank() const
    {
        return fa_lanes ? fa_emu_rank_in(fa_lanes) : fa_emu_thread_rank();
    }
    void sync(fa_site at = fa_site::here()) const
    {
        if (fa_lanes)
            __syncwarp(fa_lanes, at);
        else
            __syncthreads(at);
    }
};

class thread_block : public thread_group
{
    thread_block() : thread_group(0)
    {
    }
    friend thread_block this_thread_block();

  public:
    static unsigned size()
    {
        return fa_emu_volume(fa_emu_grid.fa_block);
    }
    static unsigned num_threads()
    {
        return size();
    }
    static unsigned thread_rank()
    {
        return fa_emu_thread_rank();
    }
    static void sync(fa_site at = fa_site::here())
    {
        __syncthreads(at);
    }
    static dim3 group_index()
    {
        return fa_emu_grid.fa_block_index;
    }
    static dim3 thread_index()
    {
        return fa_emu_self->fa_thread_index;
    }
    static dim3 group_dim()
    {
        return fa_emu_grid.fa_block;
    }
    static dim3 dim_threads()
    {
        return fa_emu_grid.fa_block;
    }
};

inline thread_block this_thread_block()
{
    return thread_block();
}

class grid_group
{
    grid_group()
    {
    }
    friend grid_group this_grid();

  public:
    static dim3 group_dim()
    {
        return fa_emu_grid.fa_grid;
    }
    static dim3 dim_blocks()
    {
        return fa_emu_grid.fa_grid;
    }
    static dim3 block_index()
    {
        return fa_emu_grid.fa_block_index;
    }
    static unsigned long long num_blocks()
    {
        return 1ull * fa_emu_grid.fa_grid.x * fa_emu_grid.fa_grid.y * fa_emu_grid.fa_grid.z;
    }
    static unsigned long long block_rank()
    {
        const fa_emu_dim3 at = fa_emu_grid.fa_block_index, size = fa_emu_grid.fa_grid;

        return (1ull * at.z * size.y + at.y) * size.x + at.x;
    }
    static unsigned long long size()
    {
        return num_blocks() * thread_block::size();
    }
    static unsigned long long num_threads()
    {
        return size();
    }
    static unsigned long long thread_rank()
    {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
};

inline grid_group this_grid()
{
    return grid_group();
}

/* What tiles and lanes have in common: ranks are those of the group. */
class fa_lanes_group : public thread_group
{
  protected:
    using thread_group::thread_group;

    /* In words, if it is larger than what a shuffle moves. */
    template <typename T>
    T fa_from_lane(T v, unsigned lane, fa_site at) const
    {
        static_assert(sizeof(T) <= 32, "a shuffle of a group moves at most 32 bytes");
        uint64_t words[(sizeof(T) + 7) / 8] = {};

        memcpy(words, &v, sizeof(T));
        for (uint64_t &word : words)
            word = __shfl_sync(fa_lanes, word, int(lane), 32, at);
        memcpy(static_cast<void *>(&v), words, sizeof(T));
        return v;
    }
    template <typename T>
    T fa_from(T v, unsigned rank, fa_site at) const
    {
        return fa_from_lane(v, fa_emu_lane_in(fa_lanes, rank), at);
    }

  public:
    unsigned fa_mask() const
    {
        return fa_lanes;
    }
    unsigned size() const
    {
        return unsigned(__builtin_popcount(fa_lanes));
    }
    unsigned num_threads() const
    {
        return size();
    }
    unsigned thread_rank() const
    {
        return fa_emu_rank_in(fa_lanes);
    }
    template <typename T>
    T shfl(T v, unsigned rank, fa_site at = fa_site::here()) const
    {
        return fa_from(v, rank % size(), at);
    }
    template <typename T>
    T shfl_down(T v, unsigned by, fa_site at = fa_site::here()) const
    {
        const unsigned own = thread_rank();

        return fa_from(v, own + by < size() ? own + by : own, at);
    }
    template <typename T>
    T shfl_up(T v, unsigned by, fa_site at = fa_site::here()) const
    {
        const unsigned own = thread_rank();

        return fa_from(v, own >= by ? own - by : own, at);
    }
    int any(int p, fa_site at = fa_site::here()) const
    {
        return __any_sync(fa_lanes, p, at);
    }
    int all(int p, fa_site at = fa_site::here()) const
    {
        return __all_sync(fa_lanes, p, at);
    }
    unsigned ballot(int p, fa_site at = fa_site::here()) const
    {
        return fa_emu_packed(fa_lanes, __ballot_sync(fa_lanes, p, at));
    }
    template <typename T>
    unsigned match_any(T v, fa_site at = fa_site::here()) const
    {
        return fa_emu_packed(fa_lanes, __match_any_sync(fa_lanes, v, at));
    }
    template <typename T>
    unsigned match_all(T v, int &all_match, fa_site at = fa_site::here()) const
    {
        return fa_emu_packed(fa_lanes, __match_all_sync(fa_lanes, v, &all_match, at));
    }
};

class coalesced_group : public fa_lanes_group
{
    using fa_lanes_group::fa_lanes_group;
    friend coalesced_group fa_coalesced(unsigned lanes);
};

inline coalesced_group fa_coalesced(unsigned lanes)
{
    return coalesced_group(lanes);
}

inline coalesced_group coalesced_threads(fa_site at = fa_site::here())
{
    return fa_coalesced(__activemask(at));
}

/* The lanes of a group that have the same number. */
template <typename T>
inline coalesced_group labeled_partition(const fa_lanes_group &group, T label,
                                         fa_site at = fa_site::here())
{
    return fa_coalesced(__match_any_sync(group.fa_mask(), label, at));
}

inline coalesced_group binary_partition(const fa_lanes_group &group, bool side,
                                        fa_site at = fa_site::here())
{
    return labeled_partition(group, side, at);
}

template <unsigned Width, typename Parent = void>
class thread_block_tile;

template <unsigned Width>
class thread_block_tile<Width, void> : public fa_lanes_group
{
    static_assert(Width >= 1 && Width <= 32 && (Width & (Width - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads here");

  protected:
    thread_block_tile() : fa_lanes_group(fa_emu_tile_lanes(Width))
    {
    }

  public:
    static constexpr unsigned size()
    {
        return Width;
    }
    static constexpr unsigned num_threads()
    {
        return Width;
    }
    static unsigned thread_rank()
    {
        return fa_emu_thread_rank() % Width;
    }
    static unsigned meta_group_rank()
    {
        return fa_emu_thread_rank() / Width;
    }
    static unsigned meta_group_size()
    {
        return (thread_block::size() + Width - 1) / Width;
    }
    template <typename T>
    T shfl_xor(T v, unsigned lanes, fa_site at = fa_site::here()) const
    {
        return this->fa_from_lane(v, (fa_emu_thread_rank() ^ lanes % Width) % 32, at);
    }
};

template <unsigned Width, typename Parent>
class thread_block_tile : public thread_block_tile<Width>
{
    thread_block_tile()
    {
    }
    template <unsigned Of>
    friend thread_block_tile<Of, thread_block> tiled_partition(const thread_block &);
    template <unsigned Of, unsigned Larger, typename Any>
    friend thread_block_tile<Of, thread_block_tile<Larger>>
    tiled_partition(const thread_block_tile<Larger, Any> &);
};

/* Of a tile: its place is that in its parent. */
template <unsigned Width, unsigned Larger>
class thread_block_tile<Width, thread_block_tile<Larger>> : public thread_block_tile<Width>
{
    static_assert(Width <= Larger, "a tile is no larger than what it is a part of");
    thread_block_tile()
    {
    }
    template <unsigned Of, unsigned From, typename Any>
    friend thread_block_tile<Of, thread_block_tile<From>>
    tiled_partition(const thread_block_tile<From, Any> &);

  public:
    static unsigned meta_group_rank()
    {
        return fa_emu_thread_rank() % Larger / Width;
    }
    static constexpr unsigned meta_group_size()
    {
        return Larger / Width;
    }
};

template <unsigned Width>
thread_block_tile<Width, thread_block> tiled_partition(const thread_block &)
{
    return thread_block_tile<Width, thread_block>();
}

template <unsigned Width, unsigned Larger, typename Any>
thread_block_tile<Width, thread_block_tile<Larger>>
tiled_partition(const thread_block_tile<Larger, Any> &)
{
    return thread_block_tile<Width, thread_block_tile<Larger>>();
}

/* A width that is known when the kernel runs. */
inline thread_group tiled_partition(const thread_group &, unsigned width)
{
    return thread_group(fa_emu_tile_lanes(width));
}

template <typename Group>
inline void sync(const Group &group, fa_site at = fa_site::here())
{
    group.sync(at);
}

#define FA_EMU_OPERATOR(NAME, RESULT)              \
    template <typename T>                          \
    struct NAME {                                  \
        T operator()(const T &a, const T &b) const \
        {                                          \
            return RESULT;                         \
        }                                          \
    };

FA_EMU_OPERATOR(plus, a + b)
FA_EMU_OPERATOR(less, b < a ? b : a)
FA_EMU_OPERATOR(greater, a < b ? b : a)
FA_EMU_OPERATOR(bit_and, a &b)
FA_EMU_OPERATOR(bit_or, a | b)
FA_EMU_OPERATOR(bit_xor, a ^ b)

/* What the lanes of a group have. */
template <typename T>
class fa_all
{
    static constexpr unsigned n_words = (sizeof(T) + 7) / 8;
    fa_emu_gather words[n_words];

  public:
    fa_all(const fa_lanes_group &group, const T &v, fa_site at)
    {
        uint64_t own[n_words] = {};

        memcpy(own, &v, sizeof(T));
        for (unsigned i = 0; i < n_words; i++)
            words[i] = fa_emu_gathered(group.fa_mask(), own[i], at);
    }
    unsigned lanes() const
    {
        return words[0].lanes;
    }
    T of(unsigned lane) const
    {
        uint64_t its[n_words];
        T v;

        for (unsigned i = 0; i < n_words; i++)
            its[i] = words[i].values[lane];
        memcpy(static_cast<void *>(&v), its, sizeof(T));
        return v;
    }
    /* The values of these lanes, in order of rank. */
    template <typename Operator>
    T folded(unsigned of_lanes, Operator op) const
    {
        T sum = of(unsigned(__builtin_ctz(of_lanes)));

        for (of_lanes &= of_lanes - 1; of_lanes; of_lanes &= of_lanes - 1)
            sum = op(sum, of(unsigned(__builtin_ctz(of_lanes))));
        return sum;
    }
};

template <typename T, typename Operator>
inline T reduce(const fa_lanes_group &group, T v, Operator op, fa_site at = fa_site::here())
{
    const fa_all<T> all(group, v, at);

    return all.folded(all.lanes(), op);
}

template <typename T, typename Operator>
inline T inclusive_scan(const fa_lanes_group &group, T v, Operator op, fa_site at = fa_site::here())
{
    const fa_all<T> all(group, v, at);
    const unsigned own = 1u << fa_emu_thread_rank() % 32;

    return all.folded(all.lanes() & (own | (own - 1)), op);
}

template <typename T>
inline T inclusive_scan(const fa_lanes_group &group, T v, fa_site at = fa_site::here())
{
    return inclusive_scan(group, v, plus<T>(), at);
}

/* The first lane has T() for a result. */
template <typename T, typename Operator>
inline T exclusive_scan(const fa_lanes_group &group, T v, Operator op, fa_site at = fa_site::here())
{
    const fa_all<T> all(group, v, at);
    const unsigned before = all.lanes() & ((1u << fa_emu_thread_rank() % 32) - 1);

    return before ? all.folded(before, op) : T();
}

template <typename T>
inline T exclusive_scan(const fa_lanes_group &group, T v, fa_site at = fa_site::here())
{
    return exclusive_scan(group, v, plus<T>(), at);
}

} // namespace cooperative_groups

#endif
