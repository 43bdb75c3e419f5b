/* toolkit.h - finds the compiler of this machine, and its version
 *
 * For device "cuda" it is nvcc, from the path that was given, else CUDA_HOME,
 * CUDA_PATH, /usr/local/cuda, the newest /usr/local/cuda-*, /opt/cuda,
 * /usr/lib/nvidia-cuda-toolkit, PATH. For "cpu" and "replay" the host's C++
 * compiler.  Poll-driven (child.h), because the compiler itself prints its
 * version.
 */
#ifndef FA_WORKER_BUILD_TOOLKIT_H
#define FA_WORKER_BUILD_TOOLKIT_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct sandbox;
struct toolkit;

struct toolkit_places {
    const char *root; /* "" or a prefix for the fixed folders */
    const char *cuda_home, *cuda_path, *path; /* environment; may be NULL */
    const struct sandbox *sandbox; /* what compilers see; NULL: everything */
};

/* This process's.  Borrows 'sandbox'. */
struct toolkit_places toolkit_places(const struct sandbox *sandbox);

/* The path of the compiler.  'told' is a given path of nvcc, or "".  Without a
 * compiler ERR_INPUT, with the places searched and the remedy.  One that is
 * hidden from builds is passed over, and said. */
int toolkit_find(const char *device, const char *told,
                 const struct toolkit_places *places, char path[PATH_MAX],
                 struct err *err);

/* Extract "nvcc 13.0.88" or "g++ 12.2.0" from the output of --version; false if
 * it has no version. */
#define TOOLKIT_TEXT_BYTES 64
bool toolkit_version(const char *output, char text[TOOLKIT_TEXT_BYTES]);

/* Find the compiler and ask for its version. */
int toolkit_open(const char *device, const char *told,
                 const struct sandbox *sandbox, int64_t now_ns,
                 struct toolkit **out, struct err *err);
void toolkit_close(struct toolkit *toolkit); /* NULL is fine */

size_t toolkit_poll(const struct toolkit *toolkit, struct pollfd *fds,
                    size_t max);
int64_t toolkit_deadline_ns(const struct toolkit *toolkit);
/* 1 if it has answered, 0 if not yet, or an error code if it cannot be used. */
int toolkit_step(struct toolkit *toolkit, int64_t now_ns, struct err *err);

const char *toolkit_path(const struct toolkit *toolkit);
const char *toolkit_text(const struct toolkit *toolkit);   /* once 1 */
const char *toolkit_device(const struct toolkit *toolkit); /* cuda cpu replay */

#endif
