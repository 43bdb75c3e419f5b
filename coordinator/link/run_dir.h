/* run_dir.h - the private folder of a running coordinator
 *
 * It holds the ROUTER's socket.  Its mode is 0700; it is in XDG_RUNTIME_DIR or
 * /tmp, and named after the user, the process and a random word, so that no
 * other user can take its name first.  A coordinator that starts removes the
 * folders of killed coordinators of the same user.
 */
#ifndef FA_COORDINATOR_LINK_RUN_DIR_H
#define FA_COORDINATOR_LINK_RUN_DIR_H

#include "common/err.h"

#define RUN_DIR_PATH_BYTES 108 /* sun_path */

struct run_dir {
    char path[RUN_DIR_PATH_BYTES - 16]; /* "" when not open */
};

int run_dir_open(struct run_dir *run_dir, struct err *err);
void run_dir_close(struct run_dir *run_dir); /* removes the folder and its
                                              * files */
void run_dir_file(const struct run_dir *run_dir, const char *name,
                  char out[RUN_DIR_PATH_BYTES]);

#endif
