/* cooperative_groups.h - in place of nvcc's header: fa/groups.h has declared what there is of it */
#ifndef FA_CUDA_COOPERATIVE_GROUPS_H
#define FA_CUDA_COOPERATIVE_GROUPS_H

#include "fa/emulation.h"

#endif
