/* warp.cc - operations of a whole warp: the last lane to arrive does them */
#include <string.h>

#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/fault.hh"
#include "worker/runner/emulator/tensor.hh"

namespace emulator
{

static unsigned n_lanes(const warp *w)
{
    return (unsigned)__builtin_popcount(w->lanes);
}

template <typename T>
static T *operand(const warp *w, unsigned lane)
{
    return static_cast<T *>(block.threads[w->first + lane].operand);
}

static unsigned source_lane(int operation, unsigned lane, uint32_t parameter)
{
    switch (operation) {
    case FA_EMU_SHFL_XOR:
        return lane ^ parameter % WARP_LANES;
    case FA_EMU_SHFL_DOWN:
        return parameter < WARP_LANES - lane ? lane + parameter : lane;
    default:
        return parameter % WARP_LANES;
    }
}

static void shuffle(const warp *w)
{
    uint32_t values[WARP_LANES];

    for (unsigned i = 0; i < n_lanes(w); i++)
        values[i] = operand<fa_emu_shfl>(w, i)->value;
    for (unsigned i = 0; i < n_lanes(w); i++) {
        fa_emu_shfl *own = operand<fa_emu_shfl>(w, i);
        const unsigned from = source_lane(w->operation, i, own->lane);

        if (from >= n_lanes(w))
            fault_no_lane(&block.threads[w->first + i], from);
        own->value = values[from];
    }
}

static void ballot(const warp *w)
{
    uint32_t votes = 0;

    for (unsigned i = 0; i < n_lanes(w); i++)
        if (operand<fa_emu_shfl>(w, i)->value)
            votes |= 1u << i;
    for (unsigned i = 0; i < n_lanes(w); i++)
        operand<fa_emu_shfl>(w, i)->value = votes;
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

static void execute(warp *w, fa_site at)
{
    switch (w->operation) {
    case FA_EMU_SYNCWARP:
        w->tick = ++block.clock;
        break;
    case FA_EMU_SHFL_XOR:
    case FA_EMU_SHFL_DOWN:
    case FA_EMU_SHFL_IDX:
        shuffle(w);
        break;
    case FA_EMU_BALLOT:
        ballot(w);
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

static bool same_site(fa_site a, fa_site b)
{
    return a.line == b.line &&
           (a.file == b.file || strcmp(a.file, b.file) == 0);
}

/* The checks that make divergence an error at once, not a hang. */
static void check_arrival(const thread *self, const warp *w, int operation)
{
    if (w->exited | w->waiting)
        fault_left_behind(self, operation, w);
    if (operation >= FA_EMU_LDMATRIX_X1 && w->lanes != ~0u)
        fault_short_warp(self, operation);
    if (!w->arrived)
        return;
    const thread *first =
        &block.threads[w->first + (unsigned)__builtin_ctz(w->arrived)];
    if (w->operation != operation || !same_site(first->at, self->at))
        fault_diverged(self, operation, first, w->operation);
}

} // namespace emulator

using namespace emulator;

void fa_emu_collective(int operation, void *operand, fa_site at)
{
    thread *self = thread_self();
    warp *w = self->warp;

    fault_if_late();
    self->operand = operand;
    self->at = at;
    check_arrival(self, w, operation);
    w->operation = operation;
    w->arrived |= self->bit;
    if (w->arrived != w->lanes) {
        thread_yield(self);
        return;
    }
    execute(w, at);
    w->arrived = 0;
    w->ready = w->lanes;
}
