/* gp.h - Gaussian process regression over the points of a domain
 *
 * From the points that were tried, it predicts the others, each with an
 * uncertainty.  The covariance of two points is Matern 5/2 in a weighted
 * distance: how much a tunable matters is learnt by gp_fit(). An ordered one
 * has two weights: for the share of its levels that lie between the two points,
 * and for being different at all (a block size of 48 may have little in common
 * with 32 and 64). Any other has only the second.
 *
 * A row is a tried point.  In each output it may have a value or none yet.  A
 * row without a value lowers the uncertainty around it, but does not change the
 * expected values.  Rows with values come first: what a row without one stands
 * for is what the rows before it say.  A candidate is a point whose prediction
 * is kept up to date: adding a row costs rows * (rows + candidates), setting a
 * value candidates. Pure; one thread.  The domain outlives it.
 */
#ifndef FA_COORDINATOR_MODEL_GP_H
#define FA_COORDINATOR_MODEL_GP_H

#include "coordinator/model/domain.h"

struct gp;

#define GP_OUTPUTS 2

struct gp_kernel {
    double apart[DOMAIN_TUNABLES_MAX];  /* 1 / length; 0 for an unordered one */
    double differ[DOMAIN_TUNABLES_MAX]; /* 0 for one with one level */
    double twos[DOMAIN_TUNABLES_MAX];   /* 0 if powers of two tell nothing */
    double noise;    /* variance of a value around the process, relative to
                      * it */
    double variance; /* of the process, in the units of the values squared */
};

void gp_kernel_init(struct gp_kernel *kernel, const struct domain *domain);
/* Improve the kernel for these values (mean about 0): find the most probable
 * kernel, with a prior that few tunables matter much. */
void gp_fit(struct gp_kernel *kernel, const struct domain *domain,
            const int *points, const double *values, int n);
/* The squared distance of two levels of tunable t, and the covariance of points
 * at such a total distance. */
double gp_gap2(const struct gp_kernel *kernel, const struct domain *domain,
               int t, int a, int b);
double gp_matern(double far2);
/* Sum of a[i] * b[i], as four sums that a compiler can vectorise. */
double gp_dot(const double *a, const double *b, int n);

struct gp *gp_new(const struct domain *domain, int rows_max,
                  int candidates_max);
void gp_free(struct gp *gp); /* NULL is fine */
/* Forget rows and candidates. */
void gp_reset(struct gp *gp, const struct gp_kernel *kernel);

int gp_rows(const struct gp *gp);
int gp_add_row(struct gp *gp, int point); /* its index, below rows_max */
void gp_set(struct gp *gp, int output, int row, double value);
/* Forget the rows from 'rows' on. */
void gp_keep(struct gp *gp, int rows);
/* What the rows before it say of a row: as gp_mean() and gp_doubt(). */
double gp_row_mean(const struct gp *gp, int output, int row);
double gp_row_doubt(const struct gp *gp, int row);
/* The squared distance of two points, as the kernel weighs it. */
double gp_far2(const struct gp *gp, int a, int b);

int gp_candidates(const struct gp *gp);
int gp_candidate(const struct gp *gp, int c);        /* its point */
int gp_candidate_of(const struct gp *gp, int point); /* or -1 */
/* Add a candidate: in place 'c' of another one, or after the last. */
void gp_put_candidate(struct gp *gp, int c, int point);
/* Expected value in an output, and its variance in units of the kernel's. */
double gp_mean(const struct gp *gp, int output, int c);
double gp_doubt(const struct gp *gp, int c);

#endif
