/* device_replay.c - the device that answers from a record (record.h)
 *
 * A kernel is the record of a configuration; launching it takes the recorded
 * time and ends as recorded.  Its samples are the recorded ones in an order
 * that the argument 'draw' fixes, each once before any comes again.
 */
#include "worker/runner/device/device_host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "worker/runner/device/record.h"

const char device_name[] = "replay";

/* There is no memory behind a buffer: nothing is computed. */
struct device_buffer {
    int64_t count;
};

struct device_kernel {
    struct record record;
    bool verified; /* it has waited for the recorded verification */
    bool begun;    /* 'state' belongs to 'draw' */
    uint64_t state;
    size_t order[RECORD_SAMPLES_MAX];
    size_t at; /* in 'order' */
};

/* Problems of a record are a few bytes each. */
#define ROOM_BYTES ((size_t)16 << 20)

static const struct device_fact facts_table[] = {
    { "arch", "0" },
    { "device", "replay" },
    { "gpu_name", "recorded" },
    { "uuid", "recorded" },
};

const struct device_host device_host = {
    facts_table, sizeof(facts_table) / sizeof(facts_table[0]), ROOM_BYTES
};

int device_alloc(struct device *device, const char *name,
                 enum element_type type, int64_t count,
                 struct device_buffer **out, struct device_err *err)
{
    struct device_buffer *buffer = mem_new(1, sizeof(*buffer));

    (void)device;
    (void)name;
    (void)type;
    (void)err;
    buffer->count = count;
    *out = buffer;
    return 0;
}

void device_free(struct device *device, struct device_buffer *buffer)
{
    (void)device;
    free(buffer);
}

/* The argument is the buffer itself. */
void *device_address(const struct device_buffer *buffer)
{
    return (void *)buffer;
}

double device_clock_s(const struct device *device)
{
    struct timespec now;

    (void)device;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int device_guard(struct device *device, struct device_buffer *buffer,
                 enum device_access access, struct device_err *err)
{
    (void)device;
    (void)buffer;
    (void)access;
    (void)err;
    return 0;
}

int device_fill(struct device *device, struct device_buffer *buffer,
                const struct fill *fill, uint64_t key, struct device_err *err)
{
    (void)device;
    (void)buffer;
    (void)fill;
    (void)key;
    (void)err;
    return 0;
}

int device_write(struct device *device, struct device_buffer *buffer,
                 const void *bytes, struct device_err *err)
{
    (void)device;
    (void)buffer;
    (void)bytes;
    (void)err;
    return 0;
}

int device_copy(struct device *device, struct device_buffer *to,
                const struct device_buffer *from, struct device_err *err)
{
    (void)device;
    (void)to;
    (void)from;
    (void)err;
    return 0;
}

int device_poison(struct device *device, struct device_buffer *buffer,
                  const struct poison *poison, struct device_err *err)
{
    (void)device;
    (void)buffer;
    (void)poison;
    (void)err;
    return 0;
}

int device_scan(struct device *device, struct device_scan *scans, size_t n,
                struct device_err *err)
{
    (void)device;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        scans[i].sum = (uint64_t)scans[i].buffer->count;
        scans[i].overrun = 0;
    }
    return 0;
}

int device_check(struct device *device, const struct device_buffer *out,
                 struct device_buffer *ref, const struct check_how *how,
                 struct check *check, uint64_t *sum, struct device_err *err)
{
    (void)device;
    (void)ref;
    (void)how;
    (void)err;
    *check = (struct check){ .relative_l2 = 0, .max_error = 0 };
    if (sum)
        *sum = (uint64_t)out->count;
    return 0;
}

static const char *reason_of(const struct record *record)
{
    return record->reason[0] ? record->reason : "so it is recorded";
}

int device_load(struct device *device, const char *path, const char *entry,
                struct device_kernel **out, struct device_err *err)
{
    struct device_kernel *kernel = mem_new(1, sizeof(*kernel));
    char why[RECORD_WHY_MAX];

    (void)device;
    (void)entry;
    if (record_read(path, &kernel->record, why) < 0) {
        free(kernel);
        return device_host_fail(err, DEVICE_BROKEN, "%s: %s", path, why);
    }
    if (kernel->record.outcome == OUTCOME_CONSTRAINTS) {
        device_host_fail(err, DEVICE_REFUSED, "%s", reason_of(&kernel->record));
        free(kernel);
        return DEVICE_REFUSED;
    }
    *out = kernel;
    return 0;
}

