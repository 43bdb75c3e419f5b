#include "coordinator/space/roofline.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/spec.h"

size_t roofline_binding(const double *seconds, size_t n)
{
    size_t binds = ROOFLINE_NONE;

    for (size_t i = 0; i < n; i++)
        if (!isnan(seconds[i]) &&
            (binds == ROOFLINE_NONE || seconds[i] > seconds[binds]))
            binds = i;
    return binds;
}

int roofline_of(struct space *space, const struct spec *spec,
                const struct spec_shape *shape, struct roofline *out,
                struct err *err)
{
    int rc;

    *out = (struct roofline){
        .names = mem_new(spec->figures.n_floors + 1, sizeof(*out->names)),
        .seconds = mem_new(spec->figures.n_floors + 1, sizeof(*out->seconds)),
        .n = spec->figures.n_floors,
        .binds = ROOFLINE_NONE
    };
    for (size_t i = 0; i < out->n; i++)
        out->names[i] = mem_strdup(spec->figures.floors[i].name);
    rc = space_floors(space, shape, out->seconds, err);
    if (rc == 0)
        out->binds = roofline_binding(out->seconds, out->n);
    return rc;
}

void roofline_fini(struct roofline *roofline)
{
    for (size_t i = 0; i < roofline->n; i++)
        free(roofline->names[i]);
    free(roofline->names);
    free(roofline->seconds);
    *roofline = (struct roofline){ .binds = ROOFLINE_NONE };
}

double roofline_share(const struct roofline *roofline, size_t floor,
                      double time_s)
{
    return time_s > 0 ? roofline->seconds[floor] / time_s : (double)NAN;
}
