/* block.hh - the threads of one block, and which of them runs
 *
 * A thread runs until it must wait for others: at an operation of its warp, at
 * the block's barrier, or at its end.  It then switches directly to the next
 * ready thread, by lane, then by warp, in the launch's order (order.h).  The
 * last thread to arrive does the work for all and continues.  There is no
 * scheduler in between.
 *
 * The clock that orders accesses to shared memory counts synchronisations.  An
 * access carries its warp's tick, and it sees everything before the latest
 * synchronisation of its warp or block.  One block at a time, one host thread;
 * one that waits for others can be set aside (aside.hh).
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_BLOCK_HH
#define FA_WORKER_RUNNER_EMULATOR_BLOCK_HH

#include <stdint.h>
#include <string.h>

#include <vector>

#include "kernels/include/fa/emulator.h"
#include "worker/runner/emulator/fiber.hh"

namespace emulator
{

enum {
    THREADS_MAX = 1024,
    WARP_LANES = 32,
    WARPS_MAX = 32
};

struct warp;

/* A cp.async that was issued, but not waited for. */
struct copy {
    const void *src;
    unsigned char *to;
    uint32_t dst; /* the address of 'to', or 0: it is not checked */
    uint32_t bytes, src_bytes;
    uint64_t group;
};

struct thread : fa_emu_thread {
    struct fiber fiber;
    unsigned id;     /* in the block, x fastest */
    uint64_t serial; /* in the life of the process */
    struct warp *warp;
    uint32_t bit;             /* 1 << lane */
    int operation;            /* that it waits at, */
    uint32_t mask;            /* with these lanes, */
    bool needs_all;           /* of which none may end, */
    void *operand;            /* with this operand, */
    fa_site at;               /* here; of a barrier as well */
    uint64_t callers;         /* at active_lanes: of the places that led here */
    std::vector<copy> copies; /* in order of issue */
    uint64_t group;           /* the open one */
};

struct warp {
    unsigned first;   /* id of lane 0 */
    uint32_t lanes;   /* masks: that exist, ... */
    uint32_t ready;   /* ... can run, */
    uint32_t arrived; /* ... wait at an operation, */
    uint32_t parked;  /* ... wait until no other lane can run, */
    uint32_t waiting; /* ... wait at the barrier, */
    uint32_t exited;  /* ... have ended */
    uint32_t rank;    /* 1 << its place in the order of the block's warps */
    uint64_t tick;    /* of its latest synchronisation */
};

/* What a block has for itself, beside its threads. */
struct block_state {
    struct warp warps[WARPS_MAX];
    uint64_t number; /* x fastest */
    unsigned n_waiting, n_exited;
    bool needs_all;             /* a barrier waits that no thread may miss */
    unsigned n_votes;           /* at this barrier so far, */
    unsigned last_votes;        /* at the one before */
    uint32_t ready_warps;       /* by rank */
    uint32_t held_warps;        /* that run after these (apart.hh), */
    bool joins;                 /* and now do */
    uint8_t warp_at[WARPS_MAX]; /* by rank */
    bool lanes_down;            /* the highest lane first */
    uint64_t start_tick;
    uint64_t barrier_tick; /* of the latest barrier, or the start */
    uint64_t serial;       /* of thread 0 */
    struct thread *next;   /* that runs when the block continues */
    unsigned turns;        /* of threads that may be waiting for others */
    uint16_t idle_stacks[THREADS_MAX]; /* on which no thread has begun */
    unsigned n_idle;
};

/* The one that runs, and what all have in common. */
struct block : block_state {
    struct thread threads[THREADS_MAX];
    struct fiber host;
    unsigned n_threads, n_warps;
    uint64_t thread_order;   /* of order.h */
    unsigned char unwritten; /* the byte of what nobody has written, */
    unsigned unfilled;       /* which so many beginning threads will find */
    void (*entry)(void **args);
    void **args;
    uint64_t clock;           /* synchronisations so far, over all blocks */
    uint64_t launch_serial;   /* serial of block 0, */
    uint64_t next_serial = 1; /* of block 0 of the next launch; 0 is nobody's */
};

extern struct block block;

inline thread *thread_self()
{
    return static_cast<thread *>(fa_emu_self);
}

/* The first lane of a mask. */
inline thread *lane_of(const warp *w, uint32_t mask)
{
    return &block.threads[w->first + (unsigned)__builtin_ctz(mask)];
}

inline bool same_site(fa_site a, fa_site b)
{
    return a.line == b.line &&
           (a.file == b.file || strcmp(a.file, b.file) == 0);
}

/* The place in the grid of the block with this number. */
inline fa_emu_dim3 block_at(uint64_t number)
{
    const fa_emu_dim3 grid = fa_emu_grid.fa_grid;

    return { (unsigned)(number % grid.x), (unsigned)(number / grid.x % grid.y),
             (unsigned)(number / grid.x / grid.y) };
}

/* Begin block 'number'; run the block to its end, or until it waits for other
 * blocks, or a fault ends it. */
void block_start(uint64_t number);
void block_run();

/* Has it ended, of itself? */
bool block_is_done();

/* Leave the running block, from any of its fibers or from a signal handler. */
[[noreturn]] void block_leave();

/* True while threads of a block run. */
bool block_is_running();

/* The caller waits (its masks say for what): run another thread. */
void thread_yield(thread *self);

/* 'self' ends: operations of its warp do not wait for it any longer. */
void warp_leave(const thread *self);

/* A lane that waits at an operation which 'self' belongs to, or NULL. */
const thread *find_waiting_for(const thread *self);
inline const thread *warp_waits_for(const thread *self)
{
    return self->warp->arrived ? find_waiting_for(self) : nullptr;
}

} // namespace emulator

#endif
