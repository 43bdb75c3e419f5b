#include "worker/runner/device/gpu_state.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "worker/runner/device/device_kernel.h"

/* From nvml.h, which a toolkit may lack: the ABI has been stable since NVML 5
 * (2013). */
enum {
    NVML_CLOCK_SM = 1,
    NVML_TEMPERATURE_GPU = 0
};

struct gpu_state {
    void *library;
    void *gpu; /* nvmlDevice_t */
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *uuid, void **gpu);
    int (*clock)(void *gpu, int which, unsigned *mhz);
    int (*temperature)(void *gpu, int which, unsigned *celsius);
    int (*power)(void *gpu, unsigned *milliwatts);
    int (*throttle)(void *gpu, unsigned long long *reasons);
    int (*driver)(char *version, unsigned size);
};

static int gpu_state_bind(struct gpu_state *state)
{
    const struct {
        const char *name;
        void *slot;
    } symbols[] = {
        { "nvmlInit_v2", &state->init },
        { "nvmlShutdown", &state->shutdown },
        { "nvmlDeviceGetHandleByUUID", &state->by_uuid },
        { "nvmlDeviceGetClockInfo", &state->clock },
        { "nvmlDeviceGetTemperature", &state->temperature },
        { "nvmlDeviceGetPowerUsage", &state->power },
        { "nvmlDeviceGetCurrentClocksThrottleReasons", &state->throttle },
        { "nvmlSystemGetDriverVersion", &state->driver },
    };

    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        *(void **)symbols[i].slot = dlsym(state->library, symbols[i].name);
        if (!*(void **)symbols[i].slot)
            return -1;
    }
    return 0;
}

struct gpu_state *gpu_state_open(const char *uuid)
{
    struct gpu_state *state = mem_new(1, sizeof(*state));

    state->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!state->library)
        goto absent;
    if (gpu_state_bind(state) < 0 || state->init() != 0)
        goto close;
    if (state->by_uuid(uuid, &state->gpu) == 0)
        return state;
    state->shutdown();
close:
    dlclose(state->library);
absent:
    free(state);
    return NULL;
}

void gpu_state_close(struct gpu_state *state)
{
    if (!state)
        return;
    state->shutdown();
    dlclose(state->library);
    free(state);
}

void gpu_state_read(const struct gpu_state *state, struct device_state *out)
{
    unsigned long long reasons;
    unsigned value;

    *out = (struct device_state){ .clock_mhz = NAN,
                                  .temp_c = NAN,
                                  .power_w = NAN };
    if (!state)
        return;
    if (state->clock(state->gpu, NVML_CLOCK_SM, &value) == 0)
        out->clock_mhz = value;
    if (state->temperature(state->gpu, NVML_TEMPERATURE_GPU, &value) == 0)
        out->temp_c = value;
    if (state->power(state->gpu, &value) == 0)
        out->power_w = value / 1000.0;
    if (state->throttle(state->gpu, &reasons) == 0)
        out->throttle = reasons;
}

void gpu_state_driver(const struct gpu_state *state, char *out, size_t size)
{
    out[0] = '\0';
    if (state && state->driver(out, (unsigned)size) != 0)
        out[0] = '\0';
}
