/* check.h - how an output is compared with its reference (wire/tolerance.h)
 *
 * If output and reference are all zero, all errors are 0.  Compiled by the host
 * and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_H

#include "worker/runner/device/check_element.h"
#include "worker/runner/device/check_norm.h"

/* The worst element is furthest beyond what its rules allow, or, without a rule
 * for elements, has the largest relative error; of equal ones it is the first.
 */
struct check {
    double relative_l2; /* INFINITY when an element is not finite */
    double max_error;   /* the largest relative error of an element */
    int64_t max_at;     /* the index of the worst element */
    double got, want;   /* output and reference there */
    int rule;           /* enum tolerance_rule that it breaks most */
    double error;       /* by this rule */
    int64_t left_out;   /* elements whose reference does not judge */
};

ELEMENT_FN double check_relative_l2(double error_sum, double ref_sum)
{
    return error_sum == 0 ? 0 : sqrt(error_sum / ref_sum);
}

/* Does the check show a broken rule?  Then 'check' names it, with its error.
 * Written so that a NaN fails. */
ELEMENT_FN bool check_fails(const struct check_how *how, struct check *check)
{
    const struct tolerance *tolerance = &how->tolerance;

    if (tolerance->rules >> check->rule & 1u &&
        !(check_excess(check->error, tolerance->most[check->rule]) <= 1))
        return true;
    check->rule = TOLERANCE_RELATIVE_L2;
    check->error = check->relative_l2;
    return tolerance->rules >> TOLERANCE_RELATIVE_L2 & 1u &&
           !(check->error <= tolerance->most[TOLERANCE_RELATIVE_L2]);
}

#endif
