/* device_launch_parameters.h - in place of nvcc's header: fa/emulation.h has declared all of it */
#ifndef FA_CUDA_DEVICE_LAUNCH_PARAMETERS_H
#define FA_CUDA_DEVICE_LAUNCH_PARAMETERS_H

#include "fa/emulation.h"

#endif
