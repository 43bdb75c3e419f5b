/* check.h - how an output is compared with its reference (wire/tolerance.h)
 *
 * A plain |a-b|/|b| is meaningless near zero, so an element's relative error is
 * measured against |ref| + rms(ref).  A NaN is an infinite error.  If output
 * and reference are all zero, all errors are 0.  Compiled by the host and by
 * nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_H

#include <math.h>
#include <stdbool.h>

#include "worker/runner/wire/element.h"
#include "worker/runner/wire/tolerance.h"

struct check {
    double relative_l2; /* INFINITY when an element is not finite */
    double max_error;   /* the largest element error, by the rule asked for */
    int64_t max_at;     /* its index; of equal ones the lowest */
    double got, want;   /* output and reference there */
};

/* How elements are compared: by a rule for single elements; and is a reference
 * that is infinite or NaN one that an element can match? */
struct check_how {
    enum tolerance_rule rule;
    bool infinities;
};

ELEMENT_FN bool check_is_finite(double x)
{
    return x - x == 0;
}

/* Is 'ref' a value that 'out' must be, rather than be close to? */
ELEMENT_FN bool check_is_matched(struct check_how how, double ref)
{
    return how.infinities && !check_is_finite(ref);
}

/* 0, or INFINITY */
ELEMENT_FN double check_match_error(double out, double ref)
{
    return out == ref || (out != out && ref != ref) ? 0 : (double)INFINITY;
}

/* What an element of the reference adds to the sum of squares. */
ELEMENT_FN double check_square(struct check_how how, double ref)
{
    return check_is_matched(how, ref) ? 0 : ref * ref;
}

ELEMENT_FN double check_square_error(struct check_how how, double out,
                                     double ref)
{
    if (check_is_matched(how, ref))
        return check_match_error(out, ref);

    double diff = out - ref;

    return diff == diff ? diff * diff : (double)INFINITY;
}

/* Of an int64, which double cannot hold beyond 2^53. */
ELEMENT_FN double check_integer_error(int64_t out, double ref)
{
    if (ref >= -0x1p63 && ref < 0x1p63 && ref == floor(ref)) {
        const int64_t want = (int64_t)ref;

        return out > want ? (double)((uint64_t)out - (uint64_t)want)
                          : (double)((uint64_t)want - (uint64_t)out);
    }
    return fabs((double)out - ref);
}

/* |out-ref|, where ref is rounded to the type first if 'rounded'. */
ELEMENT_FN double check_difference(const void *base, enum element_type type,
                                   int64_t i, double ref, bool rounded)
{
    const double out = element_load(base, type, i);
    const double want =
        rounded && element_is_float(type) ? element_round(type, ref) : ref;

    if (type == ELEMENT_INT64)
        return check_integer_error(((const int64_t *)base)[i], ref);
    return fabs(out - want);
}

/* The error of element 'i' of 'base'. */
ELEMENT_FN double check_element_error(struct check_how how, const void *base,
                                      enum element_type type, int64_t i,
                                      double ref, double rms)
{
    const enum tolerance_rule rule = how.rule;
    double diff;

    if (check_is_matched(how, ref))
        return check_match_error(element_load(base, type, i), ref);
    diff = check_difference(base, type, i, ref, rule == TOLERANCE_EXACT);
    if (!(diff == diff))
        return (double)INFINITY;
    if (diff == 0)
        return 0;
    if (rule == TOLERANCE_MAX_ERROR)
        return diff / (fabs(ref) + rms);
    return rule == TOLERANCE_ULP ? diff / element_ulp(type, ref) : diff;
}

ELEMENT_FN double check_relative_l2(double error_sum, double ref_sum)
{
    return error_sum == 0 ? 0 : sqrt(error_sum / ref_sum);
}

#endif
