/* grid.h - the points of a space that pass, as a strategy sees them
 *
 * A tunable's values are levels: numbers in ascending order, so that near
 * levels are near values, anything else in the order of the file.  A point of
 * the domain is a point of the space; those that a gate warns of are the last.
 * Immutable once made; the spec outlives it.
 */
#ifndef FA_COORDINATOR_GRID_H
#define FA_COORDINATOR_GRID_H

#include <stdint.h>

struct domain;
struct err;
struct external_tunable;
struct grid;
struct space;
struct spec;

/* 'passed' points will be found, for which room is made at once; 0: unknown.
 * ERR_INPUT when nothing passes, more than DOMAIN_POINTS_MAX do, or a gate is
 * wrong. */
int grid_new(const struct spec *spec, struct space *space, int64_t passed,
             struct grid **out, struct err *err);
void grid_free(struct grid *grid); /* NULL is fine */

const struct domain *grid_domain(const struct grid *grid);
int64_t grid_number(const struct grid *grid, int point); /* in the space */
int grid_find(const struct grid *grid, int64_t number);  /* or -1 */

/* Names and values, as external.h wants them. */
const struct external_tunable *grid_tunables(const struct grid *grid);

#endif
