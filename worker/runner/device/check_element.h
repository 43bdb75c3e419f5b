/* check_element.h - the rule that an element breaks most
 *
 * Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_ELEMENT_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_ELEMENT_H

#include "worker/runner/device/check_value.h"

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
        error = check_element_error((enum tolerance_rule)r, how, base, type, i,
                                    ref, rms);
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

/* Which elements need no closer look, because their relative error is at most
 * one that was seen before, and they rank no higher than that one: those that
 * are off by less than |ref| * factor + offset.  Nearly all of a large
 * output are; to see it takes no division. */
struct check_minor {
    double factor, offset;
};

/* 'relative': the largest relative error so far. */
ELEMENT_FN struct check_minor check_minor(const struct check_how *how,
                                          enum element_type type, double rms,
                                          double relative)
{
    const unsigned exact = 1u << TOLERANCE_EXACT;
    const unsigned ranked_alike =
        1u << TOLERANCE_RELATIVE_L2 | 1u << TOLERANCE_MAX_ERROR;
    /* smaller by more than all that is rounded */
    const double factor = relative * (1 - 1e-9), offset = factor * rms;

    /* double has not all digits of an int64, and 0 == -0 */
    if (type == ELEMENT_INT64 ||
        (how->tolerance.rules & exact && element_is_float(type)))
        return (struct check_minor){ 0, -1 };
    /* without overflow and subnormal numbers; if not, those that are equal */
    if (how->tolerance.rules & ~ranked_alike ||
        !(offset >= DBL_MIN && factor <= 0.5))
        return (struct check_minor){ 0, 0x1p-1074 };
    return (struct check_minor){ factor, offset };
}

/* Written so that what is infinite or a NaN is not. */
ELEMENT_FN bool check_is_minor(const struct check_minor *minor, double out,
                               double ref)
{
    return fabs(out - ref) < fabs(ref) * minor->factor + minor->offset;
}

#endif
