#include "worker/runner/emulator/block.hh"

#include <stdlib.h>

#include "worker/runner/emulator/apart.hh"
#include "worker/runner/emulator/fault.hh"
#include "worker/runner/emulator/order.h"

fa_emu_thread *fa_emu_self;
fa_emu_grid_state fa_emu_grid;

namespace emulator
{

struct block block;

/* Rare enough to cost nothing, and many turns in a second. */
enum {
    ATOMICS_BETWEEN_TURNS = 1000
};

/* The first in order of some lanes of a warp. */
static thread *first_of(const warp *w, uint32_t lanes)
{
    const unsigned lane = block.lanes_down
                              ? 31u - (unsigned)__builtin_clz(lanes)
                              : (unsigned)__builtin_ctz(lanes);

    return &block.threads[w->first + lane];
}

/* The ready lanes that come after one in order. */
static uint32_t lanes_after(const warp *w, uint32_t bit)
{
    return w->ready & (block.lanes_down ? bit - 1 : ~(bit | (bit - 1)));
}

/* The first in order of some warps. */
static warp *first_warp(uint32_t ranks)
{
    return &block.warps[block.warp_at[__builtin_ctz(ranks)]];
}

/* From here to the next barrier, warps of one half run first: that of 'own'. */
static void hold_half(const warp *own)
{
    uint32_t held = 0;

    if (!fa_emu_grid.apart)
        return;
    for (unsigned i = 0; i < block.n_warps; i++) {
        const bool other =
            __builtin_popcount(i ^ (unsigned)(own - block.warps)) % 2;

        if (other)
            held |= block.warps[i].rank;
    }
    block.held_warps = block.ready_warps & held;
    block.ready_warps &= ~held;
    apart_first();
}

/* No warp of the first half can run any more.  False if there is no other one.
 */
static bool release_half()
{
    if (!block.held_warps)
        return false;
    block.ready_warps = block.held_warps;
    block.held_warps = 0;
    block.joins = true;
    apart_second();
    return true;
}

static void join_halves()
{
    if (block.joins)
        apart_join();
    block.joins = false;
}

static inline thread *next_ready(const warp *own, uint32_t own_bit)
{
    const uint32_t later = lanes_after(own, own_bit);

    if (later)
        return first_of(own, later);
    if (own->ready)
        return first_of(own, own->ready);
    if (!block.ready_warps && !release_half())
        return nullptr;
    own = first_warp(block.ready_warps);
    return first_of(own, own->ready);
}

/* No lane can run before those that are parked at one place. */
static void release_parked(warp *w)
{
    const thread *first = lane_of(w, w->parked);
    uint32_t together = 0;

    for (uint32_t left = w->parked; left; left &= left - 1)
        if (lane_of(w, left)->callers == first->callers &&
            same_site(lane_of(w, left)->at, first->at))
            together |= left & -left;
    for (uint32_t left = together; left; left &= left - 1)
        lane_of(w, left)->mask = together;
    w->parked &= ~together;
    w->ready = together;
}

/* No lane of the warp is ready.  Apart, because most calls have one. */
__attribute__((noinline)) static void set_idle(warp *w)
{
    if (w->parked)
        release_parked(w);
    else
        block.ready_warps &= ~w->rank;
}

static inline void set_waiting(thread *self)
{
    warp *w = self->warp;

    w->ready &= ~self->bit;
    if (!w->ready)
        set_idle(w);
}

static void thread_main();

/* A thread gets a stack when it begins, and leaves it to another when it ends:
 * where no thread waits for others, two stacks are enough.  That saves a page
 * fault for each thread of each launch. */
static void begin(thread *t)
{
    const unsigned stack = block.idle_stacks[--block.n_idle];

    if (block.unfilled > 0) {
        block.unfilled--;
        fiber_fill(stack, block.unwritten);
    }
    fiber_make(&t->fiber, stack, thread_main);
}

static inline fiber *fiber_of(thread *t)
{
    if (!t->fiber.bottom)
        begin(t);
    return &t->fiber;
}

void thread_yield(thread *self)
{
    set_waiting(self);
    thread *next = next_ready(self->warp, self->bit);
    if (!next)
        fault_deadlock();
    if (next == self)
        return;
    fa_emu_self = next;
    fiber_switch(&self->fiber, fiber_of(next));
}

const thread *find_waiting_for(const thread *self)
{
    const warp *w = self->warp;

    for (uint32_t left = w->arrived; left; left &= left - 1)
        if (lane_of(w, left)->mask & self->bit)
            return lane_of(w, left);
    return nullptr;
}

/* The first thread of the block that is in one of the warps' masks. */
static const thread *find(uint32_t warp::*mask)
{
    const warp *w = block.warps;

    while (!(w->*mask))
        w++;
    return lane_of(w, w->*mask);
}

/* Everything before is visible to all. */
static void release_barrier(const warp *own)
{
    join_halves();
    block.turns = 0;
    block.barrier_tick = ++block.clock;
    block.n_waiting = 0;
    block.needs_all = false;
    block.last_votes = block.n_votes;
    block.n_votes = 0;
    for (unsigned i = 0; i < block.n_warps; i++) {
        warp *w = &block.warps[i];

        w->waiting = 0;
        w->ready = w->lanes & ~w->exited;
        w->tick = block.barrier_tick;
        if (w->ready)
            block.ready_warps |= w->rank;
    }
    hold_half(own);
}

/* A __syncthreads() waits for all threads that have not ended: so it is from
 * compute capability 7.0 on. */
static void release_if_all_are_here(const warp *own)
{
    if (block.n_waiting > 0 &&
        block.n_waiting + block.n_exited == block.n_threads)
        release_barrier(own);
}

static void thread_exit(thread *self)
{
    warp *w = self->warp;

    if (block.needs_all)
        fault_early_exit(find(&warp::waiting), self);
    w->exited |= self->bit;
    if (w->arrived)
        warp_leave(self);
    block.n_exited++;
    block.turns = 0;
    set_waiting(self);
    release_if_all_are_here(w);
    thread *next = next_ready(w, self->bit);
    if (next) {
        fiber *to = fiber_of(next); /* not on the stack that this runs on */

        block.idle_stacks[block.n_idle++] = (uint16_t)self->fiber.stack;
        fa_emu_self = next;
        fiber_leave(&self->fiber, to);
    }
    if (block.n_exited < block.n_threads)
        fault_deadlock();
    join_halves();
    block_leave();
}

static void thread_main()
{
    fiber_entered();
    fault_if_late(); /* a kernel without primitives can only be stopped between
                      * blocks */
    block.entry(block.args);
    thread_exit(thread_self());
}

static void start_threads()
{
    const fa_emu_dim3 size = fa_emu_grid.fa_block;

    for (unsigned i = 0; i < block.n_threads; i++) {
        thread *t = &block.threads[i];

        t->fa_thread_index = { i % size.x, i / size.x % size.y,
                               i / size.x / size.y };
        t->id = i;
        t->serial = block.serial + i;
        t->warp = &block.warps[i / WARP_LANES];
        t->bit = 1u << i % WARP_LANES;
        t->copies.clear();
        t->group = 0;
        t->fiber.bottom = nullptr;
        block.idle_stacks[i] = (uint16_t)(block.n_threads - 1 - i);
    }
    block.n_idle = block.n_threads;
}

/* Warps and lanes take turns in the order of this block. */
static void start_order()
{
    const uint64_t order = order_within(block.thread_order, block.number);

    block.lanes_down = order_at(order, 2, 0) != 0;
    order_list(order, block.n_warps, block.warp_at);
    for (unsigned i = 0; i < block.n_warps; i++)
        block.warps[block.warp_at[i]].rank = 1u << i;
}

static void start_warps()
{
    block.n_warps = (block.n_threads + WARP_LANES - 1) / WARP_LANES;
    for (unsigned i = 0; i < block.n_warps; i++) {
        warp *w = &block.warps[i];
        const unsigned lanes = block.n_threads - i * WARP_LANES;

        *w = {};
        w->first = i * WARP_LANES;
        w->lanes = lanes >= WARP_LANES ? ~0u : (1u << lanes) - 1;
        w->ready = w->lanes;
        w->tick = block.start_tick;
    }
    block.ready_warps = ~0u >> (WARPS_MAX - block.n_warps);
    block.held_warps = 0;
    block.joins = false;
}

void block_start(uint64_t number)
{
    block.number = number;
    block.n_waiting = 0;
    block.needs_all = false;
    block.n_exited = 0;
    block.n_votes = 0;
    block.start_tick = ++block.clock;
    block.barrier_tick = block.start_tick;
    block.serial = block.launch_serial + block.number * block.n_threads;
    start_warps();
    start_order();
    start_threads();
    block.turns = 0;
    block.next = first_of(first_warp(1), first_warp(1)->ready);
    hold_half(first_warp(1));
}

void block_run()
{
    fa_emu_grid.fa_block_index = block_at(block.number);
    fa_emu_self = block.next;
    fiber_switch(&block.host, fiber_of(block.next));
}

bool block_is_done()
{
    return block.n_exited == block.n_threads;
}

void block_leave()
{
    thread *self = thread_self();

    fa_emu_self = nullptr;
    fiber_leave(&self->fiber, &block.host);
}

bool block_is_running()
{
    return fa_emu_self != nullptr;
}

} // namespace emulator

