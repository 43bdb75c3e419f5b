/* compiler.h - command lines and environment of the compilers
 *
 * nvcc hands its arguments to a shell, so what came from outside is let into
 * one only if it is harmless there; all paths are relative to the stage's
 * src folder (build_dir.h), which keeps them out of messages and artifacts too.
 */
#ifndef FA_WORKER_BUILD_COMPILER_H
#define FA_WORKER_BUILD_COMPILER_H

#include "common/err.h"
#include "common/msg_values.h"

enum {
    COMPILER_ARGS_MAX = 256
};

#define COMPILER_PARAMS "params.h" /* in gen */
#define COMPILER_ENTRY "entry.cc"  /* in gen; arch "cpu" only */
#define COMPILER_OUTPUT "artifact" /* in out */

struct compiler_line {
    const char *args[COMPILER_ARGS_MAX + 1]; /* NULL ends */
    size_t n;
    char *owned[4]; /* freed by compiler_fini */
    size_t n_owned;
};

struct compiler_task {
    const char *compiler;
    const char *source, *entry, *standard, *arch;
    struct texts flags;
};

/* ERR_INPUT naming what is not harmless.  The line borrows from 'task'. */
int compiler_kernel(const struct compiler_task *task,
                    struct compiler_line *line, struct err *err);
/* fa-runner for 'device' of the files in this program. */
int compiler_runner(const char *compiler, const char *device,
                    struct compiler_line *line, struct err *err);
void compiler_fini(struct compiler_line *line);

/* The whole environment of a compiler: NULL-ended, fini with the line. */
enum {
    COMPILER_ENV_MAX = 8
};

struct compiler_env {
    const char *items[COMPILER_ENV_MAX];
    char *path;
};

void compiler_env(const char *compiler, struct compiler_env *env);
void compiler_env_fini(struct compiler_env *env);

#endif
