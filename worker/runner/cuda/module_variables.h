/* module_variables.h - the memory of a cubin's own: variables, and the heap
 *
 * Its __device__ variables lie in .nv.global, which starts as zeros, and in
 * .nv.global.init; its __constant__ ones, which a kernel can write to by their
 * address, in .nv.constant3.  The symbol table names them, also the static ones
 * (seen with nvcc 13).  Pure.
 */
#ifndef FA_WORKER_RUNNER_CUDA_MODULE_VARIABLES_H
#define FA_WORKER_RUNNER_CUDA_MODULE_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MODULE_VARIABLES_MAX = 256,
    MODULE_VARIABLES_ARCH_MAJOR = 7 /* of the oldest GPUs whose code is read */
};

struct module_variables {
    const char *names[MODULE_VARIABLES_MAX]; /* borrowed from the image */
    size_t n;
};

/* False: the image is no cubin, or has more or other variables than can be
 * named; so nothing is known of its memory. */
bool module_variables_of(const void *image, size_t len,
                         struct module_variables *out);

/* True if its kernels may get memory while they run: they call a function of
 * the driver's, as malloc() is, that may give them some; or the image is no
 * cubin. */
bool module_allocates(const void *image, size_t len);

/* True if its code loads from local memory, or from an address that may lie
 * there; or the image is no cubin.  On GPUs from MODULE_VARIABLES_ARCH_MAJOR
 * on. */
bool module_reads_local(const void *image, size_t len);

#endif
