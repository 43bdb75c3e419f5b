/* tensor.hh - mma and ldmatrix on the fragments of 32 lanes
 *
 * The layouts are those at the top of kernels/include/fa/mma.h.
 */
#ifndef FA_WORKER_RUNNER_EMULATOR_TENSOR_HH
#define FA_WORKER_RUNNER_EMULATOR_TENSOR_HH

#include "kernels/include/fa/emulator.h"

namespace emulator
{

struct thread;

/* m16n8k16, fp16 in, fp32 accumulate: lanes[i]->c becomes A B + C. Products are exact and added in
 * order of k; a tensor core may use another order and rounding. */
void tensor_mma_f16(fa_emu_mma *const lanes[32]);
/* The same in bf16. */
void tensor_mma_bf16(fa_emu_mma *const lanes[32]);

/* 'n' 8x8 matrices of 16-bit elements.  'threads' are the 32 of the warp: lane
 * i reads the row that it names. */
void tensor_ldmatrix(fa_emu_ldmatrix *const lanes[32], thread *threads,
                     unsigned n, bool transposed, fa_site at);

} // namespace emulator

#endif
