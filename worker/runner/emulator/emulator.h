/* emulator.h - runs a CUDA kernel on this CPU and finds its errors
 *
 * The kernel is a shared object built with kernels/include/fa/emulation.h.  Its
 * blocks run one after the other, in any order, each thread as a fiber; every
 * access through a device primitive is checked.  Global memory is from array.h.
 * One launch at a time, one host thread.  C, for the runner.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_EMULATOR_H
#define FA_WORKER_RUNNER_EMULATOR_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum emulator_outcome {
    EMULATOR_DONE,
    EMULATOR_REFUSED, /* no device could launch this */
    EMULATOR_FAULT,   /* the kernel broke a rule */
    EMULATOR_TIMEOUT,
    EMULATOR_BROKEN, /* not the kernel's fault: memory, or its file */
};

/* The shared memory that a kernel declares with __shared__. */
struct emulator_shared {
    bool dynamic;  /* an array without a size */
    void *statics; /* those with one; NULL without */
    size_t static_bytes;
};

/* Which blocks run: of two halves, each has blocks near those of the other. */
enum emulator_part {
    EMULATOR_ALL,
    EMULATOR_EVEN,
    EMULATOR_ODD
};

/* Numbers of order.h. */
struct emulator_order {
    uint64_t blocks;
    uint64_t threads; /* of a block: its warps, and the lanes of a warp */
    enum emulator_part part;
    bool apart; /* warps of a block run as if at the same time, if they can */
};

struct emulator_launch {
    void (*entry)(void **args); /* fa_entry of the shared object */
    void **args;                /* args[i] points at argument i */
    unsigned grid[3], block[3];
    size_t smem; /* dynamic shared memory, bytes */
    struct emulator_shared shared;
    struct emulator_order order;
    void (*armed)(void); /* NULL, or called when faults are caught */
};

/* Make the stacks of that many threads, which processes forked later inherit;
 * emulator_run() makes those that are missing. */
void emulator_reserve(unsigned threads);

/* Launch and wait.  Unless the result is EMULATOR_DONE, 'text' says in one line
 * what happened and where.  After EMULATOR_TIMEOUT a new launch is fine.  The
 * limit is of processor time, and 0 means none; a thread that loops without a
 * primitive is never stopped. */
enum emulator_outcome emulator_run(const struct emulator_launch *launch,
                                   double timeout_s, char *text, size_t size);

/* Wavefronts a phase of ldmatrix in the latest launch: 1.0 without bank
 * conflicts, 8.0 at worst, 0 when there was no ldmatrix. */
double emulator_bank_conflicts(void);

/* True if anything that the latest launch wrote may depend on the order of its
 * atomic operations: sums of floats, exchanges.  Of those in an array, only
 * this array does (array_is_unordered()), unless blocks read what others wrote
 * there, for which they need a fence. */
bool emulator_is_unordered(void);

/* True if blocks of the latest launch may have told each other something that
 * they do not write atomically into an array: with a fence, or by an exchange
 * outside of shared memory, as of a lock.  Of a launch of the even half, also
 * if it did an atomic operation in a variable of the kernel. */
bool emulator_blocks_meet(void);

/* FA_EMU_ABI of this emulator; that of a shared object is in its
 * fa_entry_abi. */
int emulator_abi(void);

#ifdef __cplusplus
}
#endif

#endif
