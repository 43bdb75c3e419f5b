/* gpu_time.h - what the held time of a GPU was spent on
 *
 * Each moment of a window goes to one kind: the first kind of the enum of which
 * a span covers it, or the window's rest.  So the kinds always add up to the
 * window, however spans overlap or reach beyond it.
 *
 * Times are ns of one clock.  Pure.
 */
#ifndef FA_COORDINATOR_COSTS_GPU_TIME_H
#define FA_COORDINATOR_COSTS_GPU_TIME_H

#include <stddef.h>
#include <stdint.h>

enum gpu_time_kind {
    GPU_TIME_MEASURING,
    GPU_TIME_EXTERNAL, /* an external baseline ran */
    GPU_TIME_LOST,     /* a lease whose result never came */
    GPU_TIME_SETUP,    /* its host was reached, set up, or got files */
    GPU_TIME_WAITING,  /* something was built meanwhile */
    GPU_TIME_IDLE,
    GPU_TIME_PROOF,
    GPU_TIME_CONFIRMATION,
    GPU_TIME_OTHER, /* a bench, a profile, builds */
    GPU_TIME_KINDS,
};

const char *gpu_time_name(enum gpu_time_kind kind);

struct gpu_time_span {
    int64_t begin, end;
    enum gpu_time_kind kind;
};

struct gpu_time_window {
    int64_t begin, end;
    unsigned kinds;          /* 1 << kind of the spans that count */
    enum gpu_time_kind rest; /* of what no such span covers */
};

/* The window of a GPU that was held in this phase (the words of 'held'). */
struct gpu_time_window gpu_time_window(const char *phase, int64_t begin,
                                       int64_t end);

/* Add the parts of the window to 'ns'. */
void gpu_time_split(const struct gpu_time_span *spans, size_t n,
                    const struct gpu_time_window *window,
                    int64_t ns[GPU_TIME_KINDS]);

#endif
