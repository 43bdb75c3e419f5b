#include "worker/gpu/gpu_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/hash.h"

void gpu_name_unreal(const char *device, const char *which, const char *home,
                     char out[GPU_UUID_BYTES])
{
    bool replay = device_kind_is(device, DEVICE_KIND_REPLAY);
    char boot[CLOCK_BOOT_ID_BYTES], host[256] = "", id[HASH_HEX];
    struct hash hash;

    clock_boot_id(boot);
    (void)gethostname(host, sizeof(host) - 1); /* the boot id names it too */
    hash_init(&hash);
    hash_text(&hash, boot);
    hash_text(&hash, host);
    hash_text(&hash, home);
    hash_end(&hash, id);
    if (!replay && strcmp(which, "0") == 0)
        snprintf(out, GPU_UUID_BYTES, "CPU-%s", id);
    else
        snprintf(out, GPU_UUID_BYTES, "%s-%s-%.8s", replay ? "REPLAY" : "CPU",
                 id, which);
}