using namespace emulator;

static void wait_at_barrier(fa_site at)
{
    thread *self = thread_self();
    warp *w = self->warp;

    fault_if_late();
    self->at = at;
    if (const thread *other = warp_waits_for(self))
        fault_divergence(self, "is at a barrier", other);
    /* bar.sync counts warps, which may come from anywhere, but a warp comes as
     * a whole */
    if (w->waiting && !same_site(lane_of(w, w->waiting)->at, at))
        fault_barriers(self, lane_of(w, w->waiting));
    w->waiting |= self->bit;
    block.n_waiting++;
    release_if_all_are_here(w);
    if (w->waiting)
        thread_yield(self);
}

/* That of a wrapper is stricter than __syncthreads(). */
void fa_emu_barrier(fa_site at)
{
    thread_self()->at = at;
    if (block.n_exited)
        fault_early_exit(thread_self(), find(&warp::exited));
    block.needs_all = true;
    wait_at_barrier(at);
}

uint32_t fa_emu_barrier_votes(bool vote, fa_site at)
{
    block.n_votes += vote;
    wait_at_barrier(at);
    return block.last_votes; /* the next barrier is not complete without us */
}

/* A number for the calls that led to this frame.  Kernels are compiled with
 * frame pointers: a frame begins with the address of its caller's, then the
 * place there. Without them the walk ends where an address is not on the stack.
 */
