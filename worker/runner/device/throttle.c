#include "worker/runner/device/throttle.h"

#include <stddef.h>

/* From nvml.h, the most specific first: the general hardware slowdown is set
 * together with either of the two before it. */
static const struct {
    uint64_t bit;
    const char *name;
} spoiling[] = {
    { 0x40, "hardware thermal slowdown" },
    { 0x80, "power brake" },
    { 0x20, "thermal slowdown by the driver" },
    { 0x08, "hardware slowdown" },
};

const char *throttle_name(uint64_t reasons)
{
    for (size_t i = 0; i < sizeof(spoiling) / sizeof(spoiling[0]); i++)
        if (reasons & spoiling[i].bit)
            return spoiling[i].name;
    return NULL;
}

bool throttle_spoils(uint64_t reasons)
{
    return throttle_name(reasons) != NULL;
}
