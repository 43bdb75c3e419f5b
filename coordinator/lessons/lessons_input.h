/* lessons_input.h - the input of lessons.h
 *
 * The tunables, and the result of each configuration.  All of it is borrowed.
 */
#ifndef FA_COORDINATOR_LESSONS_LESSONS_INPUT_H
#define FA_COORDINATOR_LESSONS_LESSONS_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct lessons_axis {
    const char *name;
    const char *const *values; /* [n], as printed */
    size_t n;
    size_t n_space; /* number of values in the sweep file; they come first */
};

enum lessons_fate {
    LESSONS_PENDING, /* not settled, or lost: ignored */
    LESSONS_TIMED,
    LESSONS_FAILED,
};

struct lessons_point {
    double seconds;     /* at the headline shape, > 0 if timed */
    int64_t number;     /* in the space; -1 outside */
    uint32_t artifact;  /* number of the machine code, at most the number of
                         * points; 0: not built */
    uint32_t failure;   /* if failed: index in 'failures' */
    uint32_t warned;    /* index in 'warned' */
    unsigned char fate; /* enum lessons_fate */
};

struct lessons_reason {
    const char *outcome; /* runtime, compile ... */
    const char *reason;
};

struct lessons_input {
    const struct lessons_axis *axes;
    size_t n_axes;
    const struct lessons_point *points;
    const uint16_t *levels; /* [n][axes] */
    size_t n;
    const struct lessons_reason *failures; /* of the points that failed */
    size_t n_failures;
    const uint64_t *warned;   /* sets of warn gates: bit g is gate g */
    const char *const *gates; /* the warn gates */
    size_t n_gates;
};

#endif