__attribute__((no_sanitize_address)) static uint64_t
name_callers(const thread *self, const uintptr_t *frame)
{
    const uintptr_t top = (uintptr_t)self->fiber.bottom + self->fiber.bytes;
    uint64_t name = 0;

    while ((uintptr_t)frame % sizeof(frame) == 0 &&
           (uintptr_t)(frame + 2) <= top) {
        const uintptr_t next = frame[0];

        name = (name ^ frame[1]) * UINT64_C(0x100000001b3);
        if (next <= (uintptr_t)frame)
            break;
        frame = (const uintptr_t *)next;
    }
    return name;
}

__attribute__((noinline)) uint32_t fa_emu_active_lanes(fa_site at)
{
    thread *self = thread_self();

    fault_if_late();
    self->at = at;
    self->callers =
        name_callers(self, (const uintptr_t *)__builtin_frame_address(0));
    self->warp->parked |= self->bit;
    thread_yield(self);
    return self->mask;
}

/* The next thread of a warp, or of the next one: its last lane passes on. */
static thread *next_in_turn(const thread *self)
{
    const warp *w = self->warp;
    const uint32_t lanes = lanes_after(w, self->bit);
    const uint32_t others = block.ready_warps & ~w->rank;
    const uint32_t after = others & ~(w->rank - 1);

    if (lanes)
        return first_of(w, lanes);
    if (others)
        w = first_warp(after ? after : others);
    return first_of(w, w->ready);
}

/* Since the block last passed a barrier, each thread that could run had a turn,
 * and wants another one: it may be waiting for another block. */
static bool waits_for_others()
{
    const unsigned left = block.n_threads - block.n_waiting - block.n_exited;

    return ++block.turns > left;
}

void fa_emu_take_turns(void)
{
    if (!fa_emu_grid.apart)
        return;
    join_halves();
    block.ready_warps |= block.held_warps;
    block.held_warps = 0;
    fa_emu_grid.apart = 0;
}

void fa_emu_spin(fa_site at)
{
    thread *self = thread_self();
    thread *next = next_in_turn(self);

    fault_if_late();
    self->at = at;
    fa_emu_grid.atomics_left = ATOMICS_BETWEEN_TURNS;
    const bool waits = waits_for_others();
    if (waits && fa_emu_grid.apart) {
        block.turns = 0;
        fa_emu_take_turns();
        next = next_in_turn(self);
    } else if (waits) {
        block.turns = 0;
        block.next = next;
        fa_emu_self = nullptr;
        fiber_switch(&self->fiber, &block.host);
        return;
    }
    if (next == self)
        return;
    fa_emu_self = next;
    fiber_switch(&self->fiber, fiber_of(next));
}

void fa_emu_trap(fa_site at)
{
    fault_trap(at);
}

/* On a GPU local variables are registers, or aligned as they are accessed. */
static bool is_local(const void *address)
{
    const struct fiber *own = &thread_self()->fiber;

    return (uintptr_t)address - (uintptr_t)own->bottom < own->bytes;
}

/* While an object is loaded there is no thread to name. */
void fa_emu_misplaced(const void *address, uint32_t alignment, const char *type,
                      fa_site at)
{
    if (!block_is_running())
        abort();
    if ((uintptr_t)address % alignment != 0 && is_local(address))
        return;
    fault_misplaced(address, alignment, type, at);
}

void fa_emu_before(int64_t index, const char *type, fa_site at)
{
    if (!block_is_running())
        abort();
    fault_index(index, type, at);
}
