/* driver_cuda.h - the calls of the CUDA driver that modules and launches need
 *
 * libcuda comes with the driver, not with the toolkit, so it is opened at run
 * time and a machine that only builds fa-runner need not have it.
 */
#ifndef FA_WORKER_RUNNER_CUDA_DRIVER_CUDA_H
#define FA_WORKER_RUNNER_CUDA_DRIVER_CUDA_H

#include <cuda.h>

#include "worker/runner/device/device.h"

struct driver_cuda {
    __typeof__(&cuModuleLoadData) module_load;
    __typeof__(&cuModuleUnload) module_unload;
    __typeof__(&cuModuleGetFunction) module_function;
    __typeof__(&cuModuleGetGlobal) module_variable;
    __typeof__(&cuFuncGetAttribute) get_attribute;
    __typeof__(&cuFuncSetAttribute) set_attribute;
    __typeof__(&cuLaunchKernel) launch;
    __typeof__(&cuGetErrorName) error_name;
    __typeof__(&cuGetErrorString) error_string;
};

/* DEVICE_BROKEN if the driver is not installed, or is too old and lacks a
 * call. */
int driver_cuda_open(struct driver_cuda *driver, struct device_err *err);

/* "what: text of the driver (CUDA_ERROR_NAME)"; returns 'code'. */
int driver_cuda_error(const struct driver_cuda *driver, int code,
                      const char *what, CUresult rc, struct device_err *err);

#endif
