#include "worker/gpu/gpu_list.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/mem.h"

#define DRIVER_GPUS "/proc/driver/nvidia/gpus"

/* Number of entries in a folder that begin with 'start' and a digit; -1: no
 * folder. */
static int count(const char *folder, const char *start)
{
    DIR *dir = opendir(folder);
    int n = 0;

    mem_check(dir);
    if (!dir)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, start, strlen(start)) == 0 &&
            isdigit((unsigned char)entry->d_name[strlen(start)]))
            n++;
    closedir(dir);
    return n;
}

/* A container may show fewer devices than the driver knows, and WSL shows none:
 * then try one. */
static int count_cuda(void)
{
    int known = count(DRIVER_GPUS, ""), shown = count("/dev", "nvidia");
    int n = known > shown ? known : shown;

    return n < 1 ? 1 : n > GPUS_MAX ? GPUS_MAX : n;
}

/* Parse "0,2" into 'indices'. Returns how many, or -1. */
static int read_list(const char *which, int indices[GPUS_MAX])
{
    int n = 0;

    for (const char *at = which;; at++) {
        char *end;
        long value = strtol(at, &end, 10);

        if (!isdigit((unsigned char)*at) || value > GPU_LIST_INDEX_MAX ||
            n == GPUS_MAX)
            return -1;
        for (int i = 0; i < n; i++)
            if (indices[i] == value)
                return -1;
        indices[n++] = (int)value;
        if (*end == '\0')
            return n;
        if (*end != ',')
            return -1;
        at = end;
    }
}

int gpu_list_choose(const char *device, const char *which,
                    int indices[GPUS_MAX])
{
    int n;

    if (strcmp(which, "none") == 0)
        return 0;
    if (strcmp(which, "all") != 0)
        return read_list(which, indices);
    n = device_kind_is(device, DEVICE_KIND_CUDA) ? count_cuda() : 1;
    for (int i = 0; i < n; i++)
        indices[i] = i;
    return n;
}

static int by_index(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int gpu_list_sort(const char *which, char out[GPU_LIST_BYTES])
{
    int indices[GPUS_MAX], n;

    if (strcmp(which, "all") == 0 || strcmp(which, "none") == 0) {
        snprintf(out, GPU_LIST_BYTES, "%s", which);
        return 0;
    }
    n = read_list(which, indices);
    if (n < 0)
        return -1;
    qsort(indices, (size_t)n, sizeof(*indices), by_index);
    gpu_list_write(indices, (size_t)n, out);
    return 0;
}

void gpu_list_write(const int *indices, size_t n, char out[GPU_LIST_BYTES])
{
    int len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        len += snprintf(out + len, (size_t)(GPU_LIST_BYTES - len), "%s%d",
                        i > 0 ? "," : "", indices[i]);
}
