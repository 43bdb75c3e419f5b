#include "worker/runner/emulator/block.hh"

#include "worker/runner/emulator/fault.hh"

fa_emu_thread *fa_emu_self;
fa_emu_grid_state fa_emu_grid;

namespace emulator
{

struct block block;

/* Rare enough to cost nothing, and many turns in a second. */
enum {
    ATOMICS_BETWEEN_TURNS = 1000
};

static thread *next_ready(const warp *own, uint32_t own_bit)
{
    const uint32_t later = own->ready & ~(own_bit | (own_bit - 1));
    const warp *w = own;

    if (!own->ready) {
        if (!block.ready_warps)
            return nullptr;
        w = &block.warps[__builtin_ctz(block.ready_warps)];
    }
    const uint32_t pick = w == own && later ? later : w->ready;
    return lane_of(w, pick);
}

/* No lane can run before those that are parked at one place. */
static void release_parked(warp *w)
{
    const fa_site at = lane_of(w, w->parked)->at;
    uint32_t together = 0;

    for (uint32_t left = w->parked; left; left &= left - 1)
        if (same_site(lane_of(w, left)->at, at))
            together |= left & -left;
    for (uint32_t left = together; left; left &= left - 1)
        lane_of(w, left)->mask = together;
    w->parked &= ~together;
    w->ready = together;
}

static void set_waiting(thread *self)
{
    warp *w = self->warp;

    w->ready &= ~self->bit;
    if (w->ready)
        return;
    if (w->parked)
        release_parked(w);
    else
        block.ready_warps &= ~(1u << (w - block.warps));
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
    fiber_switch(&self->fiber, &next->fiber);
}

const thread *warp_waits_for(const thread *self)
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

static void thread_exit(thread *self)
{
    warp *w = self->warp;

    if (const thread *other = warp_waits_for(self))
        fault_divergence(self, "exits", other);
    if (block.n_waiting)
        fault_early_exit(find(&warp::waiting), self);
    w->exited |= self->bit;
    block.n_exited++;
    set_waiting(self);
    thread *next = next_ready(w, self->bit);
    if (next) {
        fa_emu_self = next;
        fiber_leave(&self->fiber, &next->fiber);
    }
    if (block.n_exited < block.n_threads)
        fault_deadlock();
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
    const fa_emu_dim3 size = fa_emu_grid.block;

    for (unsigned i = 0; i < block.n_threads; i++) {
        thread *t = &block.threads[i];

        t->thread_index = { i % size.x, i / size.x % size.y,
                            i / size.x / size.y };
        t->id = i;
        t->serial = block.serial + i;
        t->warp = &block.warps[i / WARP_LANES];
        t->bit = 1u << i % WARP_LANES;
        t->copies.clear();
        t->group = 0;
        fiber_make(&t->fiber, i, thread_main);
    }
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
}

void block_run()
{
    block.n_waiting = 0;
    block.n_exited = 0;
    block.n_votes = 0;
    block.start_tick = ++block.clock;
    block.barrier_tick = block.start_tick;
    start_warps();
    start_threads();
    fa_emu_self = &block.threads[0];
    fiber_switch(&block.host, &block.threads[0].fiber);
    block.serial += block.n_threads;
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

/* All threads are here: everything before is visible to all. */
static void release_barrier()
{
    block.barrier_tick = ++block.clock;
    block.n_waiting = 0;
    block.last_votes = block.n_votes;
    block.n_votes = 0;
    for (unsigned i = 0; i < block.n_warps; i++) {
        warp *w = &block.warps[i];

        w->waiting = 0;
        w->ready = w->lanes;
        w->tick = block.barrier_tick;
    }
    block.ready_warps = ~0u >> (WARPS_MAX - block.n_warps);
}

} // namespace emulator

using namespace emulator;

void fa_emu_barrier(fa_site at)
{
    thread *self = thread_self();
    warp *w = self->warp;

    fault_if_late();
    self->at = at;
    if (const thread *other = warp_waits_for(self))
        fault_divergence(self, "is at a barrier", other);
    if (block.n_exited)
        fault_early_exit(self, find(&warp::exited));
    w->waiting |= self->bit;
    if (++block.n_waiting == block.n_threads)
        release_barrier();
    else
        thread_yield(self);
}

uint32_t fa_emu_barrier_votes(bool vote, fa_site at)
{
    block.n_votes += vote;
    fa_emu_barrier(at);
    return block.last_votes; /* the next barrier is not complete without us */
}

uint32_t fa_emu_active_lanes(fa_site at)
{
    thread *self = thread_self();

    fault_if_late();
    self->at = at;
    self->warp->parked |= self->bit;
    thread_yield(self);
    return self->mask;
}

/* The next thread of a warp, or of the next one: its last lane passes on. */
static thread *next_in_turn(const thread *self)
{
    const warp *w = self->warp;
    const uint32_t own = 1u << (w - block.warps);
    const uint32_t lanes = w->ready & ~(self->bit | (self->bit - 1));
    const uint32_t others = block.ready_warps & ~own;
    const uint32_t after = others & ~(own - 1);

    if (lanes)
        return lane_of(w, lanes);
    if (others)
        w = &block.warps[__builtin_ctz(after ? after : others)];
    return lane_of(w, w->ready);
}

void fa_emu_spin(fa_site at)
{
    thread *self = thread_self();
    thread *next = next_in_turn(self);

    fault_if_late();
    self->at = at;
    fa_emu_grid.atomics_left = ATOMICS_BETWEEN_TURNS;
    if (next == self)
        return;
    fa_emu_self = next;
    fiber_switch(&self->fiber, &next->fiber);
}

void fa_emu_trap(fa_site at)
{
    fault_trap(at);
}
