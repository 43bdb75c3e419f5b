/* facts_device.c - the device of fa-facts: a GPU whose facts are asked for, and
 * no more
 *
 * fa-facts is fa-runner with this device.  It has no kernels and makes no
 * context, so nvcc builds it in a fraction of the time.  The sweep can begin to
 * build while nvcc is still busy with fa-runner.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"
#include "worker/runner/cuda/driver_cuda.h"
#include "worker/runner/cuda/facts_cuda.h"
#include "worker/runner/device/gpu_state.h"
#include "worker/runner/measure.h"

struct device {
    int number;
    char uuid[64];
    struct gpu_state *state;
};

const char device_name[] = "cuda";

int device_open(const char *gpu, struct device **out, struct device_err *err)
{
    struct device *device = mem_new(1, sizeof(*device));
    struct driver_cuda driver;
    int rc = driver_cuda_open(&driver, err);

    if (rc == 0)
        rc = facts_cuda_select(gpu, &device->number, err);
    if (rc == 0 && facts_cuda_uuid(device->number, device->uuid) < 0) {
        snprintf(err->text, sizeof(err->text), "GPU %s has no UUID", gpu);
        rc = DEVICE_BROKEN;
    }
    if (rc < 0) {
        err->poisoned = true;
        free(device);
        return rc;
    }
    device->state = gpu_state_open(device->uuid);
    *out = device;
    return 0;
}

void device_close(struct device *device)
{
    if (!device)
        return;
    gpu_state_close(device->state);
    free(device);
}

size_t device_facts(const struct device *device,
                    struct device_fact facts[DEVICE_FACTS_MAX])
{
    char driver[64];

    gpu_state_driver(device->state, driver, sizeof(driver));
    return facts_cuda(device->number, device->uuid, driver, facts);
}

struct resident *resident_new(struct device *device)
{
    (void)device;
    return NULL;
}

void resident_free(struct resident *resident)
{
    (void)resident;
}

void measure(struct device *device, struct resident *resident,
             const struct wire_measure *want, FILE *progress,
             struct wire_reply *reply)
{
    (void)device;
    (void)resident;
    (void)want;
    (void)progress;
    reply->kind = WIRE_ERROR;
    snprintf(reply->error, sizeof(reply->error),
             "this program knows facts only");
}
