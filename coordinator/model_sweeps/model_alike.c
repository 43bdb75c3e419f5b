#include "coordinator/model_sweeps/model_alike.h"

#include <stdio.h>

#include "common/err.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_work.h"

void model_alike_load(const char *db, struct model_alike *out)
{
    struct stored_work_gpu gpu;
    struct store *store = NULL;
    struct err err;

    *out = (struct model_alike){ .is_known = false };
    if (dbfile_is_new(db) || store_open(db, STORE_READ, &store, &err) < 0)
        return;
    if (stored_work_gpu(store, &gpu, &err) == 1 &&
        gpu_arch_parse(gpu.facts, &out->facts, &err) == 0) {
        snprintf(out->host, sizeof(out->host), "%s", gpu.host);
        snprintf(out->name, sizeof(out->name), "%s", gpu.name);
        out->is_known = true;
    }
    store_close(store);
}

bool model_alike_warn(const char *label, const struct model_alike *a,
                      const char *other, const struct model_alike *b, char *out,
                      size_t size)
{
    char gpu[120];

    if (!a->is_known || !b->is_known || !gpu_arch_same_name(a->name, b->name) ||
        !gpu_arch_same_model(&a->facts, &b->facts))
        return false;
    gpu_arch_describe(a->name, &a->facts, gpu, sizeof(gpu));
    snprintf(out, size,
             "warning: model=%s (%s) and model=%s (%s) are the same model, %s: "
             "each has a sweep, which measures every configuration; with one "
             "label their hosts share one",
             label, a->host, other, b->host, gpu);
    return true;
}
