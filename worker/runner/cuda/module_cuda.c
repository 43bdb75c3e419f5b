#include "common/mem.h"
#include "worker/runner/cuda/module_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of a cubin's size; that of a tuned kernel is some 100 KB. */
#define ARTIFACT_BYTES_MAX ((long)256 * 1024 * 1024)

static char *read_artifact(const char *path, size_t *len,
                           struct device_err *err)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && size <= ARTIFACT_BYTES_MAX) {
        rewind(file);
        bytes = mem_new((size_t)size + 1, 1); /* PTX is a text */
        *len = (size_t)size;
        if (fread(bytes, 1, (size_t)size, file) != (size_t)size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (!bytes)
        snprintf(err->text, sizeof(err->text), "cannot read the artifact '%s'",
                 path);
    if (file)
        fclose(file);
    return bytes;
}

/* If this GPU or driver does not accept the image, the artifact is at fault;
 * other errors are not its fault. */
static int load_error(const struct device *device, CUresult rc,
                      struct device_err *err)
{
    bool image = rc == CUDA_ERROR_INVALID_IMAGE ||
                 rc == CUDA_ERROR_NO_BINARY_FOR_GPU ||
                 rc == CUDA_ERROR_INVALID_PTX ||
                 rc == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
                 rc == CUDA_ERROR_INVALID_SOURCE;

    err->poisoned = !image && rc != CUDA_ERROR_OUT_OF_MEMORY;
    return driver_cuda_error(&device->driver,
                             image ? DEVICE_REFUSED : DEVICE_BROKEN, "artifact",
                             rc, err);
}

static int read_attribute(const struct device *device, CUfunction function,
                          CUfunction_attribute which)
{
    int value = -1;

    device->driver.get_attribute(&value, which, function);
    return value;
}

static int load_image(struct device *device, struct device_kernel *kernel,
                      struct device_err *err)
{
    CUresult rc = device->driver.module_load(&kernel->module, kernel->image);

    if (rc != CUDA_SUCCESS)
        return load_error(device, rc, err);
    rc = device->driver.module_function(&kernel->function, kernel->module,
                                        kernel->entry);
    if (rc == CUDA_SUCCESS)
        return 0;
    device->driver.module_unload(kernel->module);
    kernel->module = NULL;
    return driver_cuda_error(&device->driver, DEVICE_BROKEN, kernel->entry, rc,
                             err);
}

/* Where the variables are; false if one of them is not found. */
static bool find_variables(const struct device *device,
                           struct device_kernel *kernel)
{
    for (size_t i = 0; i < kernel->names.n; i++) {
        struct module_variable *variable = &kernel->variables[i];
        CUdeviceptr at;

        if (device->driver.module_variable(
                &at, &variable->bytes, kernel->module,
                kernel->names.names[i]) != CUDA_SUCCESS)
            return false;
        variable->at = (void *)(uintptr_t)at;
    }
    return true;
}

static cudaError_t keep_variables(struct device *device,
                                  struct device_kernel *kernel)
{
    cudaError_t rc = cudaSuccess;

    for (size_t i = 0; rc == cudaSuccess && i < kernel->names.n; i++) {
        struct module_variable *variable = &kernel->variables[i];

        rc = cudaMalloc(&variable->initial, variable->bytes);
        if (rc == cudaSuccess)
            rc = cudaMemcpyAsync(variable->initial, variable->at,
                                 variable->bytes, cudaMemcpyDeviceToDevice,
                                 device->stream);
    }
    return rc;
}

int device_load(struct device *device, const char *path, const char *entry,
                struct device_kernel **out, struct device_err *err)
{
    struct device_kernel *kernel = mem_new(1, sizeof(*kernel));
    cudaError_t error = cudaSuccess;
    int rc;

    snprintf(kernel->entry, sizeof(kernel->entry), "%s", entry);
    kernel->image = read_artifact(path, &kernel->image_bytes, err);
    rc = kernel->image ? load_image(device, kernel, err) : DEVICE_BROKEN;
    if (rc == 0) {
        kernel->opaque =
            !module_variables_of(kernel->image, kernel->image_bytes,
                                 &kernel->names) ||
            !find_variables(device, kernel);
        if (kernel->opaque)
            kernel->names.n = 0;
        error = keep_variables(device, kernel);
    }
    if (error != cudaSuccess)
        rc = device_cuda_error("variables", error, err);
    if (rc < 0) {
        device_unload(device, kernel);
        return rc;
    }
    kernel->attributes = (struct device_attributes){
        .regs = read_attribute(device, kernel->function,
                               CU_FUNC_ATTRIBUTE_NUM_REGS),
        .local_bytes = read_attribute(device, kernel->function,
                                      CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .static_smem = read_attribute(device, kernel->function,
                                      CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .max_threads = read_attribute(device, kernel->function,
                                      CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    };
    kernel->reads_local =
        device->local_is_unknown ||
        module_reads_local(kernel->image, kernel->image_bytes);
    kernel->keeps = module_allocates(kernel->image, kernel->image_bytes) ||
                    kernel->attributes.local_bytes > KERNELS_LOCAL_BYTES;
    *out = kernel;
    return 0;
}

bool device_keeps(const struct device_kernel *kernel)
{
    return kernel->keeps;
}

int device_reload(struct device *device, struct device_kernel *kernel,
                  struct device_err *err)
{
    int rc;

    device->driver.module_unload(kernel->module);
    kernel->module = NULL;
    kernel->smem_granted = 0;
    rc = load_image(device, kernel, err);
    if (rc == 0 && !find_variables(device, kernel)) {
        snprintf(err->text, sizeof(err->text),
                 "%s lost its variables when it was loaded again",
                 kernel->entry);
        rc = DEVICE_BROKEN;
    }
    return rc;
}

void device_unload(struct device *device, struct device_kernel *kernel)
{
    if (!kernel)
        return;
    if (kernel->module)
        device->driver.module_unload(kernel->module);
    for (size_t i = 0; i < kernel->names.n; i++)
        cudaFree(kernel->variables[i].initial);
    free(kernel->image);
    free(kernel);
}

void device_kernel_attributes(const struct device_kernel *kernel,
                              struct device_attributes *out)
{
    *out = kernel->attributes;
}
