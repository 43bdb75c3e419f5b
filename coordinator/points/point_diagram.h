/* point_diagram.h - the points where an expression is true, without listing
 * them
 *
 * A decision diagram (C. Y. Lee 1959, R. E. Bryant 1986), with a branch for
 * each level: the axes are assigned in order, and combinations that leave the
 * same expression (int_expr.h) lead to the same state.  A state knows how many
 * points lie below it.  So points are counted, and found by rank, in time that
 * depends on the number of states.  Points are numbered as in point_walker.h.
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_POINTS_POINT_DIAGRAM_H
#define FA_COORDINATOR_POINTS_POINT_DIAGRAM_H

#include <stdint.h>

struct int_expr;
struct point_diagram;

/* 'node' yields 0 or 1.  The product of the sizes of all axes is < 2^63.  NULL
 * if there are too many states.  'expr' is not needed afterwards. */
struct point_diagram *point_diagram_new(struct int_expr *expr, int node);
void point_diagram_free(struct point_diagram *diagram); /* NULL is fine */

int64_t point_diagram_count(const struct point_diagram *diagram);
/* The number of the point of this rank, in [0, point_diagram_count()): the
 * points before it have lower numbers. */
int64_t point_diagram_at(const struct point_diagram *diagram, int64_t rank);

#endif
