/* importance.h - how much of the differences in time each tunable explains
 *
 * Functional analysis of variance on log time (Sobol, 1993; for tunables
 * Hutter, Hoos and Leyton-Brown, 2014): the share of a tunable is the variance
 * of its own effect over the total variance.  The share of a pair is that of
 * the effect of the two together, beyond the effects of each.
 *
 * A space with gates and failures is not a full product, so the plain average
 * of a value would include the effects of values that often occur with it.  So
 * all effects are fitted together (least squares, the shortest solution if two
 * tunables cannot be separated). A share is the covariance of the effect with
 * the time (Li et al., 2010); in a full product that equals the variance.  A
 * pair's effect is what the fit leaves in the cells of the two.
 *
 * From each share, the part that noise alone would give is subtracted, as omega
 * squared does (Hays, 1963). So a tunable without effect has share 0 on
 * average.
 *
 * Pure; any thread.  Time grows with n axes^2, memory with n and the levels.
 */
#ifndef FA_COORDINATOR_STATS_IMPORTANCE_H
#define FA_COORDINATOR_STATS_IMPORTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORTANCE_CELLS_MAX 4096 /* of a pair; larger pairs are left out */

struct importance_points {
    size_t axes;
    const size_t *sizes; /* [axes] levels */
    size_t n;
    const uint16_t *levels; /* [n][axes], below 'sizes' */
    const double *log_s;    /* [n], finite */
};

struct importance_pair {
    size_t a, b;
    double share;
};

struct importance {
    double sd;     /* of the log times: 0.5 is a factor of e^0.5 */
    bool adjusted; /* effects fitted together; otherwise there are too few
                    * points: each tunable by its own averages, and no pairs */
    double *axes;  /* shares, [axes], 0 to 1; 0 for an axis with one level */
    struct importance_pair *pairs; /* the largest first, none is 0 */
    size_t n_pairs;
    double rest; /* not explained: more than two together, and noise */
};

/* With fewer than IMPORTANCE_POINTS_LEAST points, or all times equal, sd is 0
 * or NAN and all shares are 0. */
#define IMPORTANCE_POINTS_LEAST 8
void importance_of(const struct importance_points *points,
                   struct importance *out);
void importance_fini(struct importance *importance);

#endif
