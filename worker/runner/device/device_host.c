#include "worker/runner/device/device_host.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct device {
    bool is_open;
};

static struct device the_device;

int device_host_fail(struct device_err *err, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    err->poisoned = false;
    return code;
}

int device_open(const char *gpu, struct device **out, struct device_err *err)
{
    (void)gpu;
    if (the_device.is_open)
        return device_host_fail(err, DEVICE_BROKEN,
                                "the device is open already");
    the_device.is_open = true;
    *out = &the_device;
    return 0;
}

void device_close(struct device *device)
{
    if (device)
        device->is_open = false;
}

size_t device_facts(const struct device *device,
                    struct device_fact facts[DEVICE_FACTS_MAX])
{
    (void)device;
    memcpy(facts, device_host.facts, device_host.n_facts * sizeof(*facts));
    return device_host.n_facts;
}

size_t device_room_bytes(const struct device *device)
{
    (void)device;
    return device_host.room_bytes;
}

size_t device_cache_bytes(const struct device *device)
{
    (void)device;
    return 0;
}

bool device_keeps(const struct device_kernel *kernel)
{
    (void)kernel;
    return false;
}

bool device_isolates(const struct device *device)
{
    (void)device;
    return true;
}

void device_kernel_attributes(const struct device_kernel *kernel,
                              struct device_attributes *out)
{
    (void)kernel;
    *out = (struct device_attributes){ -1, -1, -1, .max_threads = 1024 };
}

void device_state(struct device *device, struct device_state *out)
{
    (void)device;
    *out = (struct device_state){ .clock_mhz = NAN,
                                  .temp_c = NAN,
                                  .power_w = NAN };
}
