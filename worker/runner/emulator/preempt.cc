#include "worker/runner/emulator/preempt.hh"

#include <fenv.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <ucontext.h>

#include "worker/runner/emulator/block.hh"

namespace emulator
{

namespace
{

enum {
    TICK_US = 2000,  /* or what the system has */
    FIRST_TICKS = 10 /* as a computation may be long */
};

struct {
    uintptr_t code, code_end; /* of the kernel */
    struct sigaction old_action;
    const fa_emu_thread *thread; /* that ran at the latest tick, */
    uint32_t atomics_left;       /* and what it had done */
    uint64_t clock;
    int idle;   /* ticks since it did something else */
    int enough; /* such ticks */
} state;

int find_code(struct dl_phdr_info *object, size_t, void *entry)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const uintptr_t begin = object->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) ||
            (uintptr_t)entry - begin >= part->p_memsz)
            continue;
        state.code = begin;
        state.code_end = begin + part->p_memsz;
        return 1;
    }
    return 0;
}

uintptr_t place_of(const void *context)
{
#ifdef __x86_64__
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    (void)context;
    return 0;
#endif
}

bool is_idle()
{
    if (state.thread == fa_emu_self && state.clock == block.clock &&
        state.atomics_left == fa_emu_grid.atomics_left)
        return ++state.idle >= state.enough;
    state.thread = fa_emu_self;
    state.clock = block.clock;
    state.atomics_left = fa_emu_grid.atomics_left;
    state.idle = 0;
    return false;
}

/* On the stack of the thread, which finds its registers there later. */
void on_tick(int, siginfo_t *, void *context)
{
    const uintptr_t place = place_of(context);

    if (!block_is_running() || place < state.code || place >= state.code_end ||
        !is_idle())
        return;
    state.idle = 0;
    state.enough = 1;
    fesetround(FE_TONEAREST);
    fa_emu_spin(thread_self()->at);
}

void set_timer(suseconds_t us)
{
    const struct itimerval timer = { { 0, us }, { 0, us } };

    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

} // namespace

void preempt_arm(void (*entry)(void **args))
{
    struct sigaction action = {};

    state.code = state.code_end = 0;
    state.thread = nullptr;
    state.enough = FIRST_TICKS;
    dl_iterate_phdr(find_code, (void *)entry);
    /* NODEFER: another thread runs before the handler returns */
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    action.sa_sigaction = on_tick;
    sigaction(SIGVTALRM, &action, &state.old_action);
    set_timer(TICK_US);
}

bool preempt_any()
{
    return state.enough == 1;
}

void preempt_disarm()
{
    set_timer(0);
    sigaction(SIGVTALRM, &state.old_action, nullptr);
}

} // namespace emulator
