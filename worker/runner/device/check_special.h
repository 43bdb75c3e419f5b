/* check_special.h - references that no output can be close to
 *
 * With edges, a reference may be infinite or NaN, or beyond the output's type.
 * With 'infinities', one that is infinite or NaN has to be matched.  All others
 * are left out: what a kernel should make of them nobody can say, but the rest
 * of the output is judged.  Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CHECK_SPECIAL_H
#define FA_WORKER_RUNNER_DEVICE_CHECK_SPECIAL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "worker/runner/wire/element_type.h"
#include "worker/runner/wire/tolerance.h"

/* How the elements of an output are compared. */
struct check_how {
    struct tolerance tolerance;
    bool infinities; /* may a reference that is infinite or NaN be matched? */
    bool ranged;     /* is one that is not from 'low' to 'high' left out? */
    double low, high;
};

ELEMENT_FN bool check_is_finite(double x)
{
    return x - x == 0;
}

/* Is 'ref' a value that 'out' must be, rather than be close to? */
ELEMENT_FN bool check_is_matched(const struct check_how *how, double ref)
{
    return how->infinities && !check_is_finite(ref);
}

/* Is 'ref' judged at all?  Written so that a NaN is not. */
ELEMENT_FN bool check_is_left_out(const struct check_how *how, double ref)
{
    return how->ranged && !check_is_matched(how, ref) &&
           !(ref >= how->low && ref <= how->high);
}

/* May a reference be one of these? */
ELEMENT_FN bool check_has_special(const struct check_how *how)
{
    return how->infinities || how->ranged;
}

/* 0, or INFINITY */
ELEMENT_FN double check_match_error(double out, double ref)
{
    return out == ref || (out != out && ref != ref) ? 0 : (double)INFINITY;
}

/* The largest number of a type, or what is rounded to it. */
static inline double check_largest(enum element_type type)
{
    switch (type) {
    case ELEMENT_FP16:
        return 65504;
    case ELEMENT_BF16:
        return 0x1.fep127;
    case ELEMENT_FP32:
        return 0x1.fffffep127;
    case ELEMENT_FP64:
        return DBL_MAX;
    case ELEMENT_INT8:
        return 127.5;
    case ELEMENT_INT32:
        return 2147483647.5;
    case ELEMENT_INT64:
        return 0x1.fffffffffffffp62;
    }
    return 0;
}

/* Leave out what this type cannot hold. */
static inline void check_set_range(struct check_how *how,
                                   enum element_type type)
{
    how->ranged = true;
    how->high = check_largest(type);
    how->low = -how->high;
    if (type == ELEMENT_INT64)
        how->low = -0x1p63;
    else if (!element_is_float(type))
        how->low -= 1;
}

#endif
