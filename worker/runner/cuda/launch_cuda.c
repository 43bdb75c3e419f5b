/* launch_cuda.c - launches, their times and their outputs on the cuda device */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runner/cuda/module_cuda.h"
#include "worker/runner/cuda/smem_cuda.h"
#include "worker/runner/device/unwritten.h"

enum {
    QUEUE_ENTRIES = 800,
    GATE_SAMPLES = 8, /* between two gates */
};

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
    else if (smem > (size_t)device->limits.smem)
        snprintf(err->text, sizeof(err->text),
                 "the launch needs %zu bytes of shared memory per block (%zu "
                 "dynamic); this GPU allows %d",
                 smem, launch->smem, (int)device->limits.smem);
    else
        return 0;
    return DEVICE_REFUSED;
}

/* The tasks of what is to be written before a launch, carried out by as few
 * kernels as hold them. */
struct writes {
    struct device *device;
    struct write_tasks tasks;
    cudaError_t rc;
};

static void flush_writes(struct writes *writes)
{
    struct device *device = writes->device;

    writes->tasks.unwritten = unwritten_word(device->turn);
    if (writes->rc == cudaSuccess)
        writes->rc =
            kernel_write(&device->limits, &writes->tasks, device->stream);
    writes->tasks.n = 0;
}

static void add_write(struct writes *writes, struct write_task task)
{
    if (writes->tasks.n == WRITE_TASKS)
        flush_writes(writes);
    writes->tasks.task[writes->tasks.n++] = task;
}

/* What earlier launches have left in the kernel's variables. */
static void add_variables(struct writes *writes,
                          const struct device_kernel *kernel)
{
    for (size_t i = 0; i < kernel->names.n; i++) {
        const struct module_variable *variable = &kernel->variables[i];

        add_write(writes, (struct write_task){ .to = variable->at,
                                               .from = variable->initial,
                                               .bytes = variable->bytes });
    }
}

/* The buffers of a turn as they are to be. */
static void add_starts(struct writes *writes, const struct device_batch *batch,
                       const struct device_turn *turn, size_t n_args)
{
    for (size_t k = 0; k < n_args; k++) {
        const struct device_buffer *written = batch->written[k];
        struct poison poison = turn->poison;

        poison.key = fill_mix(poison.key + k);
        if (written && turn->starts[k])
            add_write(writes, (struct write_task){
                                  .to = device_address(written),
                                  .from = device_address(turn->starts[k]),
                                  .bytes = written->bytes });
        else if (written && (turn->references[k] || !turn->kept))
            add_write(writes, device_cuda_poison(written, &poison));
    }
}

/* Write what a launch is to find; without a batch, only what it may not find.
 */
static int queue_writes(struct device *device,
                        const struct device_launch *launch,
                        const struct device_batch *batch,
                        const struct device_turn *turn, struct device_err *err)
{
    struct writes writes = { .device = device, .rc = cudaSuccess };

    device->turn++;
    add_variables(&writes, launch->kernel);
    if (batch)
        add_starts(&writes, batch, turn, launch->n_args);
    flush_writes(&writes);
    if (writes.rc == cudaSuccess && launch->kernel->reads_local)
        writes.rc = kernel_write_local(
            &device->limits, unwritten_word(device->turn), device->stream);
    return writes.rc == cudaSuccess
               ? 0
               : device_cuda_error("write", writes.rc, err);
}

static int grant_smem(struct device *device, const struct device_launch *launch,
                      struct device_err *err)
{
    struct device_kernel *kernel = launch->kernel;
    CUresult result;

    if (!smem_cuda_must_ask(launch->smem,
                            (size_t)kernel->attributes.static_smem) ||
        launch->smem <= kernel->smem_granted)
        return 0;
    result = device->driver.set_attribute(
        kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        (int)launch->smem);
    if (result != CUDA_SUCCESS)
        return driver_cuda_error(&device->driver, DEVICE_REFUSED,
                                 "shared memory", result, err);
    kernel->smem_granted = launch->smem;
    return 0;
}

/* What waits for the device, and so has to come before the gate. */
static int prepare(struct device *device, const struct device_launch *launch,
                   struct device_err *err)
{
    int rc = check_limits(device, launch, err);

    if (rc == 0 && launch->kernel->opaque)
        rc = device_reload(device, launch->kernel, err);
    return rc < 0 ? rc : grant_smem(device, launch, err);
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

/* A timed launch finds there what the last one of these has left. */
static int queue_surroundings(struct device *device,
                              const struct device_launch *launch,
                              struct device_err *err)
{
    const unsigned char beside = unwritten_byte(device->turn);
    cudaError_t rc = cudaSuccess;

    for (size_t i = 0;
         launch->buffers && rc == cudaSuccess && i < launch->n_args; i++)
        if (launch->buffers[i])
            rc = device_cuda_surround(device, launch->buffers[i], beside);
    return rc == cudaSuccess ? 0 : device_cuda_error("guards", rc, err);
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
        rc = queue_writes(device, launch, NULL, NULL, err);
    if (rc == 0)
        rc = queue_surroundings(device, launch, err);
    if (rc == 0)
        rc = launch_async(device, launch, err);
    if (rc == 0)
        rc = device_cuda_wait(device, timeout_s, err);
    return rc;
}

/* Look at what the launch of a turn has written. */
static int queue_looks(struct device *device, const struct device_batch *batch,
                       const struct device_turn *turn, size_t n_args,
                       struct device_seen *seen, struct device_err *err)
{
    struct look_tasks tasks = { .n = 0 };
    cudaError_t rc = cudaSuccess;

