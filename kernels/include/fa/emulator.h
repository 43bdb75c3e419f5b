/* emulator.h - what a kernel built for the cpu device calls in fa-runner
 *
 * The kernel is a shared object with these symbols undefined; fa-runner, which
 * holds the emulator (worker/runner/emulator/), exports them.  A function that
 * finds the kernel at fault does not return: the launch ends with a message.
 *
 * FA_EMU_ABI changes whenever a declaration here does.
 */
#ifndef FA_EMULATOR_H
#define FA_EMULATOR_H

#include <stdint.h>
#include <string.h>

#define FA_EMU_ABI 7
#define FA_EMU_SMEM_BASE 1024u /* not zero, as on a device: finds offsets used as addresses */

/* The place of a call in the kernel's source. */
struct fa_site {
    const char *file;
    int line;

    static constexpr fa_site here(const char *file = __builtin_FILE(), int line = __builtin_LINE())
    {
        return { file, line };
    }
};

struct fa_emu_dim3 {
    unsigned x = 1, y = 1, z = 1;

    constexpr fa_emu_dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

/* Macros of emulation.h name these: no macro of a kernel may have their names. */
struct fa_emu_grid_state {
    fa_emu_dim3 fa_grid, fa_block, fa_block_index;
    uint32_t atomics_left; /* until a thread that does nothing else lets others run */
    /* This launch did atomics outside of arrays whose result depends on their
     * order; it has a fence between blocks. */
    uint32_t unordered, fenced;
    uint32_t exchanged; /* it exchanged words that other blocks may see, as locks do */
    uint32_t watched;   /* atomics are told */
    uint32_t apart;     /* warps run as if at the same time */
    int64_t ticks;      /* of clock64() */
};

/* The part of a running thread that the kernel reads. */
struct fa_emu_thread {
    fa_emu_dim3 fa_thread_index;
};

#define FA_EMU_ALL 0xffffffffu /* the mask of all lanes that the warp has */

/* Operations of the lanes of a warp that a mask names, and the operand of each.
 * ldmatrix and mma are of all 32. */
enum {
    FA_EMU_SYNCWARP, /* nothing */
    FA_EMU_SHFL_XOR, /* fa_emu_shfl */
    FA_EMU_SHFL_UP,
    FA_EMU_SHFL_DOWN,
    FA_EMU_SHFL_IDX,
    FA_EMU_BALLOT,
    FA_EMU_GATHER,      /* fa_emu_gather */
    FA_EMU_LDMATRIX_X1, /* fa_emu_ldmatrix */
    FA_EMU_LDMATRIX_X2,
    FA_EMU_LDMATRIX_X4,
    FA_EMU_LDMATRIX_X2_TRANS,
    FA_EMU_LDMATRIX_X4_TRANS,
    FA_EMU_MMA_F16, /* fa_emu_mma */
    FA_EMU_MMA_BF16,
    FA_EMU_OPERATIONS
};

struct fa_emu_shfl {
    uint64_t value; /* in: the lane's value, out: the result */
    uint32_t lane;  /* mask, delta or source lane */
    uint32_t width; /* of the groups that the warp is divided into: 1, 2, ... 32 */
};

/* For what each lane then computes by itself: the values of all. */
struct fa_emu_gather {
    uint64_t value; /* in */
    uint64_t values[32];
    uint32_t lanes; /* that have a value */
};

struct fa_emu_ldmatrix {
    uint32_t row; /* address of the row this lane names */
    uint32_t r[4];
};

struct fa_emu_mma {
    uint32_t a[4];
    uint32_t b[2];
    float c[4]; /* in: C, out: D */
};

template <typename T>
struct fa_emu_value {
    using type = T;
};
template <typename T>
struct fa_emu_value<const T> {
    using type = T;
};

inline float fa_emu_bits_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* fp16 to fp32 without a branch or denormal arithmetic, so that the compiler can
 * vectorise loops of it.  A normal number is rebiased; a subnormal one is the
 * difference of two normal ones with the same exponent. */
inline float fa_emu_f32_f16(uint32_t half)
{
    const uint32_t magnitude = (half & 0x7fff) << 13;
    const uint32_t exponent = half & 0x7c00;
    const uint32_t bias = exponent == 0 ? 113u << 23 : exponent == 0x7c00 ? 224u << 23 : 112u << 23;
    const float f =
        fa_emu_bits_float(magnitude + bias) - fa_emu_bits_float(exponent == 0 ? 113u << 23 : 0);

    return half & 0x8000 ? -f : f;
}

extern "C" {

extern fa_emu_thread *fa_emu_self; /* the thread that runs */
extern fa_emu_grid_state fa_emu_grid;
extern __thread unsigned char fa_emu_dynamic[]; /* the launch's shared memory */

void fa_emu_barrier(fa_site at);
/* The same, and how many of the block's threads came with 'vote'. */
uint32_t fa_emu_barrier_votes(bool vote, fa_site at);
void fa_emu_collective(int operation, void *operand, fa_site at);
void fa_emu_collective_of(int operation, uint32_t mask, void *operand, fa_site at);
/* The lanes that are at this place together, as far as they can get. */
uint32_t fa_emu_active_lanes(fa_site at);

/* An atomic operation there, in a launch that is watched. */
void fa_emu_meet(const void *address, uint32_t bytes);
/* The result of the atomic operation there depends on the order of others. */
void fa_emu_unordered(const void *address);
/* The same, and it may be that of a lock. */
void fa_emu_exchange(const void *address);
/* Threads may tell each other something: they take turns from here on. */
void fa_emu_take_turns(void);

/* The thread may be waiting for another one: let all others run. */
void fa_emu_spin(fa_site at);

void fa_emu_cp_async(uint32_t dst, const void *src, uint32_t bytes, uint32_t src_bytes, fa_site at);
/* The same for a pointer to shared memory, whose accesses are not checked. */
void fa_emu_copy_async(void *dst, const void *src, uint32_t bytes, uint32_t src_bytes, fa_site at);
void fa_emu_cp_async_commit(void);
void fa_emu_cp_async_wait(int groups_left);

void fa_emu_smem_load(void *out, uint32_t address, uint32_t bytes, fa_site at);
void fa_emu_smem_store(uint32_t address, const void *value, uint32_t bytes, fa_site at);
void fa_emu_global_load(void *out, const void *address, uint32_t bytes, fa_site at);
void fa_emu_global_store(void *address, const void *value, uint32_t bytes, fa_site at);

void fa_emu_trap(fa_site at);

/* These return if it is no fault, after all.
 * A plain access to an address that is not a multiple of 'alignment', or not in
 * the variable that it is of; an index before an array.  'type' is quoted. */
void fa_emu_misplaced(const void *address, uint32_t alignment, const char *type, fa_site at);
void fa_emu_before(int64_t index, const char *type, fa_site at);

float fa_emu_ex2(float x);
uint16_t fa_emu_f16_f32(float f);
uint16_t fa_emu_bf16_f32(float f);
}

#endif
