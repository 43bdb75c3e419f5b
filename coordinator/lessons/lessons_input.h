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
    const uint16_t *levels; /* [axes] */
    enum lessons_fate fate;
    double seconds;      /* at the headline shape, > 0 if timed */
    const char *outcome; /* if failed: runtime, compile ... */
    const char *reason;
    uint64_t warned;      /* bit g: warn gate g */
    int64_t number;       /* in the space; -1 outside */
    const char *artifact; /* hash of the machine code, NULL if not built */
};

struct lessons_input {
    const struct lessons_axis *axes;
    size_t n_axes;
    const struct lessons_point *points;
    size_t n;
    const char *const *gates; /* the warn gates */
    size_t n_gates;
};

#endif
