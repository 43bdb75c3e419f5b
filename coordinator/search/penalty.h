/* penalty.h - local penalisation of candidates around pending points
 *
 * Gonzalez, Dai, Hennig, Lawrence: Batch Bayesian Optimization via Local
 * Penalization, AISTATS 2016.  How fast log time can change with the distance
 * is estimated from what was measured.  So each pending point excludes a ball
 * in which nothing faster than the fastest can lie, with a radius that is as
 * uncertain as its time.  A candidate keeps the probability that it lies in
 * none of these balls.
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_SEARCH_PENALTY_H
#define FA_COORDINATOR_SEARCH_PENALTY_H

struct gp;

#define PENALTY_MAX 64 /* pending points; more are not penalised */

struct penalty {
    double slope; /* the most that the value changes over a distance of 1 */
    int n;
    struct penalty_ball {
        int point;
        double behind;    /* expected value, less that of the fastest */
        double deviation; /* of that, > 0 */
    } balls[PENALTY_MAX];
};

/* No balls yet; 'points' [n] were measured, with 'values'. */
void penalty_init(struct penalty *penalty, const struct gp *gp,
                  const int *points, const double *values, int n);
void penalty_add(struct penalty *penalty, int point, double behind,
                 double deviation);
/* 0..1, to be multiplied by what a candidate promises. */
double penalty_of(const struct penalty *penalty, const struct gp *gp,
                  int point);

#endif
