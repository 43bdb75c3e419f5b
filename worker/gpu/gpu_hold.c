#include "worker/gpu/gpu_hold.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/device_kind.h"
#include "worker/gpu/gpu_name.h"
#include "worker/gpu/gpulock.h"

void gpu_hold_init(struct gpu_hold *hold)
{
    memset(hold, 0, sizeof(*hold));
    hold->lock = -1;
}

void gpu_hold_release(struct gpu_hold *hold)
{
    if (hold->lock >= 0)
        close(hold->lock);
    hold->lock = -1;
}

int gpu_hold_take(struct gpu_hold *hold, const char *device, const char *which,
                  const char *home, const char *uuid, int64_t now_ns,
                  struct err *err)
{
    if (hold->lock >= 0)
        return strcmp(uuid, hold->uuid) == 0
                   ? 0
                   : err_set(err, ERR_DEVICE, "GPU %s was %s and is now %s",
                             which, hold->uuid, uuid);
    if (!device_kind_is(device, DEVICE_KIND_CUDA)) {
        if (!hold->uuid[0])
            gpu_name_unreal(device, which, home, hold->uuid);
        return 0;
    }
    snprintf(hold->uuid, sizeof(hold->uuid), "%s", uuid);
    if (hold->until_ns == 0)
        hold->until_ns = now_ns + GPU_HOLD_WAIT_NS;
    hold->lock = gpulock_take(GPULOCK_FOLDER, hold->uuid, err);
    return hold->lock < 0 ? hold->lock : 0;
}

bool gpu_hold_waits(const struct gpu_hold *hold, int64_t now_ns)
{
    return hold->lock == ERR_DEVICE && now_ns < hold->until_ns;
}
