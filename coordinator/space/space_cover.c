/* A covering set of the points that pass. */
#include <stdlib.h>

#include "common/err.h"
#include "coordinator/space/pairwise_cover.h"
#include "coordinator/space/space_internal.h"

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

bool space_cover_has(const int64_t *chosen, size_t n, int64_t point)
{
    return n > 0 && bsearch(&point, chosen, n, sizeof(*chosen), compare);
}

int space_cover(struct space *space, int64_t **out, size_t *n, struct err *err)
{
    const struct spec *spec = space->spec;
    size_t sizes[SPEC_AXES_MAX];
    struct space_point point;
    struct pairwise_cover *cover;
    int rc;

    for (size_t i = 0; i < spec->space.n_axes; i++)
        sizes[i] = spec->space.axes[i].n;
    cover = pairwise_cover_new(sizes, spec->space.n_axes,
                               (uint64_t)spec->measure.seed);
    while ((rc = space_next(space, &point, err)) == 1)
        pairwise_cover_add(cover, point.number);
    *out = NULL;
    *n = 0;
    if (rc == 0)
        *n = pairwise_cover_choose(cover, out);
    pairwise_cover_free(cover);
    return rc;
}
