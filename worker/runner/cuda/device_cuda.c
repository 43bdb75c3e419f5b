#include "worker/runner/cuda/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/mem.h"
#include "worker/runner/cuda/facts_cuda.h"
#include "worker/runner/cuda/module_variables.h"
#include "worker/runner/device/unwritten.h"

/* Room for a whole tile that a kernel writes next to its buffer by mistake. */
#define GUARD_BYTES ((size_t)64 * 1024)

/* What the driver maps at once: memory is asked for in multiples of it, so that
 * behind a guard there is nothing left where a kernel could keep something. */
#define PAGE_BYTES ((size_t)2 * 1024 * 1024)

/* The time limit of the runner's own kernels, which take milliseconds. */
#define OWN_KERNEL_S 60.0

const char device_name[] = "cuda";

double device_cuda_now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int device_cuda_error(const char *what, cudaError_t rc, struct device_err *err)
{
    snprintf(err->text, sizeof(err->text), "%s: %s (%s, %d)", what,
             cudaGetErrorString(rc), cudaGetErrorName(rc), (int)rc);
    switch (rc) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
        err->poisoned = true;
        return DEVICE_FAULT;
    case cudaErrorLaunchTimeout:
        err->poisoned = true;
        return DEVICE_TIMEOUT;
    case cudaErrorMemoryAllocation:
        return DEVICE_BROKEN;
    default:
        err->poisoned = true;
        return DEVICE_BROKEN;
    }
}

/* Spin for the first 2 ms, in which most waits end; then leave the core to
 * compilers. */
static void pause_waiting(double waited_s)
{
    const struct timespec nap = { .tv_nsec = 100000 };

    if (waited_s > 2e-3)
        nanosleep(&nap, NULL);
}

int device_cuda_wait(struct device *device, double timeout_s,
                     struct device_err *err)
{
    double begin = device_cuda_now_s();
    cudaError_t rc = cudaEventRecord(device->done, device->stream);

    while (rc == cudaSuccess) {
        double waited_s = device_cuda_now_s() - begin;

        rc = cudaEventQuery(device->done);
        if (rc == cudaSuccess)
            return 0;
        if (rc == cudaErrorNotReady)
            rc = cudaSuccess;
        if (rc == cudaSuccess && waited_s > timeout_s) {
            snprintf(err->text, sizeof(err->text), "still running after %.3g s",
                     waited_s);
            err->poisoned = true;
            return DEVICE_TIMEOUT;
        }
        pause_waiting(waited_s);
    }
    return device_cuda_error("kernel", rc, err);
}

static int select_gpu(const char *gpu, int *number, struct device_err *err)
{
    cudaError_t error;
    int rc;

    /* Lazy loading of a kernel at its first launch may wait for the device,
     * which may be waiting at a gate. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    rc = facts_cuda_select(gpu, number, err);
    if (rc < 0)
        return rc;
    error = cudaSetDevice(*number);
    if (error == cudaSuccess)
        error = cudaFree(NULL); /* makes the context, in every version */
    return error == cudaSuccess ? 0 : device_cuda_error(gpu, error, err);
}

static cudaError_t make_events(struct device *device)
{
    cudaError_t rc =
        cudaEventCreateWithFlags(&device->done, cudaEventDisableTiming);

    for (int i = 0; rc == cudaSuccess && i < DEVICE_BATCH; i++) {
        rc = cudaEventCreate(&device->begin[i]);
        if (rc == cudaSuccess)
            rc = cudaEventCreate(&device->end[i]);
    }
    return rc;
}

