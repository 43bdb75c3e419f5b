/* cuda_bf16.h - bf16 for the emulation, in place of nvcc's header (fa/half.h) */
#ifndef FA_CUDA_CUDA_BF16_H
#define FA_CUDA_CUDA_BF16_H

#include "fa/half_types.h"

inline float fa_emu_f32_bf16(unsigned fa_bits)
{
    return fa_emu_bits_float(fa_bits << 16);
}

FA_EMU_SIXTEEN_BITS(__nv_bfloat16, __nv_bfloat162, bfloat16, fa_emu_f32_bf16, fa_emu_bf16_f32)

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#endif
