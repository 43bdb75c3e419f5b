#include "worker/runner/emulator/fiber.hh"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifdef FIBER_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulator
{

namespace
{

constexpr size_t STACK_BYTES = 128 << 10; /* a multiple of any page size */
constexpr size_t TOP_STEP = 192; /* three cache lines from one stack to the
                                  * next */
constexpr size_t TOP_SPREAD = 4096;
constexpr size_t FILL_STEP = 4096;   /* a page is touched in any case, */
constexpr size_t FRAMES_BYTES = 256; /* if the first frames are in it */

char *stacks[1024]; /* lowest addresses; the guard page is below */

char *top_of(unsigned i)
{
    return stacks[i] + STACK_BYTES - i * TOP_STEP % TOP_SPREAD;
}

size_t page_bytes()
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

} // namespace

bool fiber_stacks(unsigned n)
{
    const size_t page = page_bytes();

    for (unsigned i = 0; i < n; i++) {
        if (stacks[i])
            continue;
        void *p = mmap(nullptr, page + STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            return false;
        if (mprotect(p, page, PROT_NONE) < 0) {
            munmap(p, page + STACK_BYTES);
            return false;
        }
        stacks[i] = (char *)p + page;
    }
    return true;
}

bool fiber_overflow(const void *address)
{
    const uintptr_t a = (uintptr_t)address;
    const size_t page = page_bytes();

    for (int i = 0; i < 1024 && stacks[i]; i++)
        if (a < (uintptr_t)stacks[i] && a >= (uintptr_t)stacks[i] - page)
            return true;
    return false;
}

#ifdef FIBER_ASAN
static void switch_begins(fiber *from, fiber *to, bool for_good)
{
    __sanitizer_start_switch_fiber(for_good ? nullptr : &from->fake_stack,
                                   to->bottom, to->bytes);
}

static void switch_ends(fiber *self)
{
    __sanitizer_finish_switch_fiber(self->fake_stack, nullptr, nullptr);
}

/* The bounds of the host's stack are known only at the first switch away from
 * it. */
static void learn_host(fiber *host)
{
    pthread_attr_t attr;

    if (host->bottom || pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    pthread_attr_getstack(&attr, &host->bottom, &host->bytes);
    pthread_attr_destroy(&attr);
}
#else
static void switch_begins(fiber *, fiber *, bool)
{
}

static void switch_ends(fiber *)
{
}

static void learn_host(fiber *)
{
}
#endif

void fiber_entered()
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

#ifdef FIBER_UCONTEXT

/* More than the frames of what is called from here on. */
static constexpr size_t MARGIN = 1024;

static char *lowest(const fiber *fiber)
{
    return fiber->low;
}

static void swap(fiber *from, fiber *to)
{
    from->low = (char *)__builtin_frame_address(0) - MARGIN;
    swapcontext(&from->context, &to->context);
}

static void prepare(fiber *fiber, char *top, void (*entry)())
{
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->bottom;
    fiber->context.uc_stack.ss_size = (size_t)(top - (char *)fiber->bottom);
    fiber->context.uc_link = nullptr;
    fiber->low = top - MARGIN;
    makecontext(&fiber->context, entry, 0);
}

#else

extern "C" void fiber_swap(void **save, void *load);

/* 'pop; jmp' and not 'ret': the return predictor would guess the wrong fiber
 * every time. */
asm(".text\n"
    ".type fiber_swap, @function\n"
    "fiber_swap:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    popq %rcx\n"
    "    jmp *%rcx\n"
    ".size fiber_swap, .-fiber_swap\n");

static char *lowest(const fiber *fiber)
{
    return (char *)fiber->stack_pointer;
}

static void swap(fiber *from, fiber *to)
{
    fiber_swap(&from->stack_pointer, to->stack_pointer);
}

/* Six registers, the entry to jump to, and a return address of 0, so that the
 * entry finds the stack as after a call. */
static void prepare(fiber *fiber, char *top, void (*entry)())
{
    void **sp = (void **)(void *)(top - 64);

    for (int i = 0; i < 8; i++)
        sp[i] = nullptr;
    sp[6] = (void *)entry;
    fiber->stack_pointer = sp;
}

#endif

void fiber_fill(unsigned i, unsigned char unwritten)
{
    const size_t frames = (size_t)(top_of(i) - stacks[i]) - FRAMES_BYTES;

#ifdef FIBER_ASAN
    ASAN_UNPOISON_MEMORY_REGION(stacks[i], STACK_BYTES);
#endif
    memset(stacks[i] + frames / FILL_STEP * FILL_STEP, unwritten,
           FRAMES_BYTES + frames % FILL_STEP);
}

void fiber_make(fiber *fiber, unsigned i, void (*entry)())
{
    fiber->bottom = stacks[i];
    fiber->bytes = STACK_BYTES;
    fiber->stack = i;
    fiber->fake_stack = nullptr;
#ifdef FIBER_ASAN
    ASAN_UNPOISON_MEMORY_REGION(fiber->bottom, fiber->bytes);
#endif
    prepare(fiber, top_of(i), entry);
}

part fiber_used(const fiber *fiber)
{
    char *const bottom = (char *)fiber->bottom;
    char *const top = top_of(fiber->stack);
    char *const low = lowest(fiber);
    const part used = { low < bottom ? bottom : low,
                        (size_t)(top - (low < bottom ? bottom : low)) };

#ifdef FIBER_ASAN
    ASAN_UNPOISON_MEMORY_REGION(used.at, used.bytes);
#endif
    return used;
}

void fiber_switch(fiber *from, fiber *to)
{
    learn_host(from);
    switch_begins(from, to, false);
    swap(from, to);
    switch_ends(from);
}

void fiber_leave(fiber *from, fiber *to)
{
    switch_begins(from, to, true);
    swap(from, to);
    abort();
}

} // namespace emulator