static cudaError_t make_memory(struct device *device)
{
    int gpu, l2_bytes, major = 0;
    size_t total;
    cudaError_t rc = cudaGetDevice(&gpu);

    if (rc == cudaSuccess)
        rc = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                                    gpu);
    device->local_is_unknown = major < MODULE_VARIABLES_ARCH_MAJOR;
    if (rc == cudaSuccess)
        rc = cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, gpu);
    if (rc == cudaSuccess)
        rc = kernel_limits(gpu, &device->limits);
    if (rc != cudaSuccess)
        return rc;
    device->l2_bytes = (size_t)l2_bytes;
    device->flush_bytes = DEVICE_FLUSH_BYTES(l2_bytes);
    rc = cudaMalloc(&device->flush, device->flush_bytes);
    if (rc == cudaSuccess)
        rc = cudaMemGetInfo(&device->room_bytes, &total);
    device->room_bytes /= 2; /* the rest is for other processes on this GPU */
    /* A kernel that has run once is loaded, so nothing waits for it later. */
    if (rc == cudaSuccess)
        rc = cudaMemsetAsync(device->flush, 0, device->flush_bytes,
                             device->stream);
    if (rc == cudaSuccess)
        rc = cudaMalloc((void **)&device->own, sizeof(*device->own));
    if (rc == cudaSuccess)
        rc = cudaMemsetAsync(device->own, 0, sizeof(*device->own),
                             device->stream);
    return rc;
}

int device_open(const char *gpu, struct device **out, struct device_err *err)
{
    struct device *device = mem_new(1, sizeof(*device));
    int rc;

    rc = driver_cuda_open(&device->driver, err);
    if (rc == 0)
        rc = select_gpu(gpu, &device->number, err);
    if (rc == 0) {
        cudaError_t error =
            cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking);

        if (error == cudaSuccess)
            error = make_events(device);
        if (error == cudaSuccess)
            error = make_memory(device);
        if (error != cudaSuccess)
            rc = device_cuda_error(gpu, error, err);
    }
    if (rc == 0 && getrandom(&device->secret, sizeof(device->secret), 0) !=
                       sizeof(device->secret))
        abort(); /* of 8 bytes, Linux gives all */
    device->turn = device->secret % UNWRITTEN_BYTES;
    if (rc == 0 && facts_cuda_uuid(device->number, device->uuid) < 0)
        rc = device_cuda_error(gpu, cudaGetLastError(), err);
    if (rc < 0) {
        free(device); /* the process frees what the GPU holds */
        err->poisoned = true;
        return rc;
    }
    gate_init(&device->gate);
    device->gpu_state = gpu_state_open(device->uuid);
    *out = device;
    return 0;
}

void device_close(struct device *device)
{
    if (!device)
        return;
    gpu_state_close(device->gpu_state);
    cudaDeviceReset();
    free(device);
}

size_t device_facts(const struct device *device,
                    struct device_fact facts[DEVICE_FACTS_MAX])
{
    char driver[64];

    gpu_state_driver(device->gpu_state, driver, sizeof(driver));
    return facts_cuda(device->number, device->uuid, driver, facts);
}

void device_state(struct device *device, struct device_state *out)
{
    gpu_state_read(device->gpu_state, out);
}

size_t device_room_bytes(const struct device *device)
{
    return device->room_bytes;
}

size_t device_cache_bytes(const struct device *device)
{
    return device->l2_bytes;
}

bool device_isolates(const struct device *device)
{
    (void)device;
    return false;
}

int device_alloc(struct device *device, const char *name,
                 enum element_type type, int64_t count,
                 struct device_buffer **out, struct device_err *err)
{
    struct device_buffer *buffer = mem_new(1, sizeof(*buffer));
    size_t bytes;
    cudaError_t rc;

    buffer->type = type;
    buffer->count = count;
    buffer->bytes = (size_t)count * element_bytes(type);
    bytes = (buffer->bytes + 2 * GUARD_BYTES + PAGE_BYTES - 1) / PAGE_BYTES *
            PAGE_BYTES;
    buffer->after = bytes - GUARD_BYTES - buffer->bytes;
    rc = cudaMalloc((void **)&buffer->base, bytes);
    if (rc != cudaSuccess) {
        (void)cudaGetLastError(); /* out of memory is not a sticky error */
        free(buffer);
        return device_cuda_error(name, rc, err);
    }
    *out = buffer;
    buffer->beside = ELEMENT_POISON;
    rc = cudaMemsetAsync(buffer->base, ELEMENT_POISON, bytes, device->stream);
    return rc == cudaSuccess ? 0 : device_cuda_error(name, rc, err);
}

