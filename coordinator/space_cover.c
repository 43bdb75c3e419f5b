/* A covering set of the points that pass. */
#include "common/err.h"
#include "coordinator/cover.h"
#include "coordinator/space_private.h"

int space_cover(struct space *space, int64_t **out, size_t *n, struct err *err)
{
    const struct spec *spec = space->spec;
    size_t sizes[SPEC_AXES_MAX];
    struct space_point point;
    struct cover *cover;
    int rc;

    for (size_t i = 0; i < spec->n_axes; i++)
        sizes[i] = spec->axes[i].n;
    cover = cover_new(sizes, spec->n_axes, (uint64_t)spec->measure.seed);
    while ((rc = space_next(space, &point, err)) == 1)
        cover_add(cover, point.number);
    *out = NULL;
    *n = 0;
    if (rc == 0)
        *n = cover_choose(cover, out);
    cover_free(cover);
    return rc;
}
