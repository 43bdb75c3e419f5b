/* device_host.h - what the devices have in common that are no GPU: cpu, replay
 *
 * One a process, which any name of a GPU opens; no cache, no registers, no
 * clock that could be read.  device_host.c has these calls of device.h; the
 * one device that is linked with it says what it is, and has the others.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_DEVICE_HOST_H
#define FA_WORKER_RUNNER_DEVICE_DEVICE_HOST_H

#include "worker/runner/device/device_kernel.h"

struct device_host {
    const struct device_fact *facts;
    size_t n_facts;
    size_t room_bytes;
};

extern const struct device_host device_host; /* of the one that is linked */

/* Say why in 'err', of a device that can still be used.  Returns 'code'. */
int device_host_fail(struct device_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
