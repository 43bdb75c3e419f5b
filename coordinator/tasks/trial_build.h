/* trial_build.h - compiles the baseline and the reference on this machine
 *
 * It is a sweep of builds, in a database that is removed afterwards.  The
 * worker of this machine builds as for any sweep, keeps the artifacts, and
 * compares the parameters with the arguments of the sweep file.
 */
#ifndef FA_COORDINATOR_TASKS_TRIAL_BUILD_H
#define FA_COORDINATOR_TASKS_TRIAL_BUILD_H

#include <stdbool.h>

struct err;
struct spec;

/* A build that failed, and why; 'reference': not the baseline. */
typedef void trial_build_flaw(void *arg, bool reference, const char *why);

/* For 'device' (cuda, cpu) and 'arch' (sm_89).  Tells all flaws.  Returns 0, or
 *   ERR_NETWORK  nothing can be compiled here: err says why
 *   other codes  as any sweep */
int trial_build_run(struct spec *spec, const char *device, const char *arch,
                    trial_build_flaw *tell, void *arg, struct err *err);

#endif