cudaError_t device_cuda_surround(struct device *device,
                                 struct device_buffer *buffer,
                                 unsigned char byte)
{
    cudaError_t rc = cudaSuccess;

    if (buffer->beside == byte)
        return rc;
    buffer->beside = byte;
    rc = cudaMemsetAsync(buffer->base, byte, GUARD_BYTES, device->stream);
    return rc == cudaSuccess
               ? cudaMemsetAsync(buffer->base + GUARD_BYTES + buffer->bytes,
                                 byte, buffer->after, device->stream)
               : rc;
}

void device_free(struct device *device, struct device_buffer *buffer)
{
    (void)device;
    if (!buffer)
        return;
    cudaFree(buffer->base);
    cudaFree(buffer->norm);
    free(buffer);
}

void *device_address(const struct device_buffer *buffer)
{
    return buffer->base + GUARD_BYTES;
}

/* The norm of a reference, which does not change any more. */
static cudaError_t make_norm(struct device *device, struct device_buffer *ref,
                             const struct check_how *how)
{
    cudaError_t rc = cudaSuccess;

    if (ref->norm)
        return rc;
    rc = cudaMalloc((void **)&ref->norm, sizeof(*ref->norm));
    return rc == cudaSuccess
               ? kernel_norm(device_address(ref), ref->count, ref->key, how,
                             ref->norm, &device->own->scratch, device->stream)
               : rc;
}

/* A GPU has no memory that a kernel could not read or write, so what is hidden
 * is sealed, and for the rest the callers compare checksums. */
int device_guard(struct device *device, struct device_buffer *buffer,
                 enum device_access access, struct device_err *err)
{
    const struct check_how plain = { .infinities = false };
    cudaError_t rc = cudaSuccess;

    if ((access == DEVICE_HIDDEN) == (buffer->key != 0))
        return 0;
    if (access == DEVICE_HIDDEN)
        buffer->key = fill_mix(device->secret + ++device->draws) | 1;
    rc = kernel_seal(device_address(buffer), buffer->count, buffer->key,
                     device->stream);
    if (access == DEVICE_HIDDEN && rc == cudaSuccess)
        rc = make_norm(device, buffer, &plain);
    else
        buffer->key = 0;
    return rc == cudaSuccess ? 0 : device_cuda_error("seal", rc, err);
}

int device_fill(struct device *device, struct device_buffer *buffer,
                const struct fill *fill, uint64_t key, struct device_err *err)
{
    cudaError_t rc = kernel_fill(device_address(buffer), buffer->type,
                                 buffer->count, fill, key, device->stream);

    return rc == cudaSuccess ? 0 : device_cuda_error("fill", rc, err);
}

int device_copy(struct device *device, struct device_buffer *to,
                const struct device_buffer *from, struct device_err *err)
{
    cudaError_t rc;

    if (to->type == from->type)
        rc =
            cudaMemcpyAsync(device_address(to), device_address(from), to->bytes,
                            cudaMemcpyDeviceToDevice, device->stream);
    else
        rc = kernel_convert(device_address(to), to->type, device_address(from),
                            from->type, to->count, device->stream);
    return rc == cudaSuccess ? 0 : device_cuda_error("copy", rc, err);
}

/* From memory that is not pinned: it may be freed after the call. */
int device_write(struct device *device, struct device_buffer *buffer,
                 const void *bytes, struct device_err *err)
{
    cudaError_t rc =
        cudaMemcpyAsync(device_address(buffer), bytes, buffer->bytes,
                        cudaMemcpyHostToDevice, device->stream);

    return rc == cudaSuccess ? 0 : device_cuda_error("write", rc, err);
}

struct write_task device_cuda_poison(const struct device_buffer *buffer,
                                     const struct poison *poison)
{
    return (struct write_task){
        .to = device_address(buffer),
        .bytes = buffer->bytes,
        .word = poison_word(poison, buffer->type, 0),
        .key = poison->kind == POISON_RANDOM ? poison->key | 1 : 0,
    };
}

