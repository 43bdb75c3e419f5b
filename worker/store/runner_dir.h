/* runner_dir.h - the folder of an fa-runner: what it may read, and its scratch
 *
 *   DIR/tmp/runner-XXXXXX/files  artifact, reference and inputs of its request
 *                        /tmp    working directory and TMPDIR
 *
 * A runner sees no other artifacts.  The files are links to those of the
 * cache, or copies where a link is refused.
 */
#ifndef FA_WORKER_STORE_RUNNER_DIR_H
#define FA_WORKER_STORE_RUNNER_DIR_H

#include <limits.h>

#include "common/err.h"

struct runner_dir {
    char path[PATH_MAX]; /* "" without a folder */
};

/* In DIR/tmp, which is made. */
int runner_dir_open(const char *dir, struct runner_dir *runner_dir,
                    struct err *err);
void runner_dir_close(struct runner_dir *runner_dir);

/* "files" or "tmp" */
void runner_dir_path(const struct runner_dir *runner_dir, const char *name,
                     char out[PATH_MAX]);

/* Put the file 'path' in, under its own name.  '*out' is its path there. */
int runner_dir_put(const struct runner_dir *runner_dir, const char *path,
                   char out[PATH_MAX], struct err *err);
/* Remove the files of the last request. */
void runner_dir_clear(const struct runner_dir *runner_dir);

#endif
