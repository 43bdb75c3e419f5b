/* check_norm.h - how large a reference is
 *
 * The square of an fp64 overflows beyond 2^512, and vanishes below 2^-538; then
 * each error would be none.  So what is squared is scaled by a power of two,
 * with which the largest value is about 1.  No bit of a result depends on it.
 * Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_NORM_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_NORM_H

#include <stdint.h>

#include "worker/runner/device/check_special.h"

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

#endif
