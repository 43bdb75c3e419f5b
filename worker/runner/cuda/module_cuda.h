/* module_cuda.h - a loaded artifact, and the device memory that it owns
 *
 * Its variables (module_variables.h) are put back before each launch, so that
 * no launch finds what an earlier one has left there.  Where they cannot be
 * found, the artifact is loaded anew before each launch instead.  Its local
 * memory is overwritten, up to KERNELS_LOCAL_BYTES a thread; what malloc()
 * gives it cannot be.
 */
#ifndef FA_WORKER_RUNNER_CUDA_MODULE_CUDA_H
#define FA_WORKER_RUNNER_CUDA_MODULE_CUDA_H

#include "worker/runner/cuda/device_cuda.h"
#include "worker/runner/cuda/module_variables.h"

struct module_variable {
    void *at;
    size_t bytes;
    void *initial; /* what it held when the artifact was first loaded */
};

struct device_kernel {
    char *image;
    size_t image_bytes;
    char entry[WIRE_NAME_MAX + 1];
    CUmodule module;
    CUfunction function;
    struct device_attributes attributes;
    size_t smem_granted; /* set by cuFuncSetAttribute so far */
    struct module_variables names;
    struct module_variable variables[MODULE_VARIABLES_MAX]; /* [names.n] */
    bool opaque;      /* its variables are not known: load it for each launch */
    bool keeps;       /* device_keeps() */
    bool reads_local; /* memory, of which it may not have written all */
};

#endif
