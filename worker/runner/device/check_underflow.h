/* check_underflow.h - what a type cannot hold
 *
 * Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_UNDERFLOW_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_UNDERFLOW_H

#include <math.h>
#include <stdbool.h>

#include "worker/runner/wire/element.h"

/* Is the difference one that the type's range is to blame for: no larger than
 * its smallest subnormal, or, in the types that nvcc's -ftz=true flushes to
 * zero, between two values below its smallest normal number? */
ELEMENT_FN bool check_is_underflow(enum element_type type, double out,
                                   double ref)
{
    double least = 0, normal = 0;

    switch (type) {
    case ELEMENT_FP16:
        least = 0x1p-24;
        break;
    case ELEMENT_BF16:
        least = 0x1p-133;
        normal = 0x1p-126;
        break;
    case ELEMENT_FP32:
        least = 0x1p-149;
        normal = 0x1p-126;
        break;
    case ELEMENT_FP64:
        least = 0x1p-1074;
        break;
    case ELEMENT_INT8:
    case ELEMENT_INT32:
    case ELEMENT_INT64:
        break;
    }
    return fabs(out - ref) <= least ||
           (fabs(out) < normal && fabs(ref) < normal);
}

#endif
