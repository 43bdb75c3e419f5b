#include "coordinator/stats/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

#define FIT_STEPS 300    /* of conjugate gradients; usually fewer */
#define FIT_ENOUGH 1e-20 /* of the initial squared gradient */
#define NOTHING 1e-12    /* of the variance: rounding error */

/* The additive fit: log time = mean + an effect for each level of each axis.
 * The effects of an axis begin at 'first'. */
struct fit {
    const struct importance_points *points;
    size_t *first;
    size_t effects_n;
    double mean, total; /* of the log times; sum of squares about the mean */
    double *effects;
    double *left;   /* [n], residuals */
    double *counts; /* points at each level */
    size_t *levels; /* of each axis, that have points */
    size_t freedom; /* degrees of freedom of all effects */
};

static const uint16_t *point(const struct importance_points *points, size_t i)
{
    return points->levels + i * points->axes;
}

/* ---- least squares by conjugate gradients, from 0: the shortest solution */

/* out[i] = sum of the effects of point i */
static void apply(const struct fit *fit, const double *effects, double *out)
{
    for (size_t i = 0; i < fit->points->n; i++) {
        const uint16_t *levels = point(fit->points, i);

        out[i] = effects[0]; /* the mean's correction */
        for (size_t a = 0; a < fit->points->axes; a++)
            out[i] += effects[fit->first[a] + levels[a]];
    }
}

/* out[e] = sum of values over the points that have effect e */
static void gather(const struct fit *fit, const double *values, double *out)
{
    memset(out, 0, fit->effects_n * sizeof(*out));
    for (size_t i = 0; i < fit->points->n; i++) {
        const uint16_t *levels = point(fit->points, i);

        out[0] += values[i];
        for (size_t a = 0; a < fit->points->axes; a++)
            out[fit->first[a] + levels[a]] += values[i];
    }
}

static double square(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static void solve(struct fit *fit)
{
    size_t n = fit->points->n, m = fit->effects_n;
    double *gradient = mem_new(m, sizeof(double));
    double *way = mem_new(m, sizeof(double));
    double *moved = mem_new(n, sizeof(double));
    double now, first;

    gather(fit, fit->left, gradient);
    memcpy(way, gradient, m * sizeof(*way));
    first = now = square(gradient, m);
    for (int step = 0; step < FIT_STEPS && now > first * FIT_ENOUGH; step++) {
        double length, before = now;

        apply(fit, way, moved);
        length = now / square(moved, n);
        for (size_t e = 0; e < m; e++)
            fit->effects[e] += length * way[e];
        for (size_t i = 0; i < n; i++)
            fit->left[i] -= length * moved[i];
        gather(fit, fit->left, gradient);
        now = square(gradient, m);
        for (size_t e = 0; e < m; e++)
            way[e] = gradient[e] + now / before * way[e];
    }
    free(gradient);
    free(way);
    free(moved);
}

/* ---- shares */

static double clamp(double share)
{
    return share > NOTHING ? fmin(share, 1) : 0;
}

/* Covariance of the effect of an axis with the time, over the variance. */
static double covariance(const struct fit *fit, size_t axis)
{
    const struct importance_points *points = fit->points;
    double sum = 0;

    for (size_t i = 0; i < points->n; i++)
        sum += fit->effects[fit->first[axis] + point(points, i)[axis]] *
               (points->log_s[i] - fit->mean);
    return sum / fit->total;
}

static void fitted_shares(struct fit *fit, double *shares)
{
    const struct importance_points *points = fit->points;
    double left, noise;

    solve(fit);
    left = square(fit->left, points->n);
    noise = left / (double)(points->n - 1 - fit->freedom) / fit->total;
    for (size_t a = 0; a < points->axes; a++)
        if (fit->levels[a] > 1)
            shares[a] = clamp(covariance(fit, a) -
                              (double)(fit->levels[a] - 1) * noise);
}

/* Each axis by the averages of its levels: for spaces with too few points. */
static void plain_share(const struct fit *fit, size_t axis, double *share)
{
    const struct importance_points *points = fit->points;
    double *sums = mem_new(points->sizes[axis], sizeof(*sums)), among = 0;
    double levels = (double)fit->levels[axis], n = (double)points->n, noise;

    for (size_t i = 0; i < points->n; i++)
        sums[point(points, i)[axis]] += points->log_s[i] - fit->mean;
    for (size_t v = 0; v < points->sizes[axis]; v++)
        if (fit->counts[fit->first[axis] + v] > 0)
            among += sums[v] * sums[v] / fit->counts[fit->first[axis] + v];
    noise = n > levels ? (fit->total - among) / (n - levels) : fit->total;
    *share = clamp((among - (levels - 1) * noise) / fit->total);
    free(sums);
}

/* ---- pairs: the residuals of the fit in the cells of two axes */

struct cells {
    double *sums, *counts;
};

static double pair_share(const struct fit *fit, size_t a, size_t b, double left,
                         struct cells *cells)
{
    const struct importance_points *points = fit->points;
    size_t width = points->sizes[b], n = points->sizes[a] * width, used = 0;
    double among = 0, freedom, over;

    memset(cells->sums, 0, n * sizeof(double));
    memset(cells->counts, 0, n * sizeof(double));
    for (size_t i = 0; i < points->n; i++) {
        const uint16_t *levels = point(points, i);
        size_t cell = levels[a] * width + levels[b];

        cells->sums[cell] += fit->left[i];
        cells->counts[cell]++;
    }
    for (size_t c = 0; c < n; c++)
        if (cells->counts[c] > 0) {
            among += cells->sums[c] * cells->sums[c] / cells->counts[c];
            used++;
        }
    if (used + 1 <= fit->levels[a] + fit->levels[b])
        return 0; /* the two effects explain everything */
    freedom = (double)(used + 1 - fit->levels[a] - fit->levels[b]);
    over = (double)(points->n - 1 - fit->freedom) - freedom;
    if (over < 1)
        return 0;
    return clamp((among - freedom * (left - among) / over) / fit->total);
}

static int largest_first(const void *a, const void *b)
{
    const struct importance_pair *x = a, *y = b;

    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a)
                        : (x->b > y->b) - (x->b < y->b);
}

