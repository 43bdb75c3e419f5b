/* cuda_bf16.h - bf16 for the emulation, in place of nvcc's header (fa/half.h) */
#ifndef FA_CUDA_CUDA_BF16_H
#define FA_CUDA_CUDA_BF16_H

#include "fa/half_types.h"

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#endif
