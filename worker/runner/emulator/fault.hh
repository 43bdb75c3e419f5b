/* fault.hh - how a launch ends when the kernel is at fault
 *
 * Every function that does not return writes one line, such as
 *   misaligned address 0x7f30a082: 16-byte read of 'Q' + 130 by thread (3,0,0)
 *   of block (1,0,0), flash.cu:41
 * and leaves the block; emulator_run() hands the line to its caller.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_FAULT_HH
#define FA_WORKER_RUNNER_EMULATOR_FAULT_HH

#include <stddef.h>
#include <stdint.h>

#include "kernels/include/fa/emulator.h"

namespace emulator
{

struct thread;
struct warp;

enum class fault {
    NONE,
    KERNEL,
    TIMEOUT
};

/* Catch SIGSEGV, SIGBUS, SIGFPE and SIGILL of kernels, and stop them after
 * 'timeout_s' (0: never), until fault_disarm(). */
void fault_arm(double timeout_s);
void fault_disarm();

/* For the launch since fault_arm(); the text belongs to this module. */
fault fault_kind();
const char *fault_text();

/* "thread (3,0,0)" */
void fault_name_thread(unsigned id, char *out, size_t size);

/* An access to shared memory, for checks and messages. */
struct shared_access {
    uint32_t address, bytes;
    thread *self;
    const char *what;
    fa_site at;
};

[[noreturn]] void fault_shared(const char *problem, const shared_access &access,
                               const char *why);
[[noreturn]] void fault_shared_bounds(const shared_access &access,
                                      size_t smem_bytes);
[[noreturn]] void fault_global(const char *problem, const void *address,
                               uint32_t bytes, const char *what, fa_site at);
[[noreturn]] void fault_double_store(const void *address, uint32_t bytes,
                                     uint64_t other_serial, fa_site at);
/* A plain access; 'type' as the compiler quotes it. */
[[noreturn]] void fault_misplaced(const void *address, uint32_t alignment,
                                  const char *type, fa_site at);
[[noreturn]] void fault_index(int64_t index, const char *type, fa_site at);
/* Returns: no thread of the block runs any more. */
void fault_beyond_dynamic(size_t byte_after);
[[noreturn]] void fault_copy_size(uint32_t bytes, uint32_t src_bytes,
                                  fa_site at);

/* 'self' does 'deed' while 'other' waits for it at an operation. */
[[noreturn]] void fault_divergence(const thread *self, const char *deed,
                                   const thread *other);
/* 'self' arrives at an operation that lanes of its warp cannot reach. */
[[noreturn]] void fault_left_behind(const thread *self, const warp *w);
/* 'self' arrives at another operation, place or mask than 'first'. */
[[noreturn]] void fault_diverged(const thread *self, const thread *first);
/* 'self' arrives at another barrier than 'first', of its warp. */
[[noreturn]] void fault_barriers(const thread *self, const thread *first);
[[noreturn]] void fault_short_warp(const thread *self);
/* The mask of 'self' lacks its own lane. */
[[noreturn]] void fault_not_in_mask(const thread *self);
[[noreturn]] void fault_no_lane(const thread *self, unsigned lane);
/* 'waiting' is at a barrier that 'exited' will never reach. */
[[noreturn]] void fault_early_exit(const thread *waiting, const thread *exited);
[[noreturn]] void fault_deadlock();
[[noreturn]] void fault_trap(fa_site at);

/* Every primitive calls it: ends the launch if its time is up. */
[[noreturn]] void fault_late();
extern volatile int fault_time_is_up;
inline void fault_if_late()
{
    if (__builtin_expect(fault_time_is_up, 0))
        fault_late();
}

} // namespace emulator

#endif
