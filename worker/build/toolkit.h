/* toolkit.h - the compiler of this box: which one, and its version
 *
 * For device "cuda" nvcc: where it was told, else CUDA_HOME, CUDA_PATH,
 * /usr/local/cuda, the newest /usr/local/cuda-*, /opt/cuda,
 * /usr/lib/nvidia-cuda-toolkit, PATH.  For "cpu" and "replay" the host's
 * C++ compiler.
 * Poll-driven (child.h): the version is asked of the program.
 */
#ifndef FA_WORKER_BUILD_TOOLKIT_H
#define FA_WORKER_BUILD_TOOLKIT_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct toolkit;

struct toolkit_places {
    const char *root; /* "" or what stands before the fixed folders */
    const char *cuda_home, *cuda_path, *path; /* environment; may be NULL */
};

struct toolkit_places toolkit_places(void); /* this process's */

/* The path of the compiler.  'told' is a path of nvcc, or "".  ERR_INPUT with
 * where was looked and the remedy when there is none. */
int toolkit_find(const char *device, const char *told,
                 const struct toolkit_places *places, char path[PATH_MAX],
                 struct err *err);

/* "nvcc 13.0.88", "g++ 12.2.0" of what a compiler's --version says; false
 * when there is no version in it. */
#define TOOLKIT_TEXT_BYTES 64
bool toolkit_version(const char *output, char text[TOOLKIT_TEXT_BYTES]);

/* Find it and ask for its version. */
int toolkit_open(const char *device, const char *told, int64_t now_ns,
                 struct toolkit **out, struct err *err);
void toolkit_close(struct toolkit *toolkit); /* NULL is fine */

size_t toolkit_poll(const struct toolkit *toolkit, struct pollfd *fds,
                    size_t max);
int64_t toolkit_deadline_ns(const struct toolkit *toolkit);
/* 1 when it has answered, 0 not yet, or a code when it is of no use. */
int toolkit_step(struct toolkit *toolkit, int64_t now_ns, struct err *err);

const char *toolkit_path(const struct toolkit *toolkit);
const char *toolkit_text(const struct toolkit *toolkit);   /* once 1 */
const char *toolkit_device(const struct toolkit *toolkit); /* cuda cpu replay */

#endif