int device_poison(struct device *device, struct device_buffer *buffer,
                  const struct poison *poison, struct device_err *err)
{
    const struct write_tasks tasks = {
        .task = { device_cuda_poison(buffer, poison) },
        .n = 1,
    };
    cudaError_t rc = kernel_write(&device->limits, &tasks, device->stream);

    return rc == cudaSuccess ? 0 : device_cuda_error("poison", rc, err);
}

/* Wait for a result of the runner's own kernels and copy it to the host. */
static int fetch(struct device *device, const char *what, cudaError_t rc,
                 void *to, const void *from, size_t bytes,
                 struct device_err *err)
{
    int waited;

    if (rc != cudaSuccess)
        return device_cuda_error(what, rc, err);
    waited = device_cuda_wait(device, OWN_KERNEL_S, err);
    if (waited < 0)
        return waited;
    rc = cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
    return rc == cudaSuccess ? 0 : device_cuda_error(what, rc, err);
}

static void keep_scan(struct device_scan *scan, const struct scan *found)
{
    const uint64_t before = SCAN_NO_DAMAGE - found->before;
    const uint64_t after = SCAN_NO_DAMAGE - found->after;

    scan->sum = found->sum;
    scan->overrun = 0;
    if (after <= scan->buffer->after)
        scan->overrun = (int64_t)after;
    else if (before <= GUARD_BYTES)
        scan->overrun = -(int64_t)before;
}

int device_scan(struct device *device, struct device_scan *scans, size_t n,
                struct device_err *err)
{
    struct scan found[SCAN_TASKS];
    int rc = 0;

    for (size_t done = 0, most; rc == 0 && done < n; done += most) {
        struct scan_tasks tasks = { .n = 0 };
        cudaError_t error;

        most = n - done < SCAN_TASKS ? n - done : SCAN_TASKS;
        for (size_t i = 0; i < most; i++) {
            const struct device_buffer *buffer = scans[done + i].buffer;

            tasks.task[tasks.n++] = (struct scan_task){
                .payload = device_address(buffer),
                .bytes = (int64_t)buffer->bytes,
                .before = GUARD_BYTES,
                .after = (int64_t)buffer->after,
                .beside = buffer->beside,
                .sums = scans[done + i].sums,
            };
        }
        error = kernel_scan(&tasks, device->own->scans, device->stream);
        rc = fetch(device, "checksum", error, found, device->own->scans,
                   most * sizeof(*found), err);
        for (size_t i = 0; rc == 0 && i < most; i++)
            keep_scan(&scans[done + i], &found[i]);
    }
    return rc;
}

struct look_task device_cuda_look(const struct device_buffer *out,
                                  const struct device_buffer *ref,
                                  const struct check_how *how, uint64_t known,
                                  struct device_seen *seen)
{
    return (struct look_task){
        .out = device_address(out),
        .bytes = out->bytes,
        .count = out->count,
        .ref = device_address(ref),
        .key = ref->key,
        .norm = ref->norm,
        .known = known,
        .seen = seen,
        .how = *how,
        .type = out->type,
    };
}

int device_check(struct device *device, const struct device_buffer *out,
                 struct device_buffer *ref, const struct check_how *how,
                 struct check *check, uint64_t *sum, struct device_err *err)
{
    struct device_seen *seen = device->own->seen, found;
    int waited;
    cudaError_t rc = make_norm(device, ref, how);

    if (rc == cudaSuccess)
        rc = cudaMemsetAsync(seen, 0, sizeof(*seen), device->stream);
    if (rc == cudaSuccess) {
        const struct look_tasks tasks = {
            .task = { device_cuda_look(out, ref, how, 0, seen) },
            .n = 1,
        };

        rc = kernel_look(&device->limits, &tasks, &device->own->scratch,
                         device->stream);
    }
    waited = fetch(device, "check", rc, &found, seen, sizeof(found), err);
    if (waited < 0)
        return waited;
    *check = found.check;
    if (sum)
        *sum = found.sum;
    return 0;
}
