/* sources.h - the source files of fa-runner, for each device, and of fa-facts
 *
 * Paths are from the repository's root; the host that builds fa-runner has the
 * same layout and compiles with -I of that root:
 *
 *   cuda  nvcc -O2 -arch=sm_XX -I. -o fa-runner UNITS -ldl
 *   cpu   cc -O2 -I. -Ikernels/include -rdynamic -o fa-runner UNITS
 *         -lstdc++ -ldl -lm -lpthread; replay: the same, of fewer files
 *   facts nvcc -I. -o fa-facts UNITS -ldl
 *
 * UNITS are the rows that are not headers.  CMake reads the table in sources.c:
 * a row a line.
 */
#ifndef FA_WORKER_RUNNER_SOURCES_H
#define FA_WORKER_RUNNER_SOURCES_H

enum {
    RUNNER_CUDA = 1,
    RUNNER_CPU = 2,
    RUNNER_REPLAY = 4,
    RUNNER_ALL = 7,
    RUNNER_FACTS = 8 /* fa-facts, for "cuda" (cuda/facts_device.c) */
};

struct runner_source {
    const char *path;
    unsigned devices;
};

/* Ended by one without a path. */
extern const struct runner_source runner_sources[];

/* The RUNNER_ bit of "cuda", "cpu" or "replay". */
unsigned sources_device(const char *name);

#endif
