/* device_functions.h - in place of nvcc's header: fa/emulation.h has declared all of it */
#ifndef FA_CUDA_DEVICE_FUNCTIONS_H
#define FA_CUDA_DEVICE_FUNCTIONS_H

#include "fa/emulation.h"

#endif
