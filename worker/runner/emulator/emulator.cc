#include "worker/runner/emulator/emulator.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "worker/runner/emulator/apart.hh"
#include "worker/runner/emulator/array.h"
#include "worker/runner/emulator/aside.hh"
#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/declared.hh"
#include "worker/runner/emulator/fault.hh"
#include "worker/runner/emulator/order.h"
#include "worker/runner/emulator/preempt.hh"
#include "worker/runner/emulator/shared.hh"

using namespace emulator;

/* CUDA's limits, the same on every architecture from sm_80 on. */
static const struct {
    const char *name;
    unsigned max;
} limits[6] = {
    { "grid x", 0x7fffffff }, { "grid y", 65535 }, { "grid z", 65535 },
    { "block x", 1024 },      { "block y", 1024 }, { "block z", 64 },
};

static bool is_possible(const struct emulator_launch *l, char *text,
                        size_t size)
{
    const unsigned *grid = l->grid, *b = l->block;
    const unsigned values[6] = { grid[0], grid[1], grid[2], b[0], b[1], b[2] };

    for (int i = 0; i < 6; i++)
        if (values[i] < 1 || values[i] > limits[i].max) {
            snprintf(text, size, "%s is %u, not in 1..%u", limits[i].name,
                     values[i], limits[i].max);
            return false;
        }
    if ((size_t)b[0] * b[1] * b[2] > THREADS_MAX) {
        snprintf(text, size, "a block of %zu threads, at most %d",
                 (size_t)b[0] * b[1] * b[2], (int)THREADS_MAX);
        return false;
    }
    if (l->shared.static_bytes > STATIC_BYTES_MAX) {
        snprintf(text, size, "%zu bytes of __shared__ variables, at most %zu",
                 l->shared.static_bytes, STATIC_BYTES_MAX);
        return false;
    }
    if (l->smem + l->shared.static_bytes > SHARED_BYTES_MAX) {
        snprintf(text, size, "%zu bytes of shared memory, at most %zu",
                 l->smem + l->shared.static_bytes, SHARED_BYTES_MAX);
        return false;
    }
    return true;
}

/* The digits of the number decide, so that blocks of one row or column are in
 * both halves. */
static bool is_of_part(enum emulator_part part, uint64_t number)
{
    const bool odd = __builtin_popcountll(number) % 2 != 0;

    return part == EMULATOR_ALL || odd == (part == EMULATOR_ODD);
}

/* The blocks that have not begun. */
struct waiting_blocks {
    uint64_t order;
    enum emulator_part part;
    uint64_t n, next;
};

static bool begin_next(waiting_blocks *left)
{
    while (left->next < left->n) {
        const uint64_t number = order_at(left->order, left->n, left->next++);

        if (!is_of_part(left->part, number))
            continue;
        declared_begin_block();
        block_start(number);
        return true;
    }
    return false;
}

enum turn {
    BEGINS,
    CONTINUES,
    NOBODY
};

/* After a block that waits for others, one that has not begun; after one that
 * has ended, one that may have waited for it, unless it takes long to see that
 * it still waits. */
static enum turn next_turn(waiting_blocks *left, bool waits)
{
    if (!((waits || preempt_any()) && aside_has_room()) && aside_take())
        return CONTINUES;
    if (begin_next(left))
        return BEGINS;
    return aside_take() ? CONTINUES : NOBODY;
}

/* False if the block faults; '*waits': it is set aside, and has not ended. */
static bool run_block(enum turn turn, bool *waits)
{
    size_t beyond;

    block_run();
    if (fault_kind() != fault::NONE)
        return false;
    *waits = !block_is_done();
    if (*waits)
        aside_put(turn == BEGINS);
    else if (!declared_end_block(&beyond))
        fault_beyond_dynamic(beyond);
    return fault_kind() == fault::NONE;
}

/* Run one block after the other; false as soon as one faults. */
static bool run_blocks(uint64_t order, enum emulator_part part)
{
    const fa_emu_dim3 grid = fa_emu_grid.fa_grid;
    waiting_blocks left = { order, part, (uint64_t)grid.x * grid.y * grid.z,
                            0 };
    enum turn turn;
    bool waits = false, done = true;

    block.launch_serial = block.next_serial;
    block.next_serial += left.n * block.n_threads;
    while (done && (turn = next_turn(&left, waits)) != NOBODY)
        done = run_block(turn, &waits);
    aside_clear();
    return done;
}

void emulator_reserve(unsigned threads)
{
    if (threads <= THREADS_MAX)
        (void)fiber_stacks(threads);
}

enum emulator_outcome emulator_run(const struct emulator_launch *l,
                                   double timeout_s, char *text, size_t size)
{
    const unsigned *g = l->grid, *b = l->block;

    if (!is_possible(l, text, size))
        return EMULATOR_REFUSED;
    block.n_threads = b[0] * b[1] * b[2];
    if (!fiber_stacks(block.n_threads)) {
        snprintf(text, size, "stacks of %u threads: %s", block.n_threads,
                 strerror(errno));
        return EMULATOR_BROKEN;
    }
    fa_emu_grid.fa_grid = { g[0], g[1], g[2] };
    fa_emu_grid.fa_block = { b[0], b[1], b[2] };
    block.entry = l->entry;
    block.args = l->args;
    block.thread_order = l->order.threads;
    block.unwritten = order_unwritten(l->order.blocks);
    block.unfilled = block.n_threads;
    fa_emu_grid.unordered = 0;
    fa_emu_grid.fenced = 0;
    fa_emu_grid.exchanged = 0;
    fa_emu_grid.ticks = 0;
    shared_start(l->smem);
    declared_start(&l->shared, l->smem, block.unwritten);
    fa_emu_grid.apart =
        l->order.apart && block.n_threads > WARP_LANES && apart_start();
    fa_emu_grid.watched = fa_emu_grid.apart || l->order.part == EMULATOR_EVEN;
    fault_arm(timeout_s);
    preempt_arm(l->entry);
    if (l->armed)
        l->armed();
    const bool done = run_blocks(l->order.blocks, l->order.part);
    preempt_disarm();
    fault_disarm();
    if (done)
        return EMULATOR_DONE;
    snprintf(text, size, "%s", fault_text());
    return fault_kind() == fault::TIMEOUT ? EMULATOR_TIMEOUT : EMULATOR_FAULT;
}

double emulator_bank_conflicts(void)
{
    return shared_bank_conflicts();
}

bool emulator_is_unordered(void)
{
    return fa_emu_grid.unordered ||
           (fa_emu_grid.fenced && array_any_unordered());
}

bool emulator_blocks_meet(void)
{
    return fa_emu_grid.exchanged || fa_emu_grid.fenced;
}

void fa_emu_meet(const void *address, uint32_t bytes)
{
    if (fa_emu_grid.apart)
        apart_met(address, bytes);
    if (!array_mark_met(address, bytes) && !declared_has(address))
        fa_emu_grid.exchanged = 1; /* a variable of the kernel */
}

void fa_emu_unordered(const void *address)
{
    if (!array_mark_unordered(address))
        fa_emu_grid.unordered = 1;
}

void fa_emu_exchange(const void *address)
{
    fa_emu_unordered(address);
    if (!declared_has(address))
        fa_emu_grid.exchanged = 1;
    fa_emu_take_turns();
}

int emulator_abi(void)
{
    return FA_EMU_ABI;
}
