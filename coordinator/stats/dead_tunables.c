#include "coordinator/stats/dead_tunables.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

/* A group of points that differ in one axis only; its first point. */
struct slot {
    int64_t group;
    const char *artifact; /* NULL: empty */
};

/* The slot of a group, or the empty slot where it belongs. */
static struct slot *slot_of(struct slot *slots, size_t n_slots, int64_t group)
{
    uint64_t hash = (uint64_t)group * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (n_slots - 1);

    while (slots[at].artifact && slots[at].group != group)
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

/* Compare along the axis whose neighbours are 'stride' apart in number. */
static enum dead_tunables_verdict
judge(const struct dead_tunables_point *points, size_t n, int64_t stride,
      int64_t size, struct slot *slots, size_t n_slots)
{
    enum dead_tunables_verdict verdict = DEAD_TUNABLES_UNKNOWN;

    memset(slots, 0, n_slots * sizeof(*slots));
    for (size_t i = 0; i < n; i++) {
        int64_t number = points[i].number;
        int64_t group = number - number / stride % size * stride;
        struct slot *slot = slot_of(slots, n_slots, group);

        if (!slot->artifact)
            *slot = (struct slot){ group, points[i].artifact };
        else if (strcmp(slot->artifact, points[i].artifact) == 0)
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
    struct slot *slots;
    size_t n_slots = 64;
    int64_t stride = 1;

    while (n_slots < 2 * n)
        n_slots *= 2;
    slots = mem_new(n_slots, sizeof(*slots));
    for (size_t axis = axes; axis-- > 0;) {
        int64_t size = (int64_t)sizes[axis];

        out[axis] = judge(points, n, stride, size, slots, n_slots);
        stride *= size;
    }
    free(slots);
}
