/* dead_tunables.h - tunables that change nothing
 *
 * A tunable is dead if configurations that differ only in it always compile to
 * the same machine code: measuring both would measure one kernel twice.  Pure;
 * any thread.
 */
#ifndef FA_COORDINATOR_STATS_DEAD_TUNABLES_H
#define FA_COORDINATOR_STATS_DEAD_TUNABLES_H

#include <stddef.h>
#include <stdint.h>

enum dead_tunables_verdict {
    DEAD_TUNABLES_UNKNOWN, /* no two built configurations differ only in it */
    DEAD_TUNABLES_NO,
    DEAD_TUNABLES_YES,
};

/* A configuration that was built: its point, and a number for its code, which
 * is not 0. */
struct dead_tunables_point {
    int64_t number;
    uint32_t artifact;
};

/* 'sizes' are the numbers of values of the axes, in file order, last
 * one fastest in 'number'. */
void dead_tunables_axes(const size_t *sizes, size_t axes,
                        const struct dead_tunables_point *points, size_t n,
                        enum dead_tunables_verdict *out);

#endif
