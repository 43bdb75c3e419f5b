#include "worker/gpu/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/gpu/gpu_share.h"
#include "worker/gpu/gpu_spares.h"

struct gpus {
    struct gpu_spec spec; /* borrows */
    char *which;
    struct gpu *at[GPUS_MAX];
    int index[GPUS_MAX];
    size_t n, most; /* that there are and that are wanted */
    size_t n_open;  /* once settled, the first of them; the others start */
    bool all;       /* all GPUs; those that cannot be opened are left out */
    bool settled;   /* gpus_step() has returned 1 */
    bool taken;     /* another worker has the GPU named in the error */
};

static bool is_in(const int *indices, size_t n, int index)
{
    for (size_t i = 0; i < n; i++)
        if (indices[i] == index)
            return true;
    return false;
}

/* Keep those of 'wanted' that 'share' has.  With "all", a device that is no GPU
 * stands for any of them. */
static size_t restrict_to(const struct gpu_share *share, bool all,
                          int wanted[GPUS_MAX], size_t n)
{
    int held[GPUS_MAX];
    size_t n_held = gpu_share_held(share, held), kept = 0;

    if (all) {
        memcpy(wanted, held, n_held * sizeof(*held));
        return n < n_held ? n : n_held;
    }
    for (size_t i = 0; i < n; i++)
        if (is_in(held, n_held, wanted[i]))
            wanted[kept++] = wanted[i];
    return kept;
}

/* Returns how many of them may be open, or -1. */
static int choose(struct gpus *gpus, const struct gpu_share *share,
                  int indices[GPUS_MAX])
{
    int n = gpu_list_choose(gpus->spec.device, gpus->which, indices);

    gpus->most = n < 0 ? 0 : (size_t)n;
    return n < 0 || !share
               ? n
               : (int)restrict_to(share, gpus->all, indices, (size_t)n);
}

static int add(struct gpus *gpus, int index, int64_t now_ns, struct err *err)
{
    struct gpu_spec one = gpus->spec;
    char text[8];
    int rc;

    snprintf(text, sizeof(text), "%d", index);
    one.gpu = text;
    if (device_kind_is(one.device, DEVICE_KIND_CUDA))
        one.spares = GPU_SPARES_MAX / gpus->most;
    rc = gpu_open(&one, now_ns, &gpus->at[gpus->n], err);
    if (rc == 0)
        gpus->index[gpus->n++] = index;
    return rc;
}

int gpus_open(const struct gpu_spec *spec, const char *which,
              const struct gpu_share *share, int64_t now_ns, struct gpus **out,
              struct err *err)
{
    struct gpus *gpus = mem_new(1, sizeof(*gpus));
    int indices[GPUS_MAX], n, rc = 0;

    gpus->spec = *spec;
    gpus->which = mem_strdup(which);
    gpus->all = strcmp(which, "all") == 0;
    n = choose(gpus, share, indices);
    if (n < 0)
        rc = err_set(
            err, ERR_INPUT,
            "gpus '%s': write all, none, or indices such as 0,1, each once",
            which);
    for (int i = 0; rc == 0 && i < n; i++)
        rc = add(gpus, indices[i], now_ns, err);
    if (rc < 0) {
        gpus_close(gpus);
        return rc;
    }
    *out = gpus;
    return 0;
}

void gpus_use(struct gpus *gpus, const char *runner, int64_t now_ns)
{
    gpus->spec.runner = runner;
    gpus->spec.facts_only = false;
    for (size_t i = 0; i < gpus->n; i++)
        gpu_use(gpus->at[i], runner, now_ns);
}

void gpus_grow(struct gpus *gpus, const struct gpu_share *share, int64_t now_ns)
{
    int indices[GPUS_MAX], n = choose(gpus, share, indices);
    struct err err;

    for (int i = 0; i < n && gpus->n < gpus->most; i++)
        if (!is_in(gpus->index, gpus->n, indices[i]) &&
            add(gpus, indices[i], now_ns, &err) < 0)
            log_line(LOG_W, "GPU-LEFT-OUT", "%s", err.text);
}

void gpus_close(struct gpus *gpus)
{
    if (!gpus)
        return;
    for (size_t i = 0; i < gpus->n; i++)
        gpu_close(gpus->at[i]);
    free(gpus->which);
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
    log_line(LOG_W, "GPU-LEFT-OUT", "%s", gpu_trouble(gpus->at[i]));
    gpu_close(gpus->at[i]);
    gpus->n--;
    memmove(&gpus->at[i], &gpus->at[i + 1],
            (gpus->n - i) * sizeof(gpus->at[0]));
    memmove(&gpus->index[i], &gpus->index[i + 1],
            (gpus->n - i) * sizeof(gpus->index[0]));
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
        leave_out(gpus, i - 1);
    }
    if (rc < 0 && gpus->n == 0)
        return rc;
    gpus->settled = true;
    gpus->n_open = gpus->n;
    return 1;
}

/* In their order: the coordinator knows a GPU by its place. */
static void count_new(struct gpus *gpus)
{
    while (gpus->n_open < gpus->n) {
        enum gpu_state state = gpu_state(gpus->at[gpus->n_open]);

        if (state == GPU_STARTING)
            return;
        if (state == GPU_TROUBLE)
            leave_out(gpus, gpus->n_open);
        else
            gpus->n_open++;
    }
}

int gpus_step(struct gpus *gpus, int64_t now_ns, struct err *err)
{
    bool starting = false;

    for (size_t i = 0; i < gpus->n; i++)
        starting |= gpu_step(gpus->at[i], now_ns) == GPU_STARTING;
    if (gpus->settled) {
        count_new(gpus);
        return 1;
    }
    return starting ? 0 : settle(gpus, err);
}

bool gpus_are_taken(const struct gpus *gpus)
{
    return gpus->taken;
}

size_t gpus_count(const struct gpus *gpus)
{
    return gpus->settled ? gpus->n_open : gpus->n;
}

bool gpus_lack_some(const struct gpus *gpus)
{
    return gpus_count(gpus) < gpus->most;
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
