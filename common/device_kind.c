#include "common/device_kind.h"

#include <string.h>

static const char *const names[DEVICE_KINDS] = {
    [DEVICE_KIND_CUDA] = "cuda",
    [DEVICE_KIND_CPU] = "cpu",
    [DEVICE_KIND_REPLAY] = "replay",
};

const char *device_kind_name(enum device_kind kind)
{
    return names[kind];
}

bool device_kind_read(const char *name, enum device_kind *out)
{
    for (int i = 0; i < DEVICE_KINDS; i++)
        if (device_kind_is(name, (enum device_kind)i)) {
            *out = (enum device_kind)i;
            return true;
        }
    return false;
}

bool device_kind_is(const char *name, enum device_kind kind)
{
    return strcmp(name, names[kind]) == 0;
}
