#include "worker/runner/emulator/shared.hh"

#include <stdio.h>
#include <string.h>

#include "worker/runner/emulator/array.h"
#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/declared.hh"
#include "worker/runner/emulator/fault.hh"

namespace emulator
{

namespace
{

/* The readers of a cell: one thread (its id), several lanes of one warp, or
 * threads of several warps. */
enum : uint16_t {
    READ_BY_LANES = 0x8000,
    READ_BY_ALL = 0xc000
};

/* A pair of bytes.  Ticks are those of block.clock; a tick before the block's
 * start means never, so nothing is cleared between blocks. */
struct cell {
    uint64_t write_tick, read_tick;
    uint16_t writer, reader;
    bool in_flight;
};

cell cells[SHARED_BYTES_MAX / 2];
size_t memory_bytes;

uint64_t phases, wavefronts;

} // namespace

void shared_start(size_t bytes)
{
    memory_bytes = bytes;
    phases = wavefronts = 0;
}

part shared_cells()
{
    return { cells, (memory_bytes + 1) / 2 * sizeof(cells[0]) };
}

/* Is the access of thread 'id' at 'tick' ordered before the current one of
 * 'self'? */
static inline bool ordered(uint16_t id, uint64_t tick, const thread *self)
{
    if (id == self->id || tick < block.barrier_tick)
        return true;
    return &block.warps[id / WARP_LANES] == self->warp &&
           tick < self->warp->tick;
}

static inline bool readers_ordered(const cell *c, const thread *self)
{
    if (c->read_tick < block.barrier_tick)
        return true;
    if (c->reader == READ_BY_ALL)
        return false;
    if (c->reader & READ_BY_LANES)
        return &block.warps[c->reader & ~READ_BY_LANES] == self->warp &&
               c->read_tick < self->warp->tick;
    return ordered(c->reader, c->read_tick, self);
}

static inline void add_reader(cell *c, const thread *self)
{
    const uint16_t own = (uint16_t)self->id;
    const uint16_t warp = (uint16_t)(self->warp - block.warps);

    if (c->read_tick < block.barrier_tick || c->reader == own)
        c->reader = own;
    else if (c->reader == (READ_BY_LANES | warp) ||
             (!(c->reader & READ_BY_LANES) && c->reader / WARP_LANES == warp))
        c->reader = READ_BY_LANES | warp;
    else
        c->reader = READ_BY_ALL;
    c->read_tick = self->warp->tick;
}

static void check_address(uint32_t address, const shared_access &access)
{
    if (address % access.bytes != 0)
        fault_shared("misaligned address", access, "");
    if (address < FA_EMU_SMEM_BASE ||
        address - FA_EMU_SMEM_BASE + access.bytes > memory_bytes)
        fault_shared_bounds(access, memory_bytes);
}

[[noreturn]] static void blame(const char *problem, const shared_access &access,
                               const cell *c, const char *deed)
{
    char other[80], text[120];

    fault_name_thread(c->writer, other, sizeof(other));
    snprintf(text, sizeof(text), ", which %s %s", other, deed);
    fault_shared(problem, access, text);
}

[[noreturn]] static void blame_readers(const shared_access &access,
                                       const cell *c)
{
    char other[80], text[120];

    if (c->reader & READ_BY_LANES)
        snprintf(other, sizeof(other), "other threads");
    else
        fault_name_thread(c->reader, other, sizeof(other));
    snprintf(text, sizeof(text), ", which %s read", other);
    fault_shared("missing barrier", access, text);
}

static void check_read(const cell *c, const shared_access &access)
{
    if (c->write_tick < block.start_tick && declared_dynamic())
        return;
    if (c->write_tick < block.start_tick)
        fault_shared("unwritten shared memory", access, "");
    if (c->in_flight)
        blame("missing cp_async_wait", access, c, "is still copying to");
    if (!ordered(c->writer, c->write_tick, access.self))
        blame("missing barrier", access, c, "wrote");
}

static void check_write(const cell *c, const shared_access &access)
{
    const bool written = c->write_tick >= block.start_tick;

    if (written && c->in_flight)
        blame("missing cp_async_wait", access, c, "is still copying to");
    if (written && !ordered(c->writer, c->write_tick, access.self))
        blame("missing barrier", access, c, "wrote");
    if (!readers_ordered(c, access.self))
        blame_readers(access, c);
}

static inline cell *cells_of(uint32_t address)
{
    return &cells[(address - FA_EMU_SMEM_BASE) / 2];
}

static inline void set_written(cell *c, const thread *self, bool in_flight)
{
    c->write_tick = self->warp->tick;
    c->read_tick = 0;
    c->writer = (uint16_t)self->id;
    c->in_flight = in_flight;
}

void shared_read(void *out, uint32_t address, uint32_t bytes, thread *self,
                 const char *what, fa_site at)
{
    const shared_access access = { address, bytes, self, what, at };

    check_address(address, access);
    cell *c = cells_of(address);
    for (uint32_t i = 0; i < bytes / 2; i++) {
        check_read(&c[i], access);
        add_reader(&c[i], self);
    }
    memcpy(out, &fa_emu_dynamic[address - FA_EMU_SMEM_BASE], bytes);
}

static void claim(const shared_access &access, bool in_flight)
{
    check_address(access.address, access);
    cell *c = cells_of(access.address);
    for (uint32_t i = 0; i < access.bytes / 2; i++) {
        check_write(&c[i], access);
        set_written(&c[i], access.self, in_flight);
    }
}

void shared_count_banks(const uint32_t rows[8])
{
    unsigned in_bank[8] = {}; /* a row of 16 bytes covers 4 of the 32 banks */
    unsigned most = 1;

    for (unsigned r = 0; r < 8; r++) {
        bool seen = false;

        for (unsigned q = 0; q < r; q++)
            seen = seen || rows[q] == rows[r];
        if (!seen && ++in_bank[rows[r] / 16 % 8] > most)
            most = in_bank[rows[r] / 16 % 8];
    }
    phases++;
    wavefronts += most;
}

double shared_bank_conflicts()
{
    return phases ? (double)wavefronts / (double)phases : 0;
}

/* The wait that covers 'copy': now the bytes arrive. */
static void finish_copy(const copy &copy, const thread *self)
{
    if (copy.src_bytes)
        memcpy(copy.to, copy.src, copy.src_bytes);
    memset(copy.to + copy.src_bytes, 0, copy.bytes - copy.src_bytes);
    if (copy.dst == 0)
        return;
    cell *c = cells_of(copy.dst);
    for (uint32_t i = 0; i < copy.bytes / 2; i++) {
        c[i].in_flight = false;
        c[i].write_tick = self->warp->tick;
    }
}

} // namespace emulator

