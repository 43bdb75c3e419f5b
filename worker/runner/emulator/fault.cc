#include "worker/runner/emulator/fault.hh"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include "worker/runner/emulator/array.h"
#include "worker/runner/emulator/aside.hh"
#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/declared.hh"
#include "worker/runner/emulator/fiber.hh"

namespace emulator
{

volatile int fault_time_is_up;

namespace
{

struct {
    fault kind;
    char text[600];
    struct sigaction old_actions[NSIG];
    stack_t old_stack;
} state;

/* The fault may be an overflow of the fiber's own stack. */
alignas(16) char signal_stack[64 << 10];

const int caught[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS };

const char *const operations[FA_EMU_OPERATIONS] = {
    "syncwarp",
    "shfl_xor",
    "shfl_up",
    "shfl_down",
    "shfl_idx",
    "vote",
    "match or reduce",
    "ldmatrix_x1",
    "ldmatrix_x2",
    "ldmatrix_x4",
    "ldmatrix_x2_trans",
    "ldmatrix_x4_trans",
    "mma_m16n8k16_f16_f32",
    "mma_m16n8k16_bf16_f32",
};

/* "thread (3,0,0) of block (1,0,0), flash.cu:41" and its parts */
struct words {
    char text[200];
};

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

words name_place(fa_site at)
{
    words w;

    snprintf(w.text, sizeof(w.text), "%s:%d", base_name(at.file), at.line);
    return w;
}

words name_thread(unsigned id)
{
    const fa_emu_dim3 size = fa_emu_grid.fa_block;
    words w;

    snprintf(w.text, sizeof(w.text), "thread (%u,%u,%u)", id % size.x,
             id / size.x % size.y, id / size.x / size.y);
    return w;
}

words name_block(fa_emu_dim3 b)
{
    words w;

    snprintf(w.text, sizeof(w.text), "block (%u,%u,%u)", b.x, b.y, b.z);
    return w;
}

words name_self(const thread *self)
{
    words w;

    snprintf(w.text, sizeof(w.text), "%s of %s", name_thread(self->id).text,
             name_block(fa_emu_grid.fa_block_index).text);
    return w;
}

/* An array of global memory, or dynamic shared memory. */
array_place find_place(const void *address)
{
    const array_place place = array_find(address);

    return place.name ? place : declared_find(address);
}

words name_array(const void *address)
{
    const array_place place = find_place(address);
    words w;

    if (!place.name) {
        snprintf(w.text, sizeof(w.text), "memory that is in no array");
        return w;
    }
    const int64_t bytes = (int64_t)place.bytes;
    const bool inside = place.offset >= 0 && place.offset < bytes;
    snprintf(w.text, sizeof(w.text), "'%s' %c %lld", place.name,
             place.offset < 0 ? '-' : '+',
             (long long)(place.offset < 0 ? -place.offset : place.offset));
    if (!inside) {
        const size_t n = strlen(w.text);
        snprintf(w.text + n, sizeof(w.text) - n, " (%zu bytes long)",
                 place.bytes);
    }
    return w;
}

} // namespace

[[noreturn]] static void leave(fault kind, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void leave(fault kind, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(state.text, sizeof(state.text), fmt, ap);
    va_end(ap);
    state.kind = kind;
    block_leave();
}

void fault_beyond_dynamic(size_t byte_after)
{
    snprintf(state.text, sizeof(state.text),
             "out of bounds: write of byte %zu after the end of dynamic shared "
             "memory (%zu bytes long) by a thread of %s",
             byte_after, declared_find(fa_emu_dynamic).bytes,
             name_block(fa_emu_grid.fa_block_index).text);
    state.kind = fault::KERNEL;
}

fault fault_kind()
{
    return state.kind;
}

const char *fault_text()
{
    return state.text;
}

void fault_name_thread(unsigned id, char *out, size_t size)
{
    snprintf(out, size, "%s", name_thread(id).text);
}

void fault_shared(const char *problem, const shared_access &access,
                  const char *why)
{
    leave(fault::KERNEL, "%s: %u-byte %s of shared memory + %lld by %s, %s%s",
          problem, access.bytes, access.what,
          (long long)access.address - (long long)FA_EMU_SMEM_BASE,
          name_self(access.self).text, name_place(access.at).text, why);
}

void fault_shared_bounds(const shared_access &access, size_t smem_bytes)
{
    char why[80];

    snprintf(why, sizeof(why), "; the launch has %zu bytes", smem_bytes);
    fault_shared("out of bounds", access, why);
}

void fault_global(const char *problem, const void *address, uint32_t bytes,
                  const char *what, fa_site at)
{
    leave(fault::KERNEL, "%s %p: %u-byte %s of %s by %s, %s", problem, address,
          bytes, what, name_array(address).text, name_self(thread_self()).text,
          name_place(at).text);
}

/* The compiler's check does not say which rule it is. */
void fault_misplaced(const void *address, uint32_t alignment, const char *type,
                     fa_site at)
{
    if ((uintptr_t)address % alignment != 0)
        leave(fault::KERNEL,
              "misaligned address %p: access to %s by %s, %s, as %s, which is "
              "aligned to %u bytes",
              address, name_array(address).text, name_self(thread_self()).text,
              name_place(at).text, type, alignment);
    leave(fault::KERNEL,
          "out of bounds %p: access beyond a variable, as %s, by %s, %s",
          address, type, name_self(thread_self()).text, name_place(at).text);
}

void fault_index(int64_t index, const char *type, fa_site at)
{
    leave(fault::KERNEL, "out of bounds: index %lld of %s by %s, %s",
          (long long)index, type, name_self(thread_self()).text,
          name_place(at).text);
}

void fault_double_store(const void *address, uint32_t bytes,
                        uint64_t other_serial, fa_site at)
{
    const uint64_t n = other_serial - block.launch_serial;
    const uint64_t b = n / block.n_threads;

    leave(fault::KERNEL,
          "double store: %u-byte write of %s by %s, %s, where %s of %s stored "
          "without a barrier between",
          bytes, name_array(address).text, name_self(thread_self()).text,
          name_place(at).text,
          name_thread((unsigned)(n % block.n_threads)).text,
          name_block(block_at(b)).text);
}

void fault_copy_size(uint32_t bytes, uint32_t src_bytes, fa_site at)
{
    leave(fault::KERNEL, "cp_async_%u with src_bytes %u by %s, %s", bytes,
          src_bytes, name_self(thread_self()).text, name_place(at).text);
}

void fault_divergence(const thread *self, const char *deed, const thread *other)
{
    leave(fault::KERNEL, "divergence: %s %s while %s waits for it at %s, %s",
          name_self(self).text, deed, name_thread(other->id).text,
          operations[other->operation], name_place(other->at).text);
}

void fault_left_behind(const thread *self, const warp *w)
{
    const uint32_t exited = w->exited & self->mask;
    const thread *other = lane_of(w, exited ? exited : w->waiting & self->mask);

    leave(fault::KERNEL, "divergence: %s is at %s, %s, but %s of its warp %s",
          name_self(self).text, operations[self->operation],
          name_place(self->at).text, name_thread(other->id).text,
          exited ? "has exited" : "waits at a barrier");
}

void fault_diverged(const thread *self, const thread *first)
{
    char masks[60] = "";

    if (self->mask != first->mask)
        snprintf(masks, sizeof(masks), "; the masks are 0x%08x and 0x%08x",
                 self->mask, first->mask);
    leave(fault::KERNEL,
          "divergence: %s is at %s, %s, but %s of its warp is at %s, %s%s",
          name_self(self).text, operations[self->operation],
          name_place(self->at).text, name_thread(first->id).text,
          operations[first->operation], name_place(first->at).text, masks);
}

void fault_barriers(const thread *self, const thread *first)
{
    leave(fault::KERNEL,
          "divergence: %s is at the barrier %s, but %s of its warp is at that "
          "of %s",
          name_self(self).text, name_place(self->at).text,
          name_thread(first->id).text, name_place(first->at).text);
}

void fault_short_warp(const thread *self)
{
    leave(fault::KERNEL, "%s needs 32 lanes: the warp of %s has %d, %s",
          operations[self->operation], name_self(self).text,
          __builtin_popcount(self->warp->lanes), name_place(self->at).text);
}

void fault_not_in_mask(const thread *self)
{
    leave(fault::KERNEL, "%s: the mask 0x%08x does not name the lane of %s, %s",
          operations[self->operation], self->mask, name_self(self).text,
          name_place(self->at).text);
}

void fault_no_lane(const thread *self, unsigned lane)
{
    leave(fault::KERNEL,
          "%s: %s takes the value of lane %u, which is not there, %s",
          operations[self->operation], name_self(self).text, lane,
          name_place(self->at).text);
}

void fault_early_exit(const thread *waiting, const thread *exited)
{
    leave(fault::KERNEL,
          "early exit: %s of %s has ended and never reaches the barrier where "
          "%s waits, %s",
          name_thread(exited->id).text,
          name_block(fa_emu_grid.fa_block_index).text,
          name_thread(waiting->id).text, name_place(waiting->at).text);
}

void fault_deadlock()
{
    leave(fault::KERNEL, "deadlock: no thread of %s can run",
          name_block(fa_emu_grid.fa_block_index).text);
}

void fault_trap(fa_site at)
{
    leave(fault::KERNEL, "trap by %s, %s", name_self(thread_self()).text,
          name_place(at).text);
}

void fault_late()
{
    char others[60] = "";

    if (aside_count() > 0)
        snprintf(others, sizeof(others), "; %zu more blocks wait for others",
                 aside_count());
    leave(fault::TIMEOUT, "time is up in %s%s", name_self(thread_self()).text,
          others);
}

/* x86 does not say which address was not canonical, nor what was done there. */
static bool is_beyond_addresses(const siginfo_t *info)
{
#ifdef __x86_64__
    return info->si_code == SI_KERNEL && !info->si_addr;
#else
    (void)info;
    return false;
#endif
}

/* Report a plain dereference; the size of the access is not known. */
[[noreturn]] static void report_memory(const siginfo_t *info, const char *what)
{
    const thread *self = thread_self();
    const array_place place = find_place(info->si_addr);
    const char *problem = "out of bounds";

    if (fiber_overflow(info->si_addr))
        leave(fault::KERNEL, "stack overflow in %s", name_self(self).text);
    if (is_beyond_addresses(info))
        leave(fault::KERNEL,
              "wild address: access of memory beyond all addresses by %s",
              name_self(self).text);
    if (!place.name)
        problem = "wild address";
    else if (place.offset >= 0 && place.offset < (int64_t)place.bytes)
        problem = "store to an input";
    leave(fault::KERNEL, "%s %p: %s of %s by %s", problem, info->si_addr, what,
          name_array(info->si_addr).text, name_self(self).text);
}

static const char *access_word(const void *context)
{
#ifdef __x86_64__
    const ucontext_t *uc = (const ucontext_t *)context;
    const bool store = uc->uc_mcontext.gregs[REG_ERR] & 2;

    return store ? "write" : "read";
#else
    (void)context;
    return "access";
#endif
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (!block_is_running()) { /* not the kernel's fault: die of it, as without
                                * this handler */
        sigaction(signal, &state.old_actions[signal], nullptr);
        return;
    }
    if (signal == SIGFPE)
        leave(fault::KERNEL, "integer division by zero by %s",
              name_self(thread_self()).text);
    if (signal == SIGILL)
        leave(fault::KERNEL, "unreachable code reached by %s",
              name_self(thread_self()).text);
    if (signal == SIGSYS) /* of a filter in device/confine.c */
        leave(fault::KERNEL,
              "its process sent something that is not a reply, by %s",
              name_self(thread_self()).text);
    report_memory(info, access_word(context));
}

/* Only set a mark: the thread may be anywhere.  Its next primitive sees the
 * mark.  A loop without primitives is ended by the process that waits for this
 * one. */
static void on_alarm(int)
{
    fault_time_is_up = 1;
}

static void arm_timer(double timeout_s)
{
    struct itimerval timer = {};

    timer.it_value.tv_sec = (time_t)timeout_s;
    timer.it_value.tv_usec =
        (suseconds_t)((timeout_s - floor(timeout_s)) * 1e6);
    setitimer(ITIMER_PROF, &timer, nullptr);
}

void fault_arm(double timeout_s)
{
    stack_t stack = {};
    struct sigaction action = {};

    state.kind = fault::NONE;
    state.text[0] = '\0';
    fault_time_is_up = 0;
    stack.ss_sp = signal_stack;
    stack.ss_size = sizeof(signal_stack);
    sigaltstack(&stack, &state.old_stack);
    /* NODEFER: the handler leaves by a switch and never returns */
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    action.sa_sigaction = on_fault;
    for (int signal : caught)
        sigaction(signal, &action, &state.old_actions[signal]);
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    action.sa_handler = on_alarm;
    sigaction(SIGPROF, &action, &state.old_actions[SIGPROF]);
    arm_timer(timeout_s);
}

void fault_disarm()
{
    arm_timer(0);
    sigaction(SIGPROF, &state.old_actions[SIGPROF], nullptr);
    for (int signal : caught)
        sigaction(signal, &state.old_actions[signal], nullptr);
    sigaltstack(&state.old_stack, nullptr);
}

} // namespace emulator
