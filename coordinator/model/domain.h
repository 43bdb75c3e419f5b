/* domain.h - the legal points that a strategy searches
 *
 * A tunable has levels 0..n-1; If it is ordered (numbers, ascending), near
 * levels are expected to behave alike.  Otherwise levels are just different.  A
 * point is one level for each tunable.  Points are numbered in the order in
 * which they are added.  What a level means, and what is legal, is the caller's
 * business.
 * Immutable once filled; any thread may read it.
 */
#ifndef FA_COORDINATOR_MODEL_DOMAIN_H
#define FA_COORDINATOR_MODEL_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

struct domain;

#define DOMAIN_TUNABLES_MAX 64
#define DOMAIN_LEVELS_MAX 65535
#define DOMAIN_POINTS_MAX (1 << 24)
/* Of more points, so many drawn at random are the domain. */
#define DOMAIN_DRAWN 65536

struct domain_tunable {
    int levels; /* >= 1 */
    bool ordered;
    const double *values; /* [levels] borrowed until domain_new() returns; NULL
                           * if they are not numbers */
};

/* At most DOMAIN_TUNABLES_MAX tunables of at most DOMAIN_LEVELS_MAX levels. */
struct domain *domain_new(const struct domain_tunable *tunables, int n);
void domain_free(struct domain *domain); /* NULL is fine */

/* Reserve room for this many points. */
void domain_reserve(struct domain *domain, int points);
/* Add a legal point.  Returns its number, or -1 if it was already there. */
int domain_add(struct domain *domain, const uint16_t *levels);

int domain_size(const struct domain *domain); /* points */
int domain_tunables(const struct domain *domain);
const struct domain_tunable *domain_tunable(const struct domain *domain, int t);
/* How often the value of a level is divisible by two.  0 where that says
 * nothing: for fractions and texts, and if all values are powers of two. */
int domain_twos(const struct domain *domain, int t, int level);
const uint16_t *domain_point(const struct domain *domain, int point);
int domain_find(const struct domain *domain, const uint16_t *levels); /* or -1
                                                                       */

/* Legal points that differ in one tunable: by any level if it is not ordered,
 * by one level up or down if it is.  'out' has room for domain_hood_max(). */
int domain_neighbours(const struct domain *domain, int point, bool adjacent,
                      int *out);
int domain_hood_max(const struct domain *domain);
/* The ones that differ in tunable t only. */
int domain_line(const struct domain *domain, int point, int t, int *out);

/* The distance of two points: the sum over the tunables.  An ordered one adds
 * the share of its levels between them (0..1); any other adds 1 if they
 * differ. */
double domain_distance(const struct domain *domain, const uint16_t *a,
                       const uint16_t *b);

#endif
