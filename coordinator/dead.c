#include "coordinator/dead.h"

#include <stdlib.h>
#include <string.h>

struct order {
    int64_t stride;
    int64_t size;
};

/* The point without its coordinate on the axis: equal for those that differ
 * in nothing else. */
static int64_t group(const struct order *order, int64_t number)
{
    return number - number / order->stride % order->size * order->stride;
}

static int by_group(const void *a, const void *b, void *arg)
{
    int64_t x = group(arg, ((const struct dead_point *)a)->number);
    int64_t y = group(arg, ((const struct dead_point *)b)->number);

    return (x > y) - (x < y);
}

void dead_axes(const size_t *sizes, size_t axes, struct dead_point *points,
               size_t n, enum dead_verdict *out)
{
    int64_t stride = 1;

    for (size_t axis = 0; axis < axes; axis++)
        out[axis] = DEAD_UNKNOWN;
    if (n == 0)
        return;
    for (size_t axis = axes; axis-- > 0;) {
        struct order order = { stride, (int64_t)sizes[axis] };

        qsort_r(points, n, sizeof(*points), by_group, &order);
        for (size_t i = 1; i < n && out[axis] != DEAD_NO; i++)
            if (by_group(&points[i - 1], &points[i], &order) == 0)
                out[axis] =
                    strcmp(points[i - 1].artifact, points[i].artifact) == 0
                        ? DEAD_YES
                        : DEAD_NO;
        stride *= order.size;
    }
}
