#include "coordinator/model/gp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

#define GAPS_LEVELS_MAX 256
#define DOUBT_MIN 1e-9 /* rounding could make a variance negative */

struct gp {
    const struct domain *domain;
    struct gp_kernel kernel;
    /* [levels][levels] gp_gap2(), NULL if that would be too large */
    double *gaps[DOMAIN_TUNABLES_MAX];
    int rows, rows_max;
    int *row_point;
    double *lower; /* [rows][rows_max] Cholesky factor of the covariance */
    double *value[GP_OUTPUTS]; /* [rows] NAN: none yet */
    double *white[GP_OUTPUTS]; /* [rows] lower^-1 value, 0 where none */
    int candidates, candidates_max;
    int *candidate_point;
    int *candidate_of; /* [domain_size] or -1 */
    float *cross;      /* [rows][candidates_max] lower^-1 covariance */
    double *mean[GP_OUTPUTS];
    double *doubt;
    double *scratch; /* [candidates] */
};

double gp_dot(const double *a, const double *b, int n)
{
    double sum[4] = { 0 };
    int i = 0;

    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

struct gp *gp_new(const struct domain *domain, int rows_max, int candidates_max)
{
    struct gp *gp = mem_new(1, sizeof(*gp));
    size_t rows = (size_t)rows_max, candidates = (size_t)candidates_max;

    gp->domain = domain;
    for (int t = 0; t < domain_tunables(domain); t++) {
        size_t levels = (size_t)domain_tunable(domain, t)->levels;

        if (levels <= GAPS_LEVELS_MAX)
            gp->gaps[t] = mem_new(levels * levels, sizeof(double));
    }
    gp->rows_max = rows_max;
    gp->candidates_max = candidates_max;
    gp->row_point = mem_new(rows, sizeof(int));
    gp->lower = mem_new(rows * rows, sizeof(double));
    gp->candidate_point = mem_new(candidates, sizeof(int));
    gp->candidate_of = mem_new((size_t)domain_size(domain), sizeof(int));
    gp->cross = mem_new(rows * candidates, sizeof(float));
    gp->doubt = mem_new(candidates, sizeof(double));
    gp->scratch = mem_new(candidates, sizeof(double));
    for (int k = 0; k < GP_OUTPUTS; k++) {
        gp->value[k] = mem_new(rows, sizeof(double));
        gp->white[k] = mem_new(rows, sizeof(double));
        gp->mean[k] = mem_new(candidates, sizeof(double));
    }
    for (int i = 0; i < domain_size(domain); i++)
        gp->candidate_of[i] = -1;
    return gp;
}

void gp_free(struct gp *gp)
{
    if (!gp)
        return;
    for (int t = 0; t < domain_tunables(gp->domain); t++)
        free(gp->gaps[t]);
    free(gp->row_point);
    free(gp->lower);
    free(gp->candidate_point);
    free(gp->candidate_of);
    free(gp->cross);
    free(gp->doubt);
    free(gp->scratch);
    for (int k = 0; k < GP_OUTPUTS; k++) {
        free(gp->value[k]);
        free(gp->white[k]);
        free(gp->mean[k]);
    }
    free(gp);
}

static void fill_gaps(struct gp *gp, int t)
{
    int levels = domain_tunable(gp->domain, t)->levels;

    for (int a = 0; gp->gaps[t] && a < levels; a++)
        for (int b = 0; b < levels; b++)
            gp->gaps[t][a * levels + b] =
                gp_gap2(&gp->kernel, gp->domain, t, a, b);
}

double gp_far2(const struct gp *gp, int a, int b)
{
    const uint16_t *at = domain_point(gp->domain, a);
    const uint16_t *to = domain_point(gp->domain, b);
    double sum = 0;

    for (int t = 0; t < domain_tunables(gp->domain); t++) {
        int levels = domain_tunable(gp->domain, t)->levels;

        sum += gp->gaps[t] ? gp->gaps[t][at[t] * levels + to[t]]
                           : gp_gap2(&gp->kernel, gp->domain, t, at[t], to[t]);
    }
    return sum;
}

/* Covariance of one point with 'n' others. */
static void covariances(const struct gp *gp, int point, const int *others,
                        int n, double *out)
{
    const uint16_t *at = domain_point(gp->domain, point);

    memset(out, 0, (size_t)n * sizeof(double));
    for (int t = 0; t < domain_tunables(gp->domain); t++) {
        int levels = domain_tunable(gp->domain, t)->levels;
        const double *gaps = gp->gaps[t] ? gp->gaps[t] + at[t] * levels : NULL;

        for (int i = 0; i < n; i++) {
            int to = domain_point(gp->domain, others[i])[t];

            out[i] += gaps ? gaps[to]
                           : gp_gap2(&gp->kernel, gp->domain, t, at[t], to);
        }
    }
    for (int i = 0; i < n; i++)
        out[i] = gp_matern(out[i]);
}

void gp_reset(struct gp *gp, const struct gp_kernel *kernel)
{
    gp->kernel = *kernel;
    for (int t = 0; t < domain_tunables(gp->domain); t++)
        fill_gaps(gp, t);
    for (int c = 0; c < gp->candidates; c++)
        gp->candidate_of[gp->candidate_point[c]] = -1;
    gp->rows = gp->candidates = 0;
}

int gp_rows(const struct gp *gp)
{
    return gp->rows;
}

static double *lower_row(const struct gp *gp, int row)
{
    return gp->lower + (size_t)row * (size_t)gp->rows_max;
}

static float *cross_row(const struct gp *gp, int row)
{
    return gp->cross + (size_t)row * (size_t)gp->candidates_max;
}

/* Solve lower * out = covariance of 'point' with the rows. */
static void whiten(const struct gp *gp, int point, double *out)
{
    covariances(gp, point, gp->row_point, gp->rows, out);
    for (int i = 0; i < gp->rows; i++) {
        const double *lower = lower_row(gp, i);

        out[i] = (out[i] - gp_dot(lower, out, i)) / lower[i];
    }
}

/* The part of a new last row that belongs to the candidates. */
static void cross_candidates(struct gp *gp, int row)
{
    const double *lower = lower_row(gp, row);
    float *out = cross_row(gp, row);
    double scale = 1 / lower[row];

    covariances(gp, gp->row_point[row], gp->candidate_point, gp->candidates,
                gp->scratch);
    for (int c = 0; c < gp->candidates; c++)
        out[c] = (float)gp->scratch[c];
    for (int i = 0; i < row; i++) {
        const float *above = cross_row(gp, i);
        float by = (float)lower[i];

        for (int c = 0; c < gp->candidates; c++)
            out[c] -= by * above[c];
    }
    for (int c = 0; c < gp->candidates; c++) {
        out[c] *= (float)scale;
        gp->doubt[c] -= (double)out[c] * (double)out[c];
    }
}

int gp_add_row(struct gp *gp, int point)
{
    int row = gp->rows;
    double *lower = lower_row(gp, row), rest;

    assert(row < gp->rows_max);
    whiten(gp, point, lower);
    rest = 1 + gp->kernel.noise - gp_dot(lower, lower, row);
    lower[row] = sqrt(rest > DOUBT_MIN ? rest : DOUBT_MIN);
    gp->row_point[row] = point;
    for (int k = 0; k < GP_OUTPUTS; k++) {
        gp->value[k][row] = NAN;
        gp->white[k][row] = 0;
    }
    cross_candidates(gp, row);
    return gp->rows++;
}

void gp_set(struct gp *gp, int output, int row, double value)
{
    double *white = gp->white[output], *mean = gp->mean[output];

    gp->value[output][row] = value;
    for (int i = row; i < gp->rows; i++) {
        const double *lower = lower_row(gp, i);
        const float *cross = cross_row(gp, i);
        double before = white[i];
        float change;

        if (isnan(gp->value[output][i]))
            continue;
        white[i] = (gp->value[output][i] - gp_dot(lower, white, i)) / lower[i];
        change = (float)(white[i] - before);
        for (int c = 0; c < gp->candidates; c++)
            mean[c] += (double)(change * cross[c]);
    }
}

void gp_keep(struct gp *gp, int rows)
{
    assert(rows <= gp->rows);
    while (gp->rows > rows) {
        int row = --gp->rows;
        const float *cross = cross_row(gp, row);

        for (int c = 0; c < gp->candidates; c++)
            gp->doubt[c] += (double)cross[c] * (double)cross[c];
        for (int k = 0; k < GP_OUTPUTS; k++) {
            float white = (float)gp->white[k][row];

            for (int c = 0; white != 0 && c < gp->candidates; c++)
                gp->mean[k][c] -= (double)(white * cross[c]);
        }
    }
}

double gp_row_mean(const struct gp *gp, int output, int row)
{
    return gp_dot(lower_row(gp, row), gp->white[output], row);
}

double gp_row_doubt(const struct gp *gp, int row)
{
    double root = lower_row(gp, row)[row];

    return root * root;
}

int gp_candidates(const struct gp *gp)
{
    return gp->candidates;
}

int gp_candidate(const struct gp *gp, int c)
{
    return gp->candidate_point[c];
}

int gp_candidate_of(const struct gp *gp, int point)
{
    return gp->candidate_of[point];
}

void gp_put_candidate(struct gp *gp, int c, int point)
{
    double *white = mem_new((size_t)gp->rows, sizeof(double));

    assert(c <= gp->candidates && c < gp->candidates_max);
    if (c == gp->candidates)
        gp->candidates++;
    else
        gp->candidate_of[gp->candidate_point[c]] = -1;
    gp->candidate_point[c] = point;
    gp->candidate_of[point] = c;
    whiten(gp, point, white);
    for (int i = 0; i < gp->rows; i++)
        cross_row(gp, i)[c] = (float)white[i];
    gp->doubt[c] = 1 - gp_dot(white, white, gp->rows);
    for (int k = 0; k < GP_OUTPUTS; k++)
        gp->mean[k][c] = gp_dot(white, gp->white[k], gp->rows);
    free(white);
}

double gp_mean(const struct gp *gp, int output, int c)
{
    return gp->mean[output][c];
}

double gp_doubt(const struct gp *gp, int c)
{
    return gp->doubt[c] > DOUBT_MIN ? gp->doubt[c] : DOUBT_MIN;
}
