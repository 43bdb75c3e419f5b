/* module_variables.h - the variables of a cubin: its __device__ memory
 *
 * They lie in .nv.global, which starts as zeros, and in .nv.global.init; the
 * symbol table names them, also the static ones (seen with nvcc 13).  Pure.
 */
#ifndef FA_WORKER_RUNNER_CUDA_MODULE_VARIABLES_H
#define FA_WORKER_RUNNER_CUDA_MODULE_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MODULE_VARIABLES_MAX = 256
};

struct module_variables {
    const char *names[MODULE_VARIABLES_MAX]; /* borrowed from the image */
    size_t n;
};

/* False: the image is no cubin, or has more or other variables than can be
 * named; so nothing is known of its memory. */
bool module_variables_of(const void *image, size_t len,
                         struct module_variables *out);

#endif
