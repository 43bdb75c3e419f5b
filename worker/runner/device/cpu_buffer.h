/* cpu_buffer.h - the memory of the emulated device
 *
 * Defines device.h's functions of buffers.  A buffer is an array of this
 * process (emulator/array.h), which the children that launch kernels share.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_CPU_BUFFER_H
#define FA_WORKER_RUNNER_DEVICE_CPU_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/runner/device/device.h"

struct array;

struct device_buffer {
    struct array *array;
    enum element_type type;
    int64_t count;
    char *name;
    bool writable;              /* by kernels */
    bool opened;                /* by device_guard(), as no reference is */
    struct device_buffer *next; /* of all, or NULL */
};

size_t cpu_buffer_bytes(const struct device_buffer *buffer);

/* Is it compared with a reference, or one itself?  An output is there twice: as
 * the kernel writes it and, in doubles, as the reference does.  A workspace is
 * there once; those of other problems have been opened. */
bool cpu_buffer_is_compared(const struct device_buffer *buffer);

/* The newest of all buffers, or NULL. */
const struct device_buffer *cpu_buffer_first(void);

#endif
