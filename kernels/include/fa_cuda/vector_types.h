/* vector_types.h - in place of nvcc's header: fa/emulation.h has declared all of it */
#ifndef FA_CUDA_VECTOR_TYPES_H
#define FA_CUDA_VECTOR_TYPES_H

#include "fa/emulation.h"

#endif
