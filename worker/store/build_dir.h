/* build_dir.h - the private folder of one build
 *
 *   DIR/tmp/build-XXXXXX/src  the bundle; working directory of the compiler
 *                       /gen  what we generate
 *                       /tmp  TMPDIR of the compiler
 *                       /out  what it makes
 *
 * Its mode is 0700. It is removed with the build, whatever the compiler left in
 * it.
 */
#ifndef FA_WORKER_STORE_BUILD_DIR_H
#define FA_WORKER_STORE_BUILD_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct build_dir {
    char path[PATH_MAX]; /* "" without a folder */
};

int build_dir_open(const char *dir, struct build_dir *build_dir,
                   struct err *err);
void build_dir_close(struct build_dir *build_dir);

/* ERR_INPUT if 'name' is not a safe relative name (build_dir_is_name). */
int build_dir_write(const struct build_dir *build_dir, const char *folder,
                    const char *name, const void *bytes, size_t len,
                    struct err *err);
int build_dir_path(const struct build_dir *build_dir, const char *name,
                   char out[PATH_MAX], struct err *err);

/* Words of [A-Za-z0-9_.+-] that do not begin with '-' or '.', joined by '/'.
 * Such a name stays inside the folder and is harmless in a shell. */
bool build_dir_is_name(const char *name);

/* Remove a folder with its contents, without following links; true if it is
 * gone. */
bool build_dir_remove_tree(const char *path);

#endif
