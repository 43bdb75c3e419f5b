#include "worker/runner/emulator/declared.hh"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/include/fa/emulator.h"
#include "worker/runner/emulator/shared.hh"

namespace emulator
{

namespace
{

/* The last page is never accessible, and where pages are larger, more of it. */
constexpr size_t PAGE = 4096;
constexpr size_t ROOM = (SHARED_BYTES_MAX + PAGE - 1) / PAGE * PAGE + PAGE;

struct {
    emulator_shared shared;
    size_t smem;
    unsigned char unwritten; /* what a block finds */
    size_t
        open; /* bytes that can be accessed: 'smem', and up to a page's end */
} state;

} // namespace

} // namespace emulator

using namespace emulator;

extern "C" {
alignas(PAGE) __thread unsigned char fa_emu_dynamic[ROOM];
}

namespace emulator
{

/* Make the pages after 'smem' bytes inaccessible. */
static void guard(size_t smem)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t base = (uintptr_t)fa_emu_dynamic;
    const uintptr_t first = (base + smem + page - 1) / page * page;
    const uintptr_t end = (base + ROOM) / page * page;

    state.open = ROOM;
    if (first < end && mprotect((void *)first, end - first, PROT_NONE) == 0)
        state.open = first - base;
}

static void unguard()
{
    const uintptr_t end = (uintptr_t)fa_emu_dynamic + ROOM;

    if (state.open > 0 && state.open < ROOM)
        mprotect(fa_emu_dynamic + state.open,
                 end - (uintptr_t)fa_emu_dynamic - state.open,
                 PROT_READ | PROT_WRITE);
}

void declared_start(const emulator_shared *shared, size_t smem,
                    unsigned char unwritten)
{
    unguard();
    state.shared = *shared;
    state.smem = smem;
    state.unwritten = unwritten;
    state.open = 0;
    if (shared->dynamic)
        guard(smem);
}

bool declared_dynamic()
{
    return state.shared.dynamic;
}

void declared_begin_block()
{
    if (state.shared.static_bytes)
        memset(state.shared.statics, state.unwritten,
               state.shared.static_bytes);
    if (state.shared.dynamic)
        memset(fa_emu_dynamic, state.unwritten, state.open);
}

bool declared_end_block(size_t *byte_after)
{
    size_t i = state.smem;

    if (!state.shared.dynamic)
        return true;
    while (i < state.open && fa_emu_dynamic[i] == state.unwritten)
        i++;
    *byte_after = i - state.smem + 1;
    return i == state.open;
}

part declared_statics()
{
    return { state.shared.statics, state.shared.static_bytes };
}

part declared_dynamic_used()
{
    return { fa_emu_dynamic, state.shared.dynamic ? state.open : state.smem };
}

bool declared_has(const void *address)
{
    return (uintptr_t)address - (uintptr_t)fa_emu_dynamic < ROOM ||
           (uintptr_t)address - (uintptr_t)state.shared.statics <
               state.shared.static_bytes;
}

array_place declared_find(const void *address)
{
    const uintptr_t p = (uintptr_t)address;
    const uintptr_t dynamic = p - (uintptr_t)fa_emu_dynamic;
    const uintptr_t of_statics = p - (uintptr_t)state.shared.statics;

    if (state.shared.dynamic && dynamic < ROOM)
        return { "dynamic shared memory", (int64_t)dynamic, state.smem };
    if (of_statics < state.shared.static_bytes)
        return { "__shared__ variables", (int64_t)of_statics,
                 state.shared.static_bytes };
    return { nullptr, 0, 0 };
}

} // namespace emulator