void device_unload(struct device *device, struct device_kernel *kernel)
{
    (void)device;
    free(kernel);
}

static double real_argument(const struct device_launch *launch, size_t i)
{
    double value;

    memcpy(&value, launch->args[i], sizeof(value));
    return value;
}

/* Wait for the recorded verification once, whatever the number of checks.  The
 * time of the recorded benchmark beyond its samples is added. */
static void verify(const struct device_launch *launch)
{
    struct device_kernel *kernel = launch->kernel;
    const struct record *record = &kernel->record;
    double seconds = record->bench_s;

    if (kernel->verified)
        return;
    kernel->verified = true;
    for (size_t i = 0; i < record->n_samples; i++)
        seconds -= record->samples[i];
    record_wait(record->verify_s + fmax(seconds, 0),
                real_argument(launch, RECORD_SPEED_UP));
}

static int end_as_recorded(const struct record *record, struct device_err *err)
{
    int code = record->outcome == OUTCOME_RUNTIME       ? DEVICE_FAULT
               : record->outcome == OUTCOME_TIMEOUT     ? DEVICE_TIMEOUT
               : record->outcome == OUTCOME_CORRECTNESS ? DEVICE_WRONG
                                                        : 0;

    err->poisoned = false;
    if (code == 0)
        return 0;
    device_host_fail(err, code, "%s", reason_of(record));
    err->poisoned = code != DEVICE_WRONG; /* as on a GPU */
    return code;
}

int device_run(struct device *device, const struct device_launch *launch,
               double timeout_s, struct device_err *err)
{
    (void)device;
    (void)timeout_s; /* the record has its own time-outs */
    if (launch->n_args != RECORD_ARGUMENTS)
        return device_host_fail(err, DEVICE_REFUSED,
                                "a recorded kernel has %d arguments, not %zu",
                                RECORD_ARGUMENTS, launch->n_args);
    verify(launch);
    return end_as_recorded(&launch->kernel->record, err);
}

/* A new order of the samples, by Fisher and Yates. */
static void shuffle(struct device_kernel *kernel)
{
    const size_t n = kernel->record.n_samples;

    for (size_t i = 0; i < n; i++)
        kernel->order[i] = i;
    for (size_t i = n; i > 1; i--) {
        const size_t other = (size_t)(fill_mix(kernel->state++) % i);
        const size_t held = kernel->order[i - 1];

        kernel->order[i - 1] = kernel->order[other];
        kernel->order[other] = held;
    }
    kernel->at = 0;
}

static double next_sample(const struct device_launch *launch)
{
    struct device_kernel *kernel = launch->kernel;

    if (!kernel->begun) {
        int64_t draw;

        memcpy(&draw, launch->args[RECORD_DRAW], sizeof(draw));
        kernel->state = fill_mix((uint64_t)draw);
        kernel->begun = true;
        shuffle(kernel);
    } else if (kernel->at == kernel->record.n_samples) {
        shuffle(kernel);
    }
    return kernel->record.samples[kernel->order[kernel->at++]] *
           real_argument(launch, RECORD_FACTOR);
}

int device_reload(struct device *device, struct device_kernel *kernel,
                  struct device_err *err)
{
    (void)device;
    (void)kernel;
    (void)err;
    return 0;
}

/* What is recorded as right has nothing to be compared with. */
static void see_nothing(const struct device_launch *launch,
                        const struct device_batch *batch,
                        struct device_times *times)
{
    for (size_t i = 0; i < batch->n; i++)
        for (size_t k = 0; k < launch->n_args; k++)
            times->seen[i * launch->n_args + k] =
                (struct device_seen){ .sum = batch->turns[i].sums[k] };
}

int device_time(struct device *device, const struct device_launch *launch,
                const struct device_batch *batch, struct device_times *times,
                struct device_err *err)
{
    double sum = 0;
    int rc = device_run(device, launch, batch->timeout_s, err);

    for (size_t i = 0; rc == 0 && i < batch->n; i++) {
        times->seconds[i] = next_sample(launch);
        sum += times->seconds[i];
    }
    if (rc == 0)
        record_wait(sum, real_argument(launch, RECORD_SPEED_UP));
    see_nothing(launch, batch, times);
    times->blocked = false;
    device_state(device, &times->during);
    return rc;
}
