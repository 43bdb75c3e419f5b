/* stored_ways.h - which way of measuring each shape is the current one
 *
 * A way is a shape and a measure key.  Of several ways to measure a shape the
 * one that was last used is current; of two equally new ones, the first that
 * was seen.  Pure; any thread.
 */
#ifndef FA_COORDINATOR_STORED_STORED_WAYS_H
#define FA_COORDINATOR_STORED_STORED_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stored_way {
    char *shape, *measure_key;
    int64_t settled_utc; /* of the last outcome */
    int64_t outcomes;
};

struct stored_ways {
    struct stored_way *list;
    size_t n;
};

/* Count an outcome; returns the index of its way. */
size_t stored_ways_add(struct stored_ways *ways, const char *shape,
                       const char *measure_key, int64_t settled_utc);
bool stored_ways_is_current(const struct stored_ways *ways, size_t way);
void stored_ways_fini(struct stored_ways *ways);

#endif
