/* launch_cuda.c - modules, launches and times of the cuda device */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runner/cuda/device_cuda.h"
#include "worker/runner/cuda/smem_cuda.h"

enum {
    QUEUE_ENTRIES = 800
};

/* Limit of a cubin's size; that of a tuned kernel is some 100 KB. */
#define ARTIFACT_BYTES_MAX ((long)256 * 1024 * 1024)

struct device_kernel {
    CUmodule module;
    CUfunction function;
    struct device_attributes attributes;
    size_t smem_granted; /* set by cuFuncSetAttribute so far */
};

static char *read_artifact(const char *path, struct device_err *err)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && size <= ARTIFACT_BYTES_MAX) {
        rewind(file);
        bytes = malloc((size_t)size + 1);
        if (!bytes)
            abort();
        bytes[size] = '\0'; /* PTX is a text */
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

int device_load(struct device *device, const char *path, const char *entry,
                struct device_kernel **out, struct device_err *err)
{
    char *image = read_artifact(path, err);
    struct device_kernel *kernel;
    CUmodule module;
    CUfunction function;
    CUresult rc;

    if (!image)
        return DEVICE_BROKEN;
    rc = device->driver.module_load(&module, image);
    free(image);
    if (rc != CUDA_SUCCESS)
        return load_error(device, rc, err);
    rc = device->driver.module_function(&function, module, entry);
    if (rc != CUDA_SUCCESS) {
        device->driver.module_unload(module);
        return driver_cuda_error(&device->driver, DEVICE_BROKEN, entry, rc,
                                 err);
    }
    kernel = calloc(1, sizeof(*kernel));
    if (!kernel)
        abort();
    kernel->module = module;
    kernel->function = function;
    kernel->attributes = (struct device_attributes){
        .regs = read_attribute(device, function, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .local_bytes = read_attribute(device, function,
                                      CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .static_smem = read_attribute(device, function,
                                      CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .max_threads = read_attribute(device, function,
                                      CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    };
    *out = kernel;
    return 0;
}

void device_unload(struct device *device, struct device_kernel *kernel)
{
    if (!kernel)
        return;
    device->driver.module_unload(kernel->module);
    free(kernel);
}

void device_kernel_attributes(const struct device_kernel *kernel,
                              struct device_attributes *out)
{
    *out = kernel->attributes;
}

/* Describe in numbers what the driver would call an invalid value. */
static int check_limits(const struct device *device,
                        const struct device_launch *launch,
                        struct device_err *err)
{
    const struct device_attributes *has = &launch->kernel->attributes;
    uint64_t threads =
        (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t blocks =
        (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    size_t smem = launch->smem + (size_t)has->static_smem;

    if (threads == 0 || blocks == 0)
        snprintf(err->text, sizeof(err->text),
                 "nothing to launch: grid %u x %u x %u, block %u x %u x %u",
                 launch->grid[0], launch->grid[1], launch->grid[2],
                 launch->block[0], launch->block[1], launch->block[2]);
    else if (threads > (uint64_t)has->max_threads)
        snprintf(err->text, sizeof(err->text),
                 "the launch has %llu threads per block; this kernel, with %d "
                 "registers per thread, allows at most %d",
                 (unsigned long long)threads, has->regs, has->max_threads);
    else if (smem > (size_t)device->smem_max)
        snprintf(err->text, sizeof(err->text),
                 "the launch needs %zu bytes of shared memory per block (%zu "
                 "dynamic); this GPU allows %d",
                 smem, launch->smem, device->smem_max);
    else
        return 0;
    return DEVICE_REFUSED;
}

static int prepare(struct device *device, const struct device_launch *launch,
                   struct device_err *err)
{
    struct device_kernel *kernel = launch->kernel;
    int rc = check_limits(device, launch, err);
    CUresult result;

    if (rc < 0 ||
        !smem_cuda_must_ask(launch->smem,
                            (size_t)kernel->attributes.static_smem) ||
        launch->smem <= kernel->smem_granted)
        return rc;
    result = device->driver.set_attribute(
        kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        (int)launch->smem);
    if (result != CUDA_SUCCESS)
        return driver_cuda_error(&device->driver, DEVICE_REFUSED,
                                 "shared memory", result, err);
    kernel->smem_granted = launch->smem;
    return 0;
}

/* A launch reports its own refusal at once, but it may also report faults of
 * earlier work. */
static int launch_error(const struct device *device, CUresult rc,
                        struct device_err *err)
{
    if (rc == CUDA_ERROR_INVALID_VALUE ||
        rc == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        return driver_cuda_error(&device->driver, DEVICE_REFUSED, "launch", rc,
                                 err);
    err->poisoned = true;
    return driver_cuda_error(&device->driver,
                             rc == CUDA_ERROR_OUT_OF_MEMORY ? DEVICE_BROKEN
                                                            : DEVICE_FAULT,
                             "launch", rc, err);
}

static int launch_async(struct device *device,
                        const struct device_launch *launch,
                        struct device_err *err)
{
    CUresult rc = device->driver.launch(
        launch->kernel->function, launch->grid[0], launch->grid[1],
        launch->grid[2], launch->block[0], launch->block[1], launch->block[2],
        (unsigned)launch->smem, device->stream, launch->args, NULL);

    return rc == CUDA_SUCCESS ? 0 : launch_error(device, rc, err);
}

double device_clock_s(const struct device *device)
{
    (void)device;
    return device_cuda_now_s();
}

int device_run(struct device *device, const struct device_launch *launch,
               double timeout_s, struct device_err *err)
{
    int rc = prepare(device, launch, err);

    if (rc == 0)
        rc = launch_async(device, launch, err);
    if (rc == 0)
        rc = device_cuda_wait(device, timeout_s, err);
    return rc;
}

static int queue_sample(struct device *device,
                        const struct device_launch *launch,
                        const struct device_batch *batch, size_t i,
                        struct device_err *err)
{
    struct device_launch one = *launch;
    cudaError_t error = cudaSuccess;
    int rc;

    for (size_t k = 0; k < launch->n_args; k++) {
        rc = batch->starts[k].buffer
                 ? device_start(device, &batch->starts[k], err)
                 : 0;
        if (rc < 0)
            return rc;
    }
    if (batch->args)
        one.args = batch->args[i];
    if (batch->flush)
        error = cudaMemsetAsync(device->flush, (int)i & 0xff,
                                device->flush_bytes, device->stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(device->begin[i], device->stream);
    if (error != cudaSuccess)
        return device_cuda_error("sample", error, err);
    rc = launch_async(device, &one, err);
    if (rc < 0)
        return rc;
    error = cudaEventRecord(device->end[i], device->stream);
    return error == cudaSuccess ? 0 : device_cuda_error("sample", error, err);
}

static int read_samples(struct device *device, size_t n, double *seconds,
                        struct device_err *err)
{
    for (size_t i = 0; i < n; i++) {
        float ms;
        cudaError_t rc =
            cudaEventElapsedTime(&ms, device->begin[i], device->end[i]);

        if (rc != cudaSuccess)
            return device_cuda_error("sample", rc, err);
        seconds[i] = (double)ms * 1e-3;
    }
    return 0;
}

/* Queue samples 'first' to 'end', behind a gate. */
static int queue_samples(struct device *device,
                         const struct device_launch *launch,
                         const struct device_batch *batch, size_t first,
                         size_t end, struct device_err *err)
{
    cudaError_t error = gate_close(&device->gate, device->stream);
    int rc = error == cudaSuccess ? 0 : device_cuda_error("gate", error, err);

    for (size_t i = first; rc == 0 && i < end; i++)
        rc = queue_sample(device, launch, batch, i, err);
    gate_open(&device->gate); /* open it after an error too */
    return rc;
}

/* How many samples the driver's queue holds without blocking the caller.  It
 * blocks, despite the deadline, at about 1000 entries: a launch, two events and
 * a flush for each sample, and one for each output. */
static size_t queue_room(const struct device_launch *launch,
                         const struct device_batch *batch)
{
    size_t entries = 4;

    for (size_t k = 0; k < launch->n_args; k++)
        entries +=
            (batch->starts[k].buffer != NULL) + (batch->starts[k].from != NULL);
    return QUEUE_ENTRIES / entries;
}

int device_time(struct device *device, const struct device_launch *launch,
                const struct device_batch *batch, struct device_times *times,
                struct device_err *err)
{
    double begin = device_cuda_now_s();
    size_t room = queue_room(launch, batch);
    int rc = prepare(device, launch, err);

    times->blocked = true;
    for (size_t done = 0; rc == 0 && done < batch->n;) {
        size_t end = batch->n - done < room ? batch->n : done + room;

        rc = queue_samples(device, launch, batch, done, end, err);
        if (rc == 0 && done == 0)
            device_state(device, &times->during);
        if (rc == 0)
            rc = device_cuda_wait(
                device, batch->timeout_s - (device_cuda_now_s() - begin), err);
        times->blocked = times->blocked && gate_held(&device->gate);
        done = end;
    }
    return rc < 0 ? rc : read_samples(device, batch->n, times->seconds, err);
}
