#include "worker/runner/device/device_kernel.h"

int device_start(struct device *device, const struct device_start *start,
                 struct device_err *err)
{
    int rc = device_poison(device, start->buffer, err);

    if (rc == 0 && start->from)
        rc = device_copy(device, start->buffer, start->from, err);
    return rc;
}
