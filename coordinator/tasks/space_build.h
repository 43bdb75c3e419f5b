/* space_build.h - compiles all configurations of a space on this machine
 *
 * It is a sweep without measurements.  The worker of this machine builds as for
 * a sweep, and the builds are stored in a database like a sweep's.  It needs
 * nvcc, but no GPU.
 */
#ifndef FA_COORDINATOR_TASKS_SPACE_BUILD_H
#define FA_COORDINATOR_TASKS_SPACE_BUILD_H

#include <stdbool.h>

struct err;
struct spec;

struct space_build_options {
    const char *arch; /* sm_89 */
    const char *db;   /* created if missing */
    int jobs;         /* builds at once; 0: one for each processor */
    bool cover;       /* only a covering set, and the baseline */
};

/* Builds that the database has are not repeated, except failed ones.  Returns
 * the exit code (docs/exit-codes.md): 0 if all were tried, even if some failed;
 * otherwise 'err' says why. */
int space_build_run(struct spec *spec,
                    const struct space_build_options *options, struct err *err);

#endif
