/* warp_scan.cuh - in place of CUB's header: fa/cub.h has declared what there is of it */
#ifndef FA_CUDA_CUB_WARP_WARP_SCAN_CUH
#define FA_CUDA_CUB_WARP_WARP_SCAN_CUH

#include "fa/emulation.h"

#endif
