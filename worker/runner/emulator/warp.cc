/* warp.cc - operations of a whole warp: the last lane to arrive does them */
#include <string.h>

#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/fault.hh"
#include "worker/runner/emulator/tensor.hh"

namespace emulator
{

template <typename T>
static T *operand(const warp *w, unsigned lane)
{
    return static_cast<T *>(block.threads[w->first + lane].operand);
}

/* The value of a lane that has ended, that never was, or that the mask does not
 * name, is undefined.  Wrappers are for whole warps. */
static uint64_t missing_value(const thread *self, unsigned from)
{
    if (self->needs_all)
        fault_no_lane(self, from);
    return UINT64_C(0x0101010101010101) * block.unwritten;
}

/* source(lane, parameter, first lane of its group, width of the group) */
template <typename Source>
static void shuffle_by(const thread *last, Source source)
{
    const warp *w = last->warp;
    const uint32_t mask = last->mask;
    fa_emu_shfl *lanes[WARP_LANES];
    uint64_t values[WARP_LANES];

    for (unsigned i = 0; i < WARP_LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        lanes[i] = operand<fa_emu_shfl>(w, i);
        values[i] = lanes[i]->value;
    }
    for (unsigned i = 0; i < WARP_LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        const uint32_t width = lanes[i]->width;
        const unsigned from =
            source(i, lanes[i]->lane % WARP_LANES, i & ~(width - 1), width);

        lanes[i]->value =
            mask >> from & 1
                ? values[from]
                : missing_value(&block.threads[w->first + i], from);
    }
}

/* As the shfl instructions: a lane that would be beyond its group keeps its own
 * value. */
static void shuffle(const thread *last)
{
    switch (last->operation) {
    case FA_EMU_SHFL_XOR:
        shuffle_by(last, [](unsigned lane, unsigned by, unsigned start,
                            unsigned width) {
            return (lane ^ by) < start + width ? lane ^ by : lane;
        });
        break;
    case FA_EMU_SHFL_UP:
        shuffle_by(last,
                   [](unsigned lane, unsigned by, unsigned start, unsigned) {
                       return lane >= start + by ? lane - by : lane;
                   });
        break;
    case FA_EMU_SHFL_DOWN:
        shuffle_by(last, [](unsigned lane, unsigned by, unsigned start,
                            unsigned width) {
            return lane + by < start + width ? lane + by : lane;
        });
        break;
    default:
        shuffle_by(last,
                   [](unsigned, unsigned from, unsigned start, unsigned width) {
                       return start + (from & (width - 1));
                   });
    }
}

static void ballot(const thread *last)
{
    const warp *w = last->warp;
    uint32_t votes = 0;

    for (uint32_t left = last->mask; left; left &= left - 1)
        if (operand<fa_emu_shfl>(w, (unsigned)__builtin_ctz(left))->value)
            votes |= left & -left;
    for (uint32_t left = last->mask; left; left &= left - 1)
        operand<fa_emu_shfl>(w, (unsigned)__builtin_ctz(left))->value = votes;
}

static void gather(const thread *last)
{
    const warp *w = last->warp;
    uint64_t values[WARP_LANES] = {};

    for (uint32_t left = last->mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);

        values[i] = operand<fa_emu_gather>(w, i)->value;
    }
    for (uint32_t left = last->mask; left; left &= left - 1) {
        fa_emu_gather *own =
            operand<fa_emu_gather>(w, (unsigned)__builtin_ctz(left));

        memcpy(own->values, values, sizeof(values));
        own->lanes = last->mask;
    }
}

static void load_matrices(const warp *w, unsigned n, bool transposed,
                          fa_site at)
{
    fa_emu_ldmatrix *lanes[WARP_LANES];

    for (unsigned i = 0; i < WARP_LANES; i++)
        lanes[i] = operand<fa_emu_ldmatrix>(w, i);
    tensor_ldmatrix(lanes, &block.threads[w->first], n, transposed, at);
}

static void multiply(const warp *w,
                     void (*mma)(fa_emu_mma *const lanes[WARP_LANES]))
{
    fa_emu_mma *lanes[WARP_LANES];

    for (unsigned i = 0; i < WARP_LANES; i++)
        lanes[i] = operand<fa_emu_mma>(w, i);
    mma(lanes);
}

