/* cuda_pipeline.h - in place of nvcc's header: fa/pipeline.h has declared what there is of it */
#ifndef FA_CUDA_CUDA_PIPELINE_H
#define FA_CUDA_CUDA_PIPELINE_H

#include "fa/emulation.h"

#endif
