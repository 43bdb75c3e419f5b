/* space_build.h - compile all configurations of a space on this machine
 *
 * A sweep without its measurements: the worker of this machine builds as it
 * would for a sweep, and the builds are kept in a database like a sweep's.
 * Needs nvcc, no GPU.
 */
#ifndef FA_COORDINATOR_TASKS_SPACE_BUILD_H
#define FA_COORDINATOR_TASKS_SPACE_BUILD_H

#include <stdbool.h>

struct err;
struct spec;

struct space_build_options {
    const char *arch; /* sm_89 */
    const char *db;   /* made when it is missing */
    int jobs;         /* at once; 0: one a processor */
    bool cover;       /* only a covering set, and the baseline */
};

/* What is in the database is not built again, but for what failed.  Returns
 * the exit code (docs/exit-codes.md): 0 when all was tried, whatever it came
 * to; 'err' says why not. */
int space_build_run(struct spec *spec,
                    const struct space_build_options *options, struct err *err);

#endif
