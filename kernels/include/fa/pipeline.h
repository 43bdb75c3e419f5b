/* pipeline.h - asynchronous copies of plain kernels, for the emulation
 *
 * Those of <cuda_pipeline.h>, and memcpy_async() and wait() of cooperative groups.
 * Bytes arrive at the wait that covers them, and not before.
 */
#ifndef FA_PIPELINE_H
#define FA_PIPELINE_H

#include "fa/groups.h"

inline void __pipeline_memcpy_async(void *dst, const void *src, size_t bytes, size_t zeros = 0,
                                    fa_site at = fa_site::here())
{
    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
        fa_emu_trap(at);
    fa_emu_copy_async(dst, src, uint32_t(bytes), uint32_t(bytes - zeros), at);
}

inline void __pipeline_commit()
{
    fa_emu_cp_async_commit();
}

/* The instruction has at most 8. */
inline void __pipeline_wait_prior(size_t groups)
{
    fa_emu_cp_async_wait(groups < 8 ? int(groups) : 8);
}

namespace cooperative_groups
{

/* Each thread copies every so many parts of 'Bytes'; the rest is copied at once,
 * by the first one. */
template <unsigned Bytes, typename Group>
inline void fa_copy(const Group &group, char *dst, const char *src, size_t count, fa_site at)
{
    const size_t parts = count / Bytes;

    for (size_t i = group.thread_rank(); i < parts; i += group.size())
        fa_emu_copy_async(dst + i * Bytes, src + i * Bytes, Bytes, Bytes, at);
    if (group.thread_rank() == 0)
        memcpy(dst + parts * Bytes, src + parts * Bytes, count - parts * Bytes);
}

/* 'count' bytes */
template <typename Group, typename T>
inline void memcpy_async(const Group &group, T *dst, const T *src, size_t count,
                         fa_site at = fa_site::here())
{
    char *const to = reinterpret_cast<char *>(dst);
    const char *const from = reinterpret_cast<const char *>(src);
    const uintptr_t low = uintptr_t(to) | uintptr_t(from);

    if (low % 16 == 0)
        fa_copy<16>(group, to, from, count, at);
    else if (low % 8 == 0)
        fa_copy<8>(group, to, from, count, at);
    else if (low % 4 == 0)
        fa_copy<4>(group, to, from, count, at);
    else if (group.thread_rank() == 0)
        memcpy(to, from, count);
    fa_emu_cp_async_commit();
}

/* As many elements as both have. */
template <typename Group, typename T>
inline void memcpy_async(const Group &group, T *dst, size_t dst_count, const T *src,
                         size_t src_count, fa_site at = fa_site::here())
{
    memcpy_async(group, dst, src, (dst_count < src_count ? dst_count : src_count) * sizeof(T), at);
}

template <unsigned Stages, typename Group>
inline void wait_prior(const Group &group, fa_site at = fa_site::here())
{
    __pipeline_wait_prior(Stages);
    group.sync(at);
}

template <typename Group>
inline void wait(const Group &group, fa_site at = fa_site::here())
{
    wait_prior<0>(group, at);
}

} // namespace cooperative_groups

#endif
