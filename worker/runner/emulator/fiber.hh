/* fiber.hh - one stack a CUDA thread, and the switch between them
 *
 * On x86-64 the switch is nine instructions that save six registers (8 ns);
 * elsewhere it is swapcontext(3), which makes a system call (180 ns).  Stacks
 * have a guard page below, and their tops are spread over a page so that the
 * frames of a warp do not compete for one cache set.
 * One host thread.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_FIBER_HH
#define FA_WORKER_RUNNER_EMULATOR_FIBER_HH

#include <stddef.h>

#include "worker/runner/emulator/part.hh"

#if !defined(__x86_64__) && !defined(FIBER_UCONTEXT)
#define FIBER_UCONTEXT 1 /* can be set on the command line, to test it */
#endif
#ifdef FIBER_UCONTEXT
#include <ucontext.h>
#endif

namespace emulator
{

struct fiber {
#ifdef FIBER_UCONTEXT
    ucontext_t context;
    char *low; /* nothing below it is used while the fiber does not run */
#else
    void *stack_pointer;
#endif
    void *bottom; /* of its stack, for the sanitizer; NULL: the host's own, or
                   * it was not made */
    size_t bytes;
    unsigned stack; /* its number */
    void *fake_stack; /* the sanitizer's */
};

/* Provide stacks 0..n-1.  False, with errno set, when memory is refused. */
bool fiber_stacks(unsigned n);

/* Let the first frames on stack 'i', which nothing runs on, find this byte. */
void fiber_fill(unsigned i, unsigned char unwritten);

/* Prepare to run 'entry', which must not return, on stack 'i'. */
void fiber_make(fiber *fiber, unsigned i, void (*entry)());

/* Switch from 'from' to 'to'; returns when something switches back. */
void fiber_switch(fiber *from, fiber *to);

/* What a fiber that does not run has on its stack. */
part fiber_used(const fiber *fiber);

/* Leave 'from' for good. */
[[noreturn]] void fiber_leave(fiber *from, fiber *to);

/* Call first in a fiber's entry. */
void fiber_entered();

/* Is 'address' in the guard page of a stack? */
bool fiber_overflow(const void *address);

} // namespace emulator

#endif
