/* space_diagram.h - points that pass, by a diagram in place of a list
 *
 * Private to space*.c.  Thread rule: that of the space.
 */
#ifndef FA_COORDINATOR_SPACE_SPACE_DIAGRAM_H
#define FA_COORDINATOR_SPACE_SPACE_DIAGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct point_diagram;
struct space;

/* Up to this many points are walked one by one; a diagram would not be faster.
 */
#define SPACE_DIAGRAM_FROM (INT64_C(1) << 26)

/* Is it worth a diagram to look at the points of these axes and gates? */
bool space_diagram_helps(const struct space *space, uint64_t axes,
                         uint64_t gates);
/* The points of the whole space that none of these gates hits.  NULL if a gate
 * is not understood (int_expr_parse.h), or if it has too many states; then the
 * gates may also yield something else than 0 or 1. */
struct point_diagram *space_diagram_new(struct space *space, uint64_t gates);

#endif
