/* tolerance.h - how far an output may be from its reference
 *
 * Every rule of an output must hold:
 *
 *   relative_l2   sqrt(sum (out-ref)^2) / sqrt(sum ref^2)
 *   max_error     |out-ref| / (|ref| + rms(ref)) of each element
 *   absolute      |out-ref| of each element
 *   ulp           |out-ref| over the distance between neighbouring values of
 *                 the output's type at ref, of each element
 *   exact         each element is the reference, rounded to the output's type,
 *                 if that is an integer to a nearest one
 *
 * Depends on libc only.
 */
#ifndef FA_WORKER_RUNNER_WIRE_TOLERANCE_H
#define FA_WORKER_RUNNER_WIRE_TOLERANCE_H

enum tolerance_rule {
    TOLERANCE_RELATIVE_L2,
    TOLERANCE_MAX_ERROR,
    TOLERANCE_ABSOLUTE,
    TOLERANCE_ULP,
    TOLERANCE_EXACT,
};

enum {
    TOLERANCE_RULES = 5
};

/* Of one output; at least one bit is set. */
struct tolerance {
    unsigned rules;               /* bit r: enum tolerance_rule r is given */
    double most[TOLERANCE_RULES]; /* of those given, >= 0; of EXACT 0 */
};

#endif
