#include "coordinator/stored/stored_ways.h"

#include <stdlib.h>
#include <string.h>

#include "common/int64.h"
#include "common/mem.h"

static size_t find(struct stored_ways *ways, const char *shape,
                   const char *measure_key)
{
    for (size_t i = 0; i < ways->n; i++)
        if (strcmp(ways->list[i].measure_key, measure_key) == 0 &&
            strcmp(ways->list[i].shape, shape) == 0)
            return i;
    ways->list = mem_grow(ways->list, ways->n + 1, sizeof(*ways->list));
    ways->list[ways->n] =
        (struct stored_way){ .shape = mem_strdup(shape),
                             .measure_key = mem_strdup(measure_key),
                             .settled_utc = INT64_MIN };
    return ways->n++;
}

size_t stored_ways_add(struct stored_ways *ways, const char *shape,
                       const char *measure_key, int64_t settled_utc)
{
    size_t at = find(ways, shape, measure_key);
    struct stored_way *way = &ways->list[at];

    way->outcomes++;
    way->settled_utc = int64_max(way->settled_utc, settled_utc);
    return at;
}

bool stored_ways_is_current(const struct stored_ways *ways, size_t way)
{
    const struct stored_way *is = &ways->list[way];

    for (size_t i = 0; i < ways->n; i++) {
        const struct stored_way *other = &ways->list[i];

        if (strcmp(other->shape, is->shape) == 0 &&
            (other->settled_utc > is->settled_utc ||
             (i < way && other->settled_utc == is->settled_utc)))
            return false;
    }
    return true;
}

void stored_ways_fini(struct stored_ways *ways)
{
    for (size_t i = 0; i < ways->n; i++) {
        free(ways->list[i].shape);
        free(ways->list[i].measure_key);
    }
    free(ways->list);
    *ways = (struct stored_ways){ NULL, 0 };
}
