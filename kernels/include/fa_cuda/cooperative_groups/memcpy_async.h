/* memcpy_async.h - in place of nvcc's header: fa/pipeline.h has declared what there is of it */
#ifndef FA_CUDA_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define FA_CUDA_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "fa/emulation.h"

#endif
