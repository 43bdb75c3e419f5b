#include "worker/gpu/gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/log.h"
#include "common/mem.h"

#define DRIVER_GPUS "/proc/driver/nvidia/gpus"

struct gpus {
    struct gpu *at[GPUS_MAX];
    size_t n;
    bool all;     /* all GPUs; those that cannot be opened are left out */
    bool settled; /* gpus_step() has returned 1 */
    bool taken;   /* another worker has the GPU named in the error */
};

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
static size_t count_cuda(void)
{
    int known = count(DRIVER_GPUS, ""), shown = count("/dev", "nvidia");
    int n = known > shown ? known : shown;

    return n < 1 ? 1 : n > GPUS_MAX ? GPUS_MAX : (size_t)n;
}

/* Parse "0,2" into 'indices'. Returns how many, or -1. */
static int read_list(const char *which, int indices[GPUS_MAX])
{
    int n = 0;

    for (const char *at = which;; at++) {
        char *end;
        long value = strtol(at, &end, 10);

        if (!isdigit((unsigned char)*at) || value > 999 || n == GPUS_MAX)
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

static int choose(const char *device, const char *which, int indices[GPUS_MAX])
{
    int n;

    if (strcmp(which, "none") == 0)
        return 0;
    if (strcmp(which, "all") != 0)
        return read_list(which, indices);
    n = device_kind_is(device, DEVICE_KIND_CUDA) ? (int)count_cuda() : 1;
    for (int i = 0; i < n; i++)
        indices[i] = i;
    return n;
}

int gpus_open(const struct gpu_spec *spec, const char *which, int64_t now_ns,
              struct gpus **out, struct err *err)
{
    int indices[GPUS_MAX], n = choose(spec->device, which, indices), rc = 0;
    struct gpus *gpus;

    if (n < 0)
        return err_set(
            err, ERR_INPUT,
            "gpus '%s': write all, none, or indices such as 0,1, each once",
            which);
    gpus = mem_new(1, sizeof(*gpus));
    gpus->all = strcmp(which, "all") == 0;
    for (int i = 0; rc == 0 && i < n; i++) {
        struct gpu_spec one = *spec;
        char index[8];

        snprintf(index, sizeof(index), "%d", indices[i]);
        one.gpu = index;
        rc = gpu_open(&one, now_ns, &gpus->at[gpus->n], err);
        gpus->n += rc == 0;
    }
    if (rc < 0) {
        gpus_close(gpus);
        return rc;
    }
    *out = gpus;
    return 0;
}

void gpus_close(struct gpus *gpus)
{
    if (!gpus)
        return;
    for (size_t i = 0; i < gpus->n; i++)
        gpu_close(gpus->at[i]);
    free(gpus);
}

size_t gpus_poll(const struct gpus *gpus, struct pollfd *fds, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < gpus->n; i++)
        n += gpu_poll(gpus->at[i], fds + n, max - n);
    return n;
}

int64_t gpus_deadline_ns(const struct gpus *gpus)
{
    int64_t at_ns = INT64_MAX;

    for (size_t i = 0; i < gpus->n; i++)
        if (gpu_deadline_ns(gpus->at[i]) < at_ns)
            at_ns = gpu_deadline_ns(gpus->at[i]);
    return at_ns;
}

static void leave_out(struct gpus *gpus, size_t i)
{
    gpu_close(gpus->at[i]);
    memmove(&gpus->at[i], &gpus->at[i + 1],
            (--gpus->n - i) * sizeof(struct gpu *));
}

/* All have answered: with "all", keep those that opened. */
static int settle(struct gpus *gpus, struct err *err)
{
    int rc = 0;

    for (size_t i = gpus->n; i > 0; i--) {
        struct gpu *gpu = gpus->at[i - 1];

        if (gpu_state(gpu) != GPU_TROUBLE)
            continue;
        rc = err_set(err, ERR_DEVICE, "%s", gpu_trouble(gpu));
        gpus->taken = gpu_is_taken(gpu);
        if (!gpus->all)
            return rc;
        log_line(LOG_W, "GPU-LEFT-OUT", "%s", gpu_trouble(gpu));
        leave_out(gpus, i - 1);
    }
    if (rc < 0 && gpus->n == 0)
        return rc;
    gpus->settled = true;
    return 1;
}

int gpus_step(struct gpus *gpus, int64_t now_ns, struct err *err)
{
    bool starting = false;

    for (size_t i = 0; i < gpus->n; i++)
        starting |= gpu_step(gpus->at[i], now_ns) == GPU_STARTING;
    if (gpus->settled)
        return 1;
    return starting ? 0 : settle(gpus, err);
}

bool gpus_are_taken(const struct gpus *gpus)
{
    return gpus->taken;
}

size_t gpus_count(const struct gpus *gpus)
{
    return gpus->n;
}

struct gpu *gpus_at(struct gpus *gpus, size_t i)
{
    return gpus->at[i];
}

struct gpu *gpus_find(struct gpus *gpus, const char *uuid)
{
    for (size_t i = 0; i < gpus->n; i++)
        if (strcmp(gpu_uuid(gpus->at[i]), uuid) == 0)
            return gpus->at[i];
    return NULL;
}