    for (size_t k = 0; rc == cudaSuccess && k < n_args; k++) {
        if (!batch->written[k] || !turn->references[k])
            continue;
        tasks.task[tasks.n++] =
            device_cuda_look(batch->written[k], turn->references[k],
                             &batch->hows[k], turn->sums[k], &seen[k]);
        if (tasks.n < LOOK_TASKS)
            continue;
        rc = kernel_look(&device->limits, &tasks, &device->own->scratch,
                         device->stream);
        tasks.n = 0;
    }
    if (rc == cudaSuccess && tasks.n > 0)
        rc = kernel_look(&device->limits, &tasks, &device->own->scratch,
                         device->stream);
    return rc == cudaSuccess ? 0 : device_cuda_error("look", rc, err);
}

/* What is written before a timed launch takes the place of all that a launch
 * before it has left in the cache. */
static bool displaces_cache(const struct device *device,
                            const struct device_batch *batch, size_t n_args)
{
    size_t bytes = 0;

    for (size_t k = 0; k < n_args; k++)
        if (batch->written[k])
            bytes += batch->written[k]->bytes;
    return bytes >= device->flush_bytes;
}

static int queue_lead(struct device *device, const struct device_launch *launch,
                      const struct device_batch *batch,
                      const struct device_turn *turn, struct device_err *err)
{
    struct device_launch one = *launch;
    int rc = queue_writes(device, launch, batch, turn, err);

    one.args = turn->args;
    return rc < 0 ? rc : launch_async(device, &one, err);
}

static int queue_sample(struct device *device,
                        const struct device_launch *launch,
                        const struct device_batch *batch, size_t i,
                        struct device_err *err)
{
    const struct device_turn *turn = &batch->turns[i];
    struct device_launch one = *launch;
    cudaError_t error = cudaSuccess;
    int rc = 0;

    if (turn->led && !displaces_cache(device, batch, launch->n_args))
        rc = queue_lead(device, launch, batch, turn, err);
    if (rc == 0)
        rc = queue_writes(device, launch, batch, turn, err);
    if (rc < 0)
        return rc;
    one.args = turn->args;
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
    if (error != cudaSuccess)
        return device_cuda_error("sample", error, err);
    return queue_looks(device, batch, turn, launch->n_args,
                       device->own->seen + i * launch->n_args, err);
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

/* Queue samples 'first' to 'end', each group of them behind a gate. */
static int queue_samples(struct device *device,
                         const struct device_launch *launch,
                         const struct device_batch *batch, size_t first,
                         size_t end, struct device_err *err)
{
    cudaError_t error = gate_close(&device->gate, device->stream);
    int rc = error == cudaSuccess ? 0 : device_cuda_error("gate", error, err);

    for (size_t i = first; rc == 0 && i < end; i++) {
        if (i > first && (i - first) % GATE_SAMPLES == 0)
            error = gate_next(&device->gate, device->stream);
        rc = error == cudaSuccess ? queue_sample(device, launch, batch, i, err)
                                  : device_cuda_error("gate", error, err);
    }
    gate_open(&device->gate); /* open it after an error too */
    return rc;
}

/* How many samples the driver's queue holds without blocking the caller.  It
 * blocks, despite the deadline, at about 1000 entries: of each sample, a
 * launch, two events, a flush, what is written before (local memory by a kernel
 * of its own) and looked at after it.
 * Loading waits for the device. */
static size_t queue_room(const struct device_launch *launch)
{
    size_t entries = 5 +
                     (launch->n_args + launch->kernel->names.n) / WRITE_TASKS +
                     2 * (launch->n_args / LOOK_TASKS + 1) + 1;

    return launch->kernel->opaque ? 1 : QUEUE_ENTRIES / entries;
}

static unsigned gates(size_t samples)
{
    return (unsigned)((samples + GATE_SAMPLES - 1) / GATE_SAMPLES);
}

static int read_batch(struct device *device, const struct device_launch *launch,
                      size_t n, struct device_times *times,
                      struct device_err *err)
{
    cudaError_t rc = cudaMemcpy(times->seen, device->own->seen,
                                n * launch->n_args * sizeof(*times->seen),
                                cudaMemcpyDeviceToHost);

    return rc == cudaSuccess ? read_samples(device, n, times->seconds, err)
                             : device_cuda_error("check", rc, err);
}

int device_time(struct device *device, const struct device_launch *launch,
                const struct device_batch *batch, struct device_times *times,
                struct device_err *err)
{
    double begin = device_cuda_now_s();
    size_t room = queue_room(launch);
    cudaError_t error = cudaMemsetAsync(
        device->own->seen, 0,
        batch->n * launch->n_args * sizeof(*device->own->seen), device->stream);
    int rc = error == cudaSuccess ? 0 : device_cuda_error("check", error, err);

    times->blocked = true;
    for (size_t done = 0; rc == 0 && done < batch->n;) {
        size_t end = batch->n - done < room ? batch->n : done + room;

        rc = prepare(device, launch, err);
        if (rc == 0)
            rc = queue_samples(device, launch, batch, done, end, err);
        if (rc == 0 && done == 0)
            device_state(device, &times->during);
        if (rc == 0)
            rc = device_cuda_wait(
                device, batch->timeout_s - (device_cuda_now_s() - begin), err);
        times->blocked =
            times->blocked && gate_held(&device->gate, gates(end - done));
        done = end;
    }
    return rc < 0 ? rc : read_batch(device, launch, batch->n, times, err);
}
