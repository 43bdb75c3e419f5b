/* sources.h - the source files of fa-runner, for each device, of fa-facts, and
 * of the header that kernels for the cpu device begin with
 *
 * Paths are from the repository's root; the host that builds fa-runner has the
 * same layout and compiles with -I of that root:
 *
 *   cuda  nvcc -O2 -arch=sm_XX -I. -o fa-runner UNITS -ldl
 *   cpu   cc -O2 -I. -Ikernels/include -rdynamic -o fa-runner UNITS
 *         -lstdc++ -ldl -lm -lpthread; replay: the same, of fewer files
 *   facts nvcc -I. -o fa-facts UNITS -ldl
 *   header  the files of RUNNER_HEADER, without SOURCES_HEADER_ROOT:
 *         compiler_header() of worker/build/compiler.h
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
    RUNNER_FACTS = 8,  /* fa-facts, for "cuda" (cuda/facts_device.c) */
    RUNNER_HEADER = 16 /* fa/emulation.h and all that it includes */
};

#define SOURCES_HEADER_ROOT "kernels/include/"

struct runner_source {
    const char *path;
    unsigned devices;
};

/* Ended by one without a path. */
extern const struct runner_source runner_sources[];

/* The RUNNER_ bit of "cuda", "cpu" or "replay". */
unsigned sources_device(const char *name);

#endif