/* For the lanes of the mask of 'last', which have all arrived. */
static void execute(const thread *last, fa_site at)
{
    warp *w = last->warp;

    switch (last->operation) {
    case FA_EMU_SYNCWARP:
        if ((last->mask | w->exited) == w->lanes) /* a tick orders the accesses
                                                   * of all */
            w->tick = ++block.clock;
        break;
    case FA_EMU_SHFL_XOR:
    case FA_EMU_SHFL_UP:
    case FA_EMU_SHFL_DOWN:
    case FA_EMU_SHFL_IDX:
        shuffle(last);
        break;
    case FA_EMU_BALLOT:
        ballot(last);
        break;
    case FA_EMU_GATHER:
        gather(last);
        break;
    case FA_EMU_LDMATRIX_X1:
        load_matrices(w, 1, false, at);
        break;
    case FA_EMU_LDMATRIX_X2:
        load_matrices(w, 2, false, at);
        break;
    case FA_EMU_LDMATRIX_X4:
        load_matrices(w, 4, false, at);
        break;
    case FA_EMU_LDMATRIX_X2_TRANS:
        load_matrices(w, 2, true, at);
        break;
    case FA_EMU_LDMATRIX_X4_TRANS:
        load_matrices(w, 4, true, at);
        break;
    case FA_EMU_MMA_F16:
        multiply(w, tensor_mma_f16);
        break;
    case FA_EMU_MMA_BF16:
        multiply(w, tensor_mma_bf16);
        break;
    }
}

/* Lanes that wait for 'self', and that it waits for, are at the same operation
 * and place, with the same mask: each one speaks for the others of its mask.
 * One that does not wait for 'self' may come later.  From compute
 * capability 7.0 on, a __syncwarp() of each branch is as good as one. */
static void check_group(const thread *self, const warp *w)
{
    for (uint32_t left = w->arrived & self->mask; left;) {
        const thread *first = lane_of(w, left);

        left &= left - 1;
        if (!(first->mask & self->bit))
            continue;
        if (first->operation != self->operation || first->mask != self->mask ||
            (self->operation != FA_EMU_SYNCWARP &&
             !same_site(first->at, self->at)))
            fault_diverged(self, first);
        left &= ~first->mask;
    }
}

/* Do all lanes of its mask wait with it?  One may still be at an operation of
 * fewer lanes. */
static bool is_whole(const warp *w, const thread *of)
{
    if ((w->arrived & of->mask) != of->mask)
        return false;
    for (uint32_t left = of->mask; left; left &= left - 1)
        if (lane_of(w, left)->mask != of->mask)
            return false;
    return true;
}

/* The checks that make divergence an error at once, not a hang. */
static inline void check_arrival(const thread *self, const warp *w)
{
    if (!(self->mask & self->bit))
        fault_not_in_mask(self);
    if (((self->needs_all ? w->exited : 0) | w->waiting) & self->mask)
        fault_left_behind(self, w);
    if (self->operation >= FA_EMU_LDMATRIX_X1 && w->lanes != ~0u)
        fault_short_warp(self);
    if (w->arrived)
        check_group(self, w);
}

/* All lanes of its mask have arrived. */
static void complete(const thread *last, fa_site at)
{
    warp *w = last->warp;

    execute(last, at);
    w->arrived &= ~last->mask;
    w->ready |= last->mask;
}

void warp_leave(const thread *self)
{
    const warp *w = self->warp;
    uint32_t left;

    for (left = w->arrived; left; left &= left - 1) {
        thread *other = lane_of(w, left);

        if (!(other->mask & self->bit))
            continue;
        if (other->needs_all)
            fault_divergence(self, "exits", other);
        other->mask &= ~self->bit;
    }
    for (left = w->arrived; left; left &= left - 1) {
        const thread *first = lane_of(w, left);

        if (w->arrived & first->bit && is_whole(w, first))
            complete(first, first->at);
    }
}

/* The mask names lanes that exist and have not ended, and 'needs_all' says that
 * none of them may end before it comes. */
static void collect(int operation, uint32_t mask, bool needs_all, void *operand,
                    fa_site at)
{
    thread *self = thread_self();
    warp *w = self->warp;

    fault_if_late();
    self->operation = operation;
    self->mask = mask;
    self->needs_all = needs_all;
    self->operand = operand;
    self->at = at;
    check_arrival(self, w);
    w->arrived |= self->bit;
    if (is_whole(w, self))
        complete(self, at);
    else
        thread_yield(self);
}

} // namespace emulator

using namespace emulator;

/* Lanes that have ended take no part, as on a GPU from compute capability 7.0
 * on. */
void fa_emu_collective_of(int operation, uint32_t mask, void *operand,
                          fa_site at)
{
    const warp *w = thread_self()->warp;

    collect(operation, mask & w->lanes & ~w->exited, false, operand, at);
}

/* Those of a wrapper are stricter. */
void fa_emu_collective(int operation, void *operand, fa_site at)
{
    collect(operation, thread_self()->warp->lanes, true, operand, at);
}
