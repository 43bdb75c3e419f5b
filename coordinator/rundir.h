/* rundir.h - the private folder of a running coordinator
 *
 * Holds the ROUTER's socket: 0700, in XDG_RUNTIME_DIR or /tmp, named after the
 * user and the process.  What a killed coordinator of the same user left
 * behind is removed when the next one starts.
 */
#ifndef FA_COORDINATOR_RUNDIR_H
#define FA_COORDINATOR_RUNDIR_H

#include "common/err.h"

#define RUNDIR_PATH_BYTES 108 /* sun_path */

struct rundir {
    char path[RUNDIR_PATH_BYTES - 16]; /* "" when not open */
};

int rundir_open(struct rundir *rundir, struct err *err);
void rundir_close(struct rundir *rundir); /* removes it and its files */
void rundir_file(const struct rundir *rundir, const char *name,
                 char out[RUNDIR_PATH_BYTES]);

#endif
