#include "coordinator/plan/plan_launch.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/spec.h"

/* The most of any architecture, dynamic shared memory included. */
#define THREADS_MAX 1024
#define SMEM_MAX INT64_C(232448)

static int beyond(const char *whose, const char *what, int64_t value,
                  int64_t most, const struct spec_shape *shape, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s has %s of %" PRId64 " at shape '%s'; a GPU has at most "
                   "%" PRId64,
                   whose, what, value, shape->name, most);
}

static int check_launch(const struct space_launch *launch, const char *whose,
                        const struct spec_shape *shape, struct err *err)
{
    const struct {
        const char *what;
        int64_t value, most;
    } limits[] = {
        { "a block x", launch->block[0], THREADS_MAX },
        { "a block y", launch->block[1], THREADS_MAX },
        { "a block z", launch->block[2], 64 },
        { "a grid x", launch->grid[0], INT32_MAX },
        { "a grid y", launch->grid[1], 65535 },
        { "a grid z", launch->grid[2], 65535 },
        { "shared memory", launch->smem, SMEM_MAX },
    };
    int64_t threads;

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
        if (limits[i].value > limits[i].most)
            return beyond(whose, limits[i].what, limits[i].value,
                          limits[i].most, shape, err);
    threads = launch->block[0] * launch->block[1] * launch->block[2];
    return threads > THREADS_MAX ? beyond(whose, "a block of threads", threads,
                                          THREADS_MAX, shape, err)
                                 : 0;
}

static int check_shape(const struct spec *spec, struct space *space,
                       const struct spec_shape *shape, struct err *err)
{
    const struct value *values = spec->baseline.values;
    const int gate = space_rejected_at(space, values, shape, err);
    struct space_launch launch;

    if (gate != SPACE_PASSES)
        return gate == SPACE_ERROR ? ERR_INPUT : 0;
    if (space_launch(space, values, shape, &launch, err) < 0 ||
        check_launch(&launch, "the baseline", shape, err) < 0 ||
        space_reference_launch(space, shape, &launch, err) < 0)
        return ERR_INPUT;
    return check_launch(&launch, "the reference", shape, err);
}

int plan_launch_check(const struct spec *spec, struct space *space,
                      const char *device, struct err *err)
{
    size_t n, n_fuzz;
    const struct spec_shape *own = spec_shapes(spec, device, &n);
    const struct spec_shape *fuzz = spec_fuzz_shapes(spec, device, &n_fuzz);
    int rc = 0;

    for (size_t s = 0; rc == 0 && s < n; s++)
        rc = check_shape(spec, space, &own[s], err);
    for (size_t s = 0; rc == 0 && s < n_fuzz && fuzz != own; s++)
        rc = check_shape(spec, space, &fuzz[s], err);
    return rc;
}