using namespace emulator;

void fa_emu_smem_load(void *out, uint32_t address, uint32_t bytes, fa_site at)
{
    fault_if_late();
    shared_read(out, address, bytes, thread_self(), "read", at);
}

void fa_emu_smem_store(uint32_t address, const void *value, uint32_t bytes,
                       fa_site at)
{
    fault_if_late();
    claim({ address, bytes, thread_self(), "write", at }, false);
    memcpy(&fa_emu_dynamic[address - FA_EMU_SMEM_BASE], value, bytes);
}

void fa_emu_cp_async(uint32_t dst, const void *src, uint32_t bytes,
                     uint32_t src_bytes, fa_site at)
{
    thread *self = thread_self();

    fault_if_late();
    if (src_bytes > bytes)
        fault_copy_size(bytes, src_bytes, at);
    if (src_bytes)
        array_check_read(src, bytes, src_bytes, "cp_async read", at);
    claim({ dst, bytes, self, "cp_async write", at }, true);
    unsigned char *to = &fa_emu_dynamic[dst - FA_EMU_SMEM_BASE];
    memset(to, 0xff, bytes);
    self->copies.push_back({ src, to, dst, bytes, src_bytes, self->group });
}

/* A source may also be a variable of the kernel. */
void fa_emu_copy_async(void *dst, const void *src, uint32_t bytes,
                       uint32_t src_bytes, fa_site at)
{
    thread *self = thread_self();

    fault_if_late();
    if (!declared_has(dst))
        fault_global("not shared memory", dst, bytes, "asynchronous write", at);
    if ((uintptr_t)dst % bytes != 0)
        fault_global("misaligned address", dst, bytes, "asynchronous write",
                     at);
    if (src_bytes && array_find(src).name)
        array_check_read(src, bytes, src_bytes, "asynchronous read", at);
    else if (src_bytes && (uintptr_t)src % bytes != 0)
        fault_global("misaligned address", src, bytes, "asynchronous read", at);
    memset(dst, 0xff, bytes);
    self->copies.push_back({ src, static_cast<unsigned char *>(dst), 0, bytes,
                             src_bytes, self->group });
}

void fa_emu_cp_async_commit()
{
    thread_self()->group++;
}

void fa_emu_cp_async_wait(int groups_left)
{
    thread *self = thread_self();
    size_t n = 0;

    while (n < self->copies.size() &&
           self->copies[n].group + (uint64_t)groups_left < self->group)
        finish_copy(self->copies[n++], self);
    self->copies.erase(self->copies.begin(),
                       self->copies.begin() + (ptrdiff_t)n);
}
