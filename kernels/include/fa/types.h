/* types.h - the value types of the device primitives
 *
 * FA_AT and FA_ALSO_AT end a parameter list.  Under emulation they add the
 * place of the call as a defaulted argument, for messages and for comparing
 * the call sites of a warp; for nvcc they are empty.
 */
#ifndef FA_TYPES_H
#define FA_TYPES_H

#ifdef FA_EMULATION
#define FA_AT fa_site at = fa_site::here()
#define FA_ALSO_AT , FA_AT
#else
#define FA_AT
#define FA_ALSO_AT
#endif

namespace fa
{

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

/* IEEE binary16, as stored in memory.  Arithmetic is done in float (math.h). */
struct half {
    u16 bits;
};

/* Upper 16 bits of a binary32. */
struct bfloat16 {
    u16 bits;
};

/* What one 8- or 16-byte access moves; element 0 at the lowest address. */
struct alignas(8) vec8 {
    u32 x[2];
};

struct alignas(16) vec16 {
    u32 x[4];
};

/* An address in the block's shared memory, in bytes of the shared window.
 * A type of its own, so that it cannot be dereferenced: every access goes
 * through a wrapper. */
struct smem_addr {
    u32 byte;
};

__device__ __forceinline__ smem_addr operator+(smem_addr a, u32 bytes)
{
    return smem_addr{ a.byte + bytes };
}

__device__ __forceinline__ smem_addr operator^(smem_addr a, u32 bits)
{
    return smem_addr{ a.byte ^ bits };
}

} // namespace fa

#endif
