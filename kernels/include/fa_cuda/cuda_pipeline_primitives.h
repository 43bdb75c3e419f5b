/* cuda_pipeline_primitives.h - in place of nvcc's header: fa/pipeline.h has declared what there is
 * of it */
#ifndef FA_CUDA_CUDA_PIPELINE_PRIMITIVES_H
#define FA_CUDA_CUDA_PIPELINE_PRIMITIVES_H

#include "fa/emulation.h"

#endif
