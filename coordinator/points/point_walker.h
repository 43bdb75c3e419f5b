/* point_walker.h - the points of a product that no rule rejects
 *
 * A rule is a table with a bit for each combination of levels of the axes that
 * it names, the last axis fastest; the bit is set where the rule hits.  Points
 * are numbered in the same order.  Each rule is tested as soon as its last axis
 * has a level, for 64 levels at once, so rejected levels cost nothing at deeper
 * axes.
 *
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_POINTS_POINT_WALKER_H
#define FA_COORDINATOR_POINTS_POINT_WALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct point_walker;

#define POINT_WALKER_AXES_MAX 64
#define POINT_WALKER_RULES_MAX 64

struct point_walker_rule {
    uint64_t axes;        /* bit a: it names axis a */
    const uint64_t *hits; /* [point_walker_words()] */
};

/* Words of a table for this many combinations: one more than its bits need. */
size_t point_walker_words(int64_t combinations);

/* sizes      [n_axes], levels of each axis, >= 1; their product < 2^63
 * rejecting  bit r: points that rule r hits are left out
 * warning    bit r: they are told; in neither set: rule r is not looked at
 * The tables outlive the lattice. */
struct point_walker *point_walker_new(const size_t *sizes, size_t n_axes,
                                      const struct point_walker_rule *rules,
                                      uint64_t rejecting, uint64_t warning);
void point_walker_free(struct point_walker *walker); /* NULL is fine */

enum point_walker_step {
    POINT_WALKER_END,
    POINT_WALKER_POINT,
    POINT_WALKER_LATER, /* not done yet: ask again.  It returns this after so
                         * many steps, so that the caller can look at the
                         * clock */
};
#define POINT_WALKER_STEPS (1 << 20)

/* The next point, in order of number, and the warning rules that hit it.  After
 * POINT_WALKER_END it begins again. */
enum point_walker_step point_walker_next(struct point_walker *walker,
                                         int64_t *number, uint64_t *warned);

/* Add the number of points to '*n'; POINT_WALKER_END when done.  Do not call it
 * while walking. */
enum point_walker_step point_walker_count(struct point_walker *walker,
                                          int64_t *n);

#endif
