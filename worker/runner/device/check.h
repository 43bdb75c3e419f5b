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

/* How the elements of an output are compared. */
struct check_how {
    struct tolerance tolerance;
    bool infinities; /* may a reference that is infinite or NaN be matched? */
};

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
};

ELEMENT_FN bool check_is_finite(double x)
{
    return x - x == 0;
}

/* Is 'ref' a value that 'out' must be, rather than be close to? */
ELEMENT_FN bool check_is_matched(bool infinities, double ref)
{
    return infinities && !check_is_finite(ref);
}

/* 0, or INFINITY */
ELEMENT_FN double check_match_error(double out, double ref)
{
    return out == ref || (out != out && ref != ref) ? 0 : (double)INFINITY;
}

/* What an element of the reference adds to the sum of squares. */
ELEMENT_FN double check_square(bool infinities, double ref)
{
    return check_is_matched(infinities, ref) ? 0 : ref * ref;
}

ELEMENT_FN double check_square_error(bool infinities, double out, double ref)
{
    double diff = out - ref;

    if (check_is_matched(infinities, ref))
        return check_match_error(out, ref);
    return diff == diff ? diff * diff : (double)INFINITY;
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

/* The error of element 'i' of 'base' by a rule for elements. */
ELEMENT_FN double check_element_error(enum tolerance_rule rule, bool infinities,
                                      const void *base, enum element_type type,
                                      int64_t i, double ref, double rms)
{
    double diff;

    if (check_is_matched(infinities, ref))
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

/* An error over the most that is allowed; above 1 it is too much. */
ELEMENT_FN double check_excess(double error, double most)
{
    if (error == 0)
        return 0;
    return check_is_finite(error) ? error / most : error;
}

/* The rule that element 'i' breaks most, and what is measured there. */
struct check_element {
    int rule;
    double error;
    double excess;   /* 0 without a rule for elements */
    double relative; /* the error by TOLERANCE_MAX_ERROR */
};

ELEMENT_FN struct check_element check_element(const struct check_how *how,
                                              const void *base,
                                              enum element_type type, int64_t i,
                                              double ref, double rms)
{
    struct check_element out = { TOLERANCE_MAX_ERROR, 0, 0, 0 };

    for (int r = TOLERANCE_MAX_ERROR; r < TOLERANCE_RULES; r++) {
        const bool given = how->tolerance.rules >> r & 1u;
        double error, excess;

        if (!given && r != TOLERANCE_MAX_ERROR)
            continue;
        error = check_element_error((enum tolerance_rule)r, how->infinities,
                                    base, type, i, ref, rms);
        if (r == TOLERANCE_MAX_ERROR)
            out.relative = error;
        excess = given ? check_excess(error, how->tolerance.most[r]) : 0;
        if (r == TOLERANCE_MAX_ERROR || excess > out.excess) {
            out.rule = r;
            out.error = error;
            out.excess = excess;
        }
    }
    return out;
}

/* By what elements are ranked. */
ELEMENT_FN double check_rank(const struct check_how *how,
                             const struct check_element *element)
{
    const unsigned for_all = 1u << TOLERANCE_RELATIVE_L2;

    return how->tolerance.rules & ~for_all ? element->excess
                                           : element->relative;
}

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
