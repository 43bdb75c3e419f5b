/* block_reduce.cuh - in place of CUB's header: fa/cub.h has declared what there is of it */
#ifndef FA_CUDA_CUB_BLOCK_BLOCK_REDUCE_CUH
#define FA_CUDA_CUB_BLOCK_BLOCK_REDUCE_CUH

#include "fa/emulation.h"

#endif
