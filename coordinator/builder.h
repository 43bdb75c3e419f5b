/* builder.h - compile all configurations of a space on this machine
 *
 * A sweep without its measurements: the worker of this machine builds as it
 * would for a sweep, and the builds are kept in a database like a sweep's.
 * Needs nvcc, no GPU.
 */
#ifndef FA_COORDINATOR_BUILDER_H
#define FA_COORDINATOR_BUILDER_H

#include <stdbool.h>

struct err;
struct spec;

struct builder_options {
    const char *arch; /* sm_89 */
    const char *db;   /* made when it is missing */
    int jobs;         /* at once; 0: one a processor */
    bool cover;       /* only a covering set, and the baseline */
};

/* What is in the database is not built again, but for what failed.  Returns
 * the exit code (RELIABILITY section 6): 0 when all was tried, whatever it
 * came to; 'err' says why not. */
int builder_run(struct spec *spec, const struct builder_options *options,
                struct err *err);

#endif
