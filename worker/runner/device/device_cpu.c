/* device_cpu.c - the device that is an emulation (emulator/emulator.h)
 *
 * Facts are those of an NVIDIA L4 (sm_89). Times are processor times of the
 * emulated launch, without other work of the machine.  They say nothing about a
 * GPU.
 */
#include "worker/runner/device/device_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "worker/runner/emulator/array.h"
#include "worker/runner/emulator/emulator.h"

const char device_name[] = "cpu";

/* Share of the host's memory; compilers need the rest. */
#define ROOM_BYTES ((size_t)512 << 20)

struct device_buffer {
    struct array *array;
    enum element_type type;
    int64_t count;
};

struct device_kernel {
    void *object; /* dlopen's */
    void (*entry)(void **args);
};

static const struct device_fact facts_table[] = {
    { "arch", "89" },
    { "sm_count", "58" },
    { "smem_per_block", "101376" },
    { "smem_per_sm", "102400" },
    { "regs_per_block", "65536" },
    { "regs_per_sm", "65536" },
    { "threads_per_sm", "1536" },
    { "blocks_per_sm", "24" },
    { "max_threads_per_block", "1024" },
    { "l2_bytes", "50331648" },
    { "mem_bytes", "24152899584" },
    { "dram_bytes_per_s", "300000000000" },
    { "sm_clock_hz", "2040000000" },
    { "mma_flops_per_clock_sm", "1024" },
    { "device", "cpu" },
    { "gpu_name", "emulation" },
    { "uuid", "emulation" },
};

const struct device_host device_host = {
    facts_table, sizeof(facts_table) / sizeof(facts_table[0]), ROOM_BYTES
};

