/* check.h - how an output is compared with its reference
 *
 *   relative L2    sqrt(sum (out-ref)^2) / sqrt(sum ref^2)
 *   element error  |out-ref| / (|ref| + rms(ref)),  the largest one counts
 *
 * A plain |a-b|/|b| is meaningless near zero.  A NaN is an infinite error.  If
 * output and reference are all zero, both errors are 0. Compiled by the host
 * and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_H

#include <math.h>
#include <stdbool.h>

#include "worker/runner/wire/element.h"

struct check {
    double relative_l2; /* INFINITY when an element is not finite */
    double max_error;   /* the largest element error */
    int64_t max_at;     /* its index; of equal ones the lowest */
    double got, want;   /* output and reference there */
};

ELEMENT_FN double check_square_error(double out, double ref)
{
    double diff = out - ref;

    return diff == diff ? diff * diff : (double)INFINITY;
}

ELEMENT_FN double check_element_error(double out, double ref, double rms)
{
    double diff = fabs(out - ref);

    if (!(diff == diff))
        return (double)INFINITY;
    return diff == 0 ? 0 : diff / (fabs(ref) + rms);
}

ELEMENT_FN double check_relative_l2(double error_sum, double ref_sum)
{
    return error_sum == 0 ? 0 : sqrt(error_sum / ref_sum);
}

/* Written so that a NaN fails. */
ELEMENT_FN bool check_passes(const struct check *check, double relative_l2,
                             double max_error)
{
    return check->relative_l2 <= relative_l2 && check->max_error <= max_error;
}

#endif
