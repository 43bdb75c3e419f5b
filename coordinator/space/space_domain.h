/* space_domain.h - the points of a space that pass, as a domain for a strategy
 *
 * A tunable's values are levels: numbers in ascending order, so that near
 * levels are near values, anything else in the order of the file.  Points that
 * a gate warns of come last.
 * Immutable once made; the spec outlives it.
 */
#ifndef FA_COORDINATOR_SPACE_SPACE_DOMAIN_H
#define FA_COORDINATOR_SPACE_SPACE_DOMAIN_H

#include <stdint.h>

struct domain;
struct err;
struct external_strategy_tunable;
struct space_domain;
struct space;
struct spec;

/* Expects 'passed' points and reserves memory for them; 0: unknown.  If more
 * than DOMAIN_POINTS_MAX are expected, the domain is the baseline and
 * DOMAIN_DRAWN points, each drawn with equal probability by the seed of the
 * measurements. ERR_INPUT if nothing passes, more than DOMAIN_POINTS_MAX pass
 * unexpectedly, points cannot be drawn (space_at()), or a gate is wrong. */
int space_domain_new(const struct spec *spec, struct space *space,
                     int64_t passed, struct space_domain **out,
                     struct err *err);
void space_domain_free(struct space_domain *space_domain); /* NULL is fine */

const struct domain *
space_domain_domain(const struct space_domain *space_domain);
int64_t space_domain_number(const struct space_domain *space_domain,
                            int point); /* number in the space */
int space_domain_find(const struct space_domain *space_domain,
                      int64_t number); /* or -1 */

/* Names and values, in the form of external_strategy.h. */
const struct external_strategy_tunable *
space_domain_tunables(const struct space_domain *space_domain);

#endif