static void pair_shares(const struct fit *fit, struct importance *out)
{
    const struct importance_points *points = fit->points;
    double left = square(fit->left, points->n);
    struct cells cells = { mem_new(IMPORTANCE_CELLS_MAX, sizeof(double)),
                           mem_new(IMPORTANCE_CELLS_MAX, sizeof(double)) };

    for (size_t a = 0; a < points->axes; a++)
        for (size_t b = a + 1; b < points->axes; b++) {
            struct importance_pair pair = { a, b, 0 };

            if (points->sizes[a] * points->sizes[b] > IMPORTANCE_CELLS_MAX ||
                fit->levels[a] < 2 || fit->levels[b] < 2)
                continue;
            pair.share = pair_share(fit, a, b, left, &cells);
            if (pair.share <= 0)
                continue;
            out->pairs =
                mem_grow(out->pairs, out->n_pairs + 1, sizeof(*out->pairs));
            out->pairs[out->n_pairs++] = pair;
        }
    if (out->n_pairs)
        qsort(out->pairs, out->n_pairs, sizeof(*out->pairs), largest_first);
    free(cells.sums);
    free(cells.counts);
}

/* ---- the whole */

static void prepare(struct fit *fit, const struct importance_points *points)
{
    *fit = (struct fit){ .points = points };
    fit->first = mem_new(points->axes + 1, sizeof(*fit->first));
    fit->levels = mem_new(points->axes + 1, sizeof(*fit->levels));
    fit->effects_n = 1;
    for (size_t a = 0; a < points->axes; a++) {
        fit->first[a] = fit->effects_n;
        fit->effects_n += points->sizes[a];
    }
    fit->effects = mem_new(fit->effects_n, sizeof(double));
    fit->counts = mem_new(fit->effects_n, sizeof(double));
    fit->left = mem_new(points->n + 1, sizeof(double));
    for (size_t i = 0; i < points->n; i++) {
        fit->mean += points->log_s[i] / (double)points->n;
        for (size_t a = 0; a < points->axes; a++)
            fit->counts[fit->first[a] + point(points, i)[a]]++;
    }
    for (size_t i = 0; i < points->n; i++)
        fit->left[i] = points->log_s[i] - fit->mean;
    fit->total = square(fit->left, points->n);
    for (size_t a = 0; a < points->axes; a++) {
        for (size_t v = 0; v < points->sizes[a]; v++)
            fit->levels[a] += fit->counts[fit->first[a] + v] > 0;
        fit->freedom += fit->levels[a] ? fit->levels[a] - 1 : 0;
    }
}

static void finish(struct fit *fit)
{
    free(fit->first);
    free(fit->levels);
    free(fit->effects);
    free(fit->counts);
    free(fit->left);
}

void importance_of(const struct importance_points *points,
                   struct importance *out)
{
    struct fit fit;

    *out = (struct importance){ .rest = 1 };
    out->axes = mem_new(points->axes + 1, sizeof(*out->axes));
    prepare(&fit, points);
    out->sd =
        points->n < 2 ? (double)NAN : sqrt(fit.total / (double)(points->n - 1));
    if (points->n >= IMPORTANCE_POINTS_LEAST && out->sd > NOTHING) {
        out->adjusted = points->n >= 2 * (fit.freedom + 1);
        if (out->adjusted) {
            fitted_shares(&fit, out->axes);
            pair_shares(&fit, out);
        } else {
            for (size_t a = 0; a < points->axes; a++)
                if (fit.levels[a] > 1)
                    plain_share(&fit, a, &out->axes[a]);
        }
        for (size_t a = 0; a < points->axes; a++)
            out->rest -= out->axes[a];
        for (size_t i = 0; i < out->n_pairs; i++)
            out->rest -= out->pairs[i].share;
        out->rest = clamp(out->rest);
    }
    finish(&fit);
}

void importance_fini(struct importance *importance)
{
    free(importance->axes);
    free(importance->pairs);
    *importance = (struct importance){ .rest = 0 };
}
