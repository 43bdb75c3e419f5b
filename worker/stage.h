/* stage.h - the private folder of one build
 *
 *   DIR/tmp/build-XXXXXX/src  the bundle; working directory of the compiler
 *                       /gen  what we generate
 *                       /tmp  TMPDIR of the compiler
 *                       /out  what it makes
 *
 * 0700, and gone with the build whatever the compiler left in it.
 */
#ifndef FA_WORKER_STAGE_H
#define FA_WORKER_STAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct stage {
    char path[PATH_MAX]; /* "" when there is none */
};

int stage_open(const char *dir, struct stage *stage, struct err *err);
void stage_close(struct stage *stage);

/* ERR_INPUT when 'name' is not a safe relative name (stage_is_name). */
int stage_write(const struct stage *stage, const char *folder, const char *name,
                const void *bytes, size_t len, struct err *err);
int stage_path(const struct stage *stage, const char *name, char out[PATH_MAX],
               struct err *err);

/* Words of [A-Za-z0-9_.+-] that begin with none of "-.", joined by '/': in
 * the folder, and nothing to a shell. */
bool stage_is_name(const char *name);

/* Remove a folder and all in it, following no link; true when it is gone. */
bool stage_remove_tree(const char *path);

#endif
