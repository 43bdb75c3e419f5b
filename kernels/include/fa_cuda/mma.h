/* mma.h - in place of nvcc's header: fa/wmma.h has declared what there is of it */
#ifndef FA_CUDA_MMA_H
#define FA_CUDA_MMA_H

#include "fa_cuda/cuda_bf16.h"
#include "fa_cuda/cuda_fp16.h"
#include "fa/emulation.h"

#endif
