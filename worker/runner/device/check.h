/* check.h - how an output is compared with its reference (wire/tolerance.h)
 *
 * If output and reference are all zero, all errors are 0.  Compiled by the host
 * and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_H

#include <stdint.h>

#include "worker/runner/device/check_element.h"

/* How large a reference is.  The square of an fp64 overflows beyond 2^512, and
 * vanishes below 2^-538; then each error would be none.  So what is squared is
 * scaled by a power of two, with which the largest value is about 1.  No bit of
 * a result depends on it. */
struct check_norm {
    double most;       /* the largest finite value that is judged */
    double scale;      /* a power of two */
    double square_sum; /* of the scaled values */
    double rms;        /* of the values */
    uint64_t left_out; /* elements */
};

/* The largest value so far, with one more. */
ELEMENT_FN double check_most(const struct check_how *how, double most,
                             double ref)
{
    const double size = fabs(ref);

    return size > most && check_is_finite(ref) && !check_is_left_out(how, ref)
               ? size
               : most;
}

ELEMENT_FN double check_scale(double most)
{
    const int limit = 1000; /* its inverse is a normal number, too */
    int exponent;

    (void)frexp(most, &exponent);
    exponent = exponent > limit ? limit : exponent;
    return ldexp(1.0, exponent < -limit ? limit : -exponent);
}

/* What an element of the reference adds to the sum of squares. */
ELEMENT_FN double check_square(const struct check_how *how, double scale,
                               double ref)
{
    const double scaled = ref * scale;

    return check_is_matched(how, ref) || check_is_left_out(how, ref)
               ? 0
               : scaled * scaled;
}

/* The rms of 'count' elements, some of which may be left out. */
ELEMENT_FN double check_rms(const struct check_norm *norm, int64_t count)
{
    const double judged = (double)(count - (int64_t)norm->left_out);

    return judged > 0 ? sqrt(norm->square_sum / judged) / norm->scale : 0;
}

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
