/* cuda_fp16.h - fp16 for the emulation, in place of nvcc's header (fa/half.h) */
#ifndef FA_CUDA_CUDA_FP16_H
#define FA_CUDA_CUDA_FP16_H

#include "fa/half_types.h"

FA_EMU_SIXTEEN_BITS(__half, __half2, half, fa_emu_f32_f16, fa_emu_f16_f32)

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

#endif
