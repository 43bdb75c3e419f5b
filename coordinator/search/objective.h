/* objective.h - what a search minimises: the time at one shape, or at all of
 * them
 *
 * Over several shapes it is the geometric mean of the times.  Dividing each
 * time by the baseline's would divide this mean by a constant, so the order of
 * configurations is the same.  So the search does not need the baseline's
 * times.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_SEARCH_OBJECTIVE_H
#define FA_COORDINATOR_SEARCH_OBJECTIVE_H

#include <stddef.h>

/* As the sweep file writes it; any other text is the name of a shape. */
#define OBJECTIVE_HEADLINE "headline"
#define OBJECTIVE_GEOMEAN "geomean"

/* The index of the shape, or: */
enum {
    OBJECTIVE_ALL = -1,
    OBJECTIVE_NONE = -2, /* no such shape */
};

int objective_find(const char *text, const char *const *shapes, int n);

/* What is known of a configuration at a shape. */
enum objective_known {
    OBJECTIVE_OPEN,
    OBJECTIVE_TIMED,
    OBJECTIVE_FAILED,
    OBJECTIVE_LOST,
};

/* The state of the configuration for the search.  It is failed as soon as it
 * has failed at any shape, and open until all shapes are settled.  Then its
 * state is that at the shapes of the objective.
 * known  [n] enum objective_known */
enum objective_known objective_sum(int objective, const unsigned char *known,
                                   int n);

/* The objective of a timed one, in seconds.  times  [n], > 0 at the shapes of
 * the objective */
double objective_time(int objective, const double *times, int n);

#endif
