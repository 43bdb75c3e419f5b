/* compiler.h - command lines and environment of the compilers
 *
 * nvcc passes its arguments to a shell, so text from outside becomes an
 * argument only if it is harmless there.  All paths are relative to the src
 * folder of the build (build_dir.h), so that messages and artifacts have no
 * absolute paths.
 */
#ifndef FA_WORKER_BUILD_COMPILER_H
#define FA_WORKER_BUILD_COMPILER_H

#include <stdbool.h>

#include "common/err.h"
#include "common/msg_values.h"

enum {
    COMPILER_ARGS_MAX = 256
};

#define COMPILER_PARAMS "params.h"           /* in gen */
#define COMPILER_ENTRY "entry.cc"            /* in gen; arch "cpu" only */
#define COMPILER_OUTPUT "artifact"           /* in out */
#define COMPILER_HEADER "fa/emulation.h.gch" /* in src; arch "cpu" only */

struct compiler_line {
    const char *args[COMPILER_ARGS_MAX + 1]; /* NULL ends */
    size_t n;
    char *owned[4]; /* freed by compiler_fini */
    size_t n_owned;
};

struct compiler_task {
    const char *compiler;
    const char *toolkit; /* its name and version, as of toolkit_text() */
    const char *source, *entry, *standard, *arch;
    struct texts flags;
};

/* ERR_INPUT names the text that is not harmless.  The line borrows from
 * 'task'. */
int compiler_kernel(const struct compiler_task *task,
                    struct compiler_line *line, struct err *err);
/* The command for fa-runner for 'device', from the embedded sources. */
int compiler_runner(const char *compiler, const char *device,
                    struct compiler_line *line, struct err *err);
/* The command for fa-facts; 'compiler' is nvcc. */
int compiler_facts(const char *compiler, struct compiler_line *line,
                   struct err *err);
/* Can 'toolkit' compile the header that all kernels for the cpu device include
 * first, so that their builds need not parse it?  g++ ignores the result where
 * a kernel's flags do not fit it; clang++ would refuse the kernel. */
bool compiler_has_header(const char *toolkit);
/* The command for it.  The result goes beside its source, as
 * COMPILER_HEADER. */
int compiler_header(const char *compiler, const char *toolkit,
                    struct compiler_line *line, struct err *err);
void compiler_fini(struct compiler_line *line);

/* The complete environment of a compiler, ended by NULL; fini with the line. */
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
