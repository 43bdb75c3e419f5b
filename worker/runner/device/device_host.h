/* device_host.h - common code of the devices without a GPU: cpu, replay
 *
 * A process has one, which opens for any name of a GPU. It has no cache, no
 * registers and no clock to read.  device_host.c has the calls of device.h for
 * these; the device linked with it defines its properties and the other calls.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_DEVICE_HOST_H
#define FA_WORKER_RUNNER_DEVICE_DEVICE_HOST_H

#include "worker/runner/device/device_kernel.h"

struct device_host {
    const struct device_fact *facts;
    size_t n_facts;
    size_t room_bytes;
};

extern const struct device_host device_host; /* defined by the linked device */

/* Set 'err' for a device that can still be used.  Returns 'code'. */
int device_host_fail(struct device_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
