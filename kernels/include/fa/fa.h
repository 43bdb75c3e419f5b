/* fa.h - the device primitives a kernel is written with
 *
 * One wrapper an instruction, named like the instruction, in namespace 'fa'.
 * Each has two bodies under one signature: PTX for nvcc, and a call into the
 * emulator when FA_EMULATION is defined (fa/emulation.h, included first by the
 * build for the cpu device).  A kernel that uses nothing else runs on both.
 *
 * No library header is included on the nvcc side: it would cost more compile
 * time than the kernel.
 */
#ifndef FA_FA_H
#define FA_FA_H

#include "fa/types.h"
#include "fa/math.h"
#include "fa/global.h"
#include "fa/smem.h"
#include "fa/warp.h"
#include "fa/copy.h"
#include "fa/mma.h"

#endif