static double clock_s(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int device_alloc(struct device *device, const char *name,
                 enum element_type type, int64_t count,
                 struct device_buffer **out, struct device_err *err)
{
    struct device_buffer *buffer = calloc(1, sizeof(*buffer));
    const size_t bytes = (size_t)count * element_bytes(type);

    (void)device;
    if (buffer)
        buffer->array = array_new(name, bytes);
    if (!buffer || !buffer->array) {
        free(buffer);
        return device_host_fail(err, DEVICE_BROKEN, "%zu bytes for '%s': %s",
                                bytes, name, strerror(errno));
    }
    buffer->type = type;
    buffer->count = count;
    *out = buffer;
    return 0;
}

void device_free(struct device *device, struct device_buffer *buffer)
{
    (void)device;
    if (!buffer)
        return;
    array_free(buffer->array);
    free(buffer);
}

void *device_address(const struct device_buffer *buffer)
{
    return array_base(buffer->array);
}

int device_seal(struct device *device, struct device_buffer *buffer,
                bool sealed, struct device_err *err)
{
    (void)device;
    if (!array_seal(buffer->array, sealed))
        return device_host_fail(err, DEVICE_BROKEN, "mprotect: %s",
                                strerror(errno));
    return 0;
}

int device_fill(struct device *device, struct device_buffer *buffer,
                const struct fill *fill, uint64_t key, struct device_err *err)
{
    void *base = array_base(buffer->array);

    (void)device;
    (void)err;
    for (int64_t i = 0; i < buffer->count; i++)
        element_store(base, buffer->type, i, fill_value(fill, key, i));
    return 0;
}

int device_poison(struct device *device, struct device_buffer *buffer,
                  struct device_err *err)
{
    (void)device;
    (void)err;
    array_poison(buffer->array);
    return 0;
}

/* FNV-1a, 64 bits: the sums are compared only with each other. */
int device_checksum(struct device *device, const struct device_buffer *buffer,
                    uint64_t *sum, int64_t *overrun, struct device_err *err)
{
    const unsigned char *bytes = array_base(buffer->array);
    const size_t n = (size_t)buffer->count * element_bytes(buffer->type);

    (void)device;
    (void)err;
    *sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        *sum = (*sum ^ bytes[i]) * 0x100000001b3u;
    *overrun = array_overrun(buffer->array);
    return 0;
}

int device_check(struct device *device, const struct device_buffer *out,
                 const struct device_buffer *ref, struct check *check,
                 struct device_err *err)
{
    const void *values = array_base(out->array);
    const double *want = array_base(ref->array);
    double ref_sum = 0, error_sum = 0;

    (void)device;
    (void)err;
    for (int64_t i = 0; i < out->count; i++) {
        const double got = element_load(values, out->type, i);

        ref_sum += want[i] * want[i];
        error_sum += check_square_error(got, want[i]);
    }
    *check =
        (struct check){ .relative_l2 = check_relative_l2(error_sum, ref_sum),
                        .max_error = -1 };
    const double rms = sqrt(ref_sum / (double)out->count);
    for (int64_t i = 0; i < out->count; i++) {
        const double got = element_load(values, out->type, i);
        const double error = check_element_error(got, want[i], rms);

        if (error <= check->max_error)
            continue;
        check->max_error = error;
        check->max_at = i;
        check->got = got;
        check->want = want[i];
    }
    return 0;
}

/* The object must have been built for this version of the emulator. */
static int find_entry(struct device_kernel *kernel, const char *path,
                      struct device_err *err)
{
    const int *abi = dlsym(kernel->object, "fa_entry_abi");
    void *entry = dlsym(kernel->object, "fa_entry");

    if (!abi || !entry)
        return device_host_fail(err, DEVICE_REFUSED, "%s exports no fa_entry",
                                path);
    if (*abi != emulator_abi())
        return device_host_fail(
            err, DEVICE_REFUSED,
            "%s is built for emulator version %d, this is %d", path, *abi,
            emulator_abi());
    memcpy(&kernel->entry, &entry, sizeof(entry));
    return 0;
}

int device_load(struct device *device, const char *path, const char *entry,
                struct device_kernel **out, struct device_err *err)
{
    struct device_kernel *kernel = calloc(1, sizeof(*kernel));
    int rc;

    (void)device;
    (void)entry; /* its object has only one, exported as fa_entry */
    if (!kernel)
        return device_host_fail(err, DEVICE_BROKEN, "out of memory");
    kernel->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    rc = kernel->object
             ? find_entry(kernel, path, err)
             : device_host_fail(err, DEVICE_REFUSED, "%s", dlerror());
    if (rc < 0) {
        device_unload(device, kernel);
        return rc;
    }
    *out = kernel;
    return 0;
}

void device_unload(struct device *device, struct device_kernel *kernel)
{
    (void)device;
    if (!kernel)
        return;
    if (kernel->object)
        dlclose(kernel->object);
    free(kernel);
}

static int outcome_code(enum emulator_outcome outcome)
{
    switch (outcome) {
    case EMULATOR_DONE:
        return 0;
    case EMULATOR_REFUSED:
        return DEVICE_REFUSED;
    case EMULATOR_FAULT:
        return DEVICE_FAULT;
    case EMULATOR_TIMEOUT:
        return DEVICE_TIMEOUT;
    case EMULATOR_MEMORY:
        break;
    }
    return DEVICE_BROKEN;
}

int device_run(struct device *device, const struct device_launch *launch,
               double timeout_s, struct device_err *err)
{
    const struct emulator_launch run = {
        .entry = launch->kernel->entry,
        .args = launch->args,
        .grid = { launch->grid[0], launch->grid[1], launch->grid[2] },
        .block = { launch->block[0], launch->block[1], launch->block[2] },
        .smem = launch->smem,
    };

    (void)device;
    if (timeout_s <= 0)
        return device_host_fail(err, DEVICE_TIMEOUT,
                                "the time limit left no time for a launch");
    err->poisoned = false;
    return outcome_code(
        emulator_run(&run, timeout_s, err->text, sizeof(err->text)));
}

/* No cache is emulated, and a launch has ended when it returns. */
int device_time(struct device *device, const struct device_launch *launch,
                const struct device_batch *batch, struct device_times *times,
                struct device_err *err)
{
    struct device_launch one = *launch;
    double left_s = batch->timeout_s;

    times->blocked = false;
    for (size_t i = 0; i < batch->n; i++) {
        double begin, busy;
        int rc = 0;

        for (size_t k = 0; rc == 0 && k < launch->n_args; k++)
            if (batch->outputs[k])
                rc = device_poison(device, batch->outputs[k], err);
        if (batch->args)
            one.args = batch->args[i];
        begin = clock_s(CLOCK_MONOTONIC);
        busy = clock_s(CLOCK_THREAD_CPUTIME_ID);
        if (rc == 0)
            rc = device_run(device, &one, left_s, err);
        if (rc < 0)
            return rc;
        times->seconds[i] = clock_s(CLOCK_THREAD_CPUTIME_ID) - busy;
        left_s -= clock_s(CLOCK_MONOTONIC) - begin;
    }
    device_state(device, &times->during);
    return 0;
}
