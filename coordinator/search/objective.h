/* objective.h - what a search is to make small: the time at one shape, or all
 *
 * Over several shapes it is the geometric mean of the times.  That puts
 * configurations in the same order as the geometric mean of their times over
 * those of the baseline, which is this divided by a constant: so none has to
 * wait for the baseline's times, and one that has none is no obstacle.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_SEARCH_OBJECTIVE_H
#define FA_COORDINATOR_SEARCH_OBJECTIVE_H

#include <stddef.h>

/* As the sweep file says it; any other text is the name of a shape. */
#define OBJECTIVE_HEADLINE "headline"
#define OBJECTIVE_GEOMEAN "geomean"

/* The shape, or: */
enum {
    OBJECTIVE_ALL = -1,
    OBJECTIVE_NONE = -2, /* there is no such shape */
};

int objective_find(const char *text, const char *const *shapes, int n);

/* What is known of a configuration at a shape. */
enum objective_known {
    OBJECTIVE_OPEN,
    OBJECTIVE_TIMED,
    OBJECTIVE_FAILED,
    OBJECTIVE_LOST,
};

/* What that makes of it for the search: failed as soon as it has failed at any
 * shape; open until all are settled; then what it is where it is judged.
 * known  [n] enum objective_known */
enum objective_known objective_sum(int objective, const unsigned char *known,
                                   int n);

/* Of one that is timed: seconds.  times  [n], > 0 where it is judged */
double objective_time(int objective, const double *times, int n);

#endif
