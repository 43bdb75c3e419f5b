/* importance.h - how much of the differences in time each tunable explains
 *
 * Functional analysis of variance on log time (Sobol, 1993; for tunables
 * Hutter, Hoos and Leyton-Brown, 2014): the share of a tunable is the variance
 * of its own effect in the variance of all, the share of a pair that of what
 * the two do together beyond what each does.
 *
 * A space with gates and failures is no full product, so plain averages for a
 * value would also carry what its usual company does.  Effects are therefore
 * fitted together (least squares, the shortest solution where two tunables
 * cannot be told apart), and a share is the covariance of the effect with the
 * time (Li et al., 2010), which is the variance where the product is full.  A
 * pair's effect is what the fit leaves in the cells of the two.
 *
 * From each share what noise alone would give is taken off, as omega squared
 * does (Hays, 1963), so one of nothing is 0 on average.
 *
 * Pure; any thread.  Time grows with n axes^2, memory with n and the levels.
 */
#ifndef FA_COORDINATOR_STATS_IMPORTANCE_H
#define FA_COORDINATOR_STATS_IMPORTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORTANCE_CELLS_MAX 4096 /* of a pair; more are left out */

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
    bool adjusted; /* fitted together; else too few points for that, each
                      tunable by its own averages, and no pairs */
    double *axes;  /* shares, [axes], 0 to 1; 0 as well for one level only */
    struct importance_pair *pairs; /* the largest first, none of 0 */
    size_t n_pairs;
    double rest; /* neither of these: more than two together, and noise */
};

/* Fewer than IMPORTANCE_POINTS_LEAST points, or all equal: sd is 0 or NAN
 * and all shares are 0. */
#define IMPORTANCE_POINTS_LEAST 8
void importance_of(const struct importance_points *points,
                   struct importance *out);
void importance_fini(struct importance *importance);

#endif
