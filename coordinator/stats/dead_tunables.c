#include "coordinator/stats/dead_tunables.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

/* The axis whose neighbours are 'stride' apart in number. */
struct axis {
    int64_t stride, size;
};

/* Points that differ in this axis only are of one group. */
static int64_t group_of(const struct axis *axis, int64_t number)
{
    return number - number / axis->stride % axis->size * axis->stride;
}

/* The slot of a group, which has its first point plus one, or the empty slot
 * where that belongs. */
static uint32_t *slot_of(const struct dead_tunables_point *points,
                         const struct axis *axis, uint32_t *slots,
                         size_t n_slots, int64_t group)
{
    uint64_t hash = (uint64_t)group * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (n_slots - 1);

    while (slots[at] && group_of(axis, points[slots[at] - 1].number) != group)
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static enum dead_tunables_verdict
judge(const struct dead_tunables_point *points, size_t n,
      const struct axis *axis, uint32_t *slots, size_t n_slots)
{
    enum dead_tunables_verdict verdict = DEAD_TUNABLES_UNKNOWN;

    memset(slots, 0, n_slots * sizeof(*slots));
    for (size_t i = 0; i < n; i++) {
        uint32_t *slot = slot_of(points, axis, slots, n_slots,
                                 group_of(axis, points[i].number));

        if (!*slot)
            *slot = (uint32_t)i + 1;
        else if (points[*slot - 1].artifact == points[i].artifact)
            verdict = DEAD_TUNABLES_YES;
        else
            return DEAD_TUNABLES_NO;
    }
    return verdict;
}

void dead_tunables_axes(const size_t *sizes, size_t axes,
                        const struct dead_tunables_point *points, size_t n,
                        enum dead_tunables_verdict *out)
{
    uint32_t *slots;
    size_t n_slots = 64;
    int64_t stride = 1;

    while (n_slots < 2 * n)
        n_slots *= 2;
    slots = mem_new(n_slots, sizeof(*slots));
    for (size_t axis = axes; axis-- > 0;) {
        const struct axis is = { stride, (int64_t)sizes[axis] };

        out[axis] = judge(points, n, &is, slots, n_slots);
        stride *= is.size;
    }
    free(slots);
}
