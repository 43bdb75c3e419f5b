/* check_underflow.h - what a type cannot hold
 *
 * Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_UNDERFLOW_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_UNDERFLOW_H

#include <math.h>
#include <stdbool.h>

#include "worker/runner/wire/element.h"

/* Differences that a type's range is to blame for. */
struct check_lost {
    double least;  /* up to this one: the smallest subnormal number */
    double normal; /* any between two values below this one: the smallest
                    * normal number of the types that nvcc's -ftz=true flushes
                    * to zero */
};

ELEMENT_FN struct check_lost check_lost(enum element_type type)
{
    switch (type) {
    case ELEMENT_FP16:
        return (struct check_lost){ 0x1p-24, 0 };
    case ELEMENT_BF16:
        return (struct check_lost){ 0x1p-133, 0x1p-126 };
    case ELEMENT_FP32:
        return (struct check_lost){ 0x1p-149, 0x1p-126 };
    case ELEMENT_FP64:
        return (struct check_lost){ 0x1p-1074, 0 };
    case ELEMENT_INT8:
    case ELEMENT_INT32:
    case ELEMENT_INT64:
        break;
    }
    return (struct check_lost){ 0, 0 };
}

ELEMENT_FN bool check_is_underflow(const struct check_lost *lost, double out,
                                   double ref)
{
    return fabs(out - ref) <= lost->least ||
           (fabs(out) < lost->normal && fabs(ref) < lost->normal);
}

#endif
