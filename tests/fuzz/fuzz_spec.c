#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"

#define POINTS_MAX 1000

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void walk(const struct spec *spec)
{
    struct space *space;
    struct space_point point;
    struct err err;

    if (space_open(spec, gpu_arch_find(GPU_ARCH_DEFAULT), "cuda", NULL, &space,
                   &err) < 0) {
        assert(strncmp(err.text, "f:", 2) == 0);
        return;
    }
    for (int i = 0; i < POINTS_MAX; i++) {
        if (space_next(space, &point, &err) <= 0)
            break;
        assert(point.number >= 0 && point.number < space_size(space));
    }
    space_close(space);
}

/* Any text gives a sweep whose points can be walked, or one error. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct spec *spec;
    struct err err = { "" };

    if (spec_parse("/nonexistent", "f", (const char *)bytes, len, &spec, &err) <
        0) {
        assert(!spec && strncmp(err.text, "f:", 2) == 0);
        return 0;
    }
    if (spec->space.n_axes <= 4)
        walk(spec);
    spec_free(spec);
    return 0;
}
