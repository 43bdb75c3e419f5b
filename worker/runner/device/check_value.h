/* check_value.h - how far a value is from its reference
 *
 * A plain |a-b|/|b| is meaningless near zero, so the relative error is measured
 * against |ref| + rms(ref), and what the type cannot hold is no relative error.
 * A NaN is an infinite error.  Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_VALUE_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_VALUE_H

#include <math.h>
#include <stdbool.h>

#include "worker/runner/device/check_special.h"
#include "worker/runner/device/check_underflow.h"
#include "worker/runner/wire/element.h"

/* What an element adds to the sum of squared errors, if its reference is not
 * special. */
ELEMENT_FN double check_plain_square(double scale,
                                     const struct check_lost *lost, double out,
                                     double ref)
{
    const double diff = (out - ref) * scale;

    if (check_is_underflow(lost, out, ref))
        return 0;
    return diff == diff ? diff * diff : (double)INFINITY;
}

/* Likewise, of any reference. */
ELEMENT_FN double check_square_error(const struct check_how *how, double scale,
                                     const struct check_lost *lost, double out,
                                     double ref)
{
    if (check_is_matched(how, ref))
        return check_match_error(out, ref);
    return check_is_left_out(how, ref)
               ? 0
               : check_plain_square(scale, lost, out, ref);
}

/* Of an int64, which double cannot hold beyond 2^53. */
ELEMENT_FN double check_integer_error(int64_t out, double ref)
{
    const double end = 9223372036854775808.0; /* 2^63 */

    if (ref >= -end && ref < end && ref == floor(ref)) {
        const int64_t want = (int64_t)ref;

        return out > want ? (double)((uint64_t)out - (uint64_t)want)
                          : (double)((uint64_t)want - (uint64_t)out);
    }
    return fabs((double)out - ref);
}

/* |out-ref|, where ref is rounded to the type first if 'rounded': to a nearest
 * integer, of two to either. */
ELEMENT_FN double check_difference(const void *base, enum element_type type,
                                   int64_t i, double ref, bool rounded)
{
    const double out = element_load(base, type, i);
    const double want =
        rounded && element_is_float(type) ? element_round(type, ref) : ref;

    const double error =
        type == ELEMENT_INT64
            ? check_integer_error(((const int64_t *)base)[i], ref)
            : fabs(out - want);

    return rounded && !element_is_float(type) && error <= 0.5 ? 0 : error;
}

/* 0 and -0 are equal numbers, but not the same. */
ELEMENT_FN bool check_is_other_zero(double out, double want)
{
    return out == 0 && want == 0 && 1 / out != 1 / want;
}

/* The error of element 'i' of 'base' by a rule for elements. */
ELEMENT_FN double check_element_error(enum tolerance_rule rule,
                                      const struct check_how *how,
                                      const void *base, enum element_type type,
                                      int64_t i, double ref, double rms)
{
    const double out = element_load(base, type, i);
    const struct check_lost lost = check_lost(type);
    double diff;

    if (check_is_matched(how, ref))
        return check_match_error(out, ref);
    if (check_is_left_out(how, ref))
        return 0;
    diff = check_difference(base, type, i, ref, rule == TOLERANCE_EXACT);
    if (!(diff == diff))
        return (double)INFINITY;
    if (diff == 0)
        return rule == TOLERANCE_EXACT && element_is_float(type) &&
                       check_is_other_zero(out, element_round(type, ref))
                   ? element_ulp(type, 0)
                   : 0;
    if (rule == TOLERANCE_MAX_ERROR) /* halves, whose sum is no infinity */
        return check_is_underflow(&lost, out, ref)
                   ? 0
                   : diff / 2 / (fabs(ref) / 2 + rms / 2);
    return rule == TOLERANCE_ULP ? diff / element_ulp(type, ref) : diff;
}

#endif
