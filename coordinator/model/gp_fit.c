/* Which tunables matter: find the most probable kernel by gradient ascent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/model/gp.h"

#define STEPS 25       /* of resilient propagation */
#define STEP_FIRST 0.3 /* change of log weight */
#define STEP_MAX 1.0
#define WEIGHT_SPREAD 1.0 /* of the prior of log weight */
#define ROUGH 0.2         /* prior factor of the weight for order */
#define NOISE_FIRST 1e-3
#define NOISE_SPREAD 1.0
#define NOISE_MIN 1e-6
#define ROOT5 2.23606797749979

/* What a weight is for: whether the levels differ, how far apart they are, by
 * how many powers of two their values differ. */
enum kind {
    DIFFER,
    APART,
    TWOS
};

struct feature {
    int t;
    enum kind kind;
};

#define FEATURES_MAX (3 * DOMAIN_TUNABLES_MAX)
#define TWOS_FAR 4.0 /* powers of two: as far as first to last */

static bool tell_twos(const struct domain *domain, int t)
{
    for (int i = 0; i < domain_tunable(domain, t)->levels; i++)
        if (domain_twos(domain, t, i) > 0)
            return true;
    return false;
}

static int list_features(const struct domain *domain, struct feature *out)
{
    int n = 0;

    for (int t = 0; t < domain_tunables(domain); t++) {
        const struct domain_tunable *tunable = domain_tunable(domain, t);

        if (tunable->levels > 1)
            out[n++] = (struct feature){ t, DIFFER };
        if (tunable->ordered && tunable->levels > 2)
            out[n++] = (struct feature){ t, APART };
        if (tunable->ordered && tunable->levels > 2 && tell_twos(domain, t))
            out[n++] = (struct feature){ t, TWOS };
    }
    return n;
}

static double *weight_of(struct gp_kernel *kernel,
                         const struct feature *feature)
{
    double *const weights[] = { [DIFFER] = kernel->differ,
                                [APART] = kernel->apart,
                                [TWOS] = kernel->twos };

    return &weights[feature->kind][feature->t];
}

static double gap_of(const struct domain *domain, int t, enum kind kind, int a,
                     int b)
{
    switch (kind) {
    case DIFFER:
        return a != b;
    case APART:
        return (double)(a - b) / (domain_tunable(domain, t)->levels - 1);
    case TWOS:
        break;
    }
    return (domain_twos(domain, t, a) - domain_twos(domain, t, b)) / TWOS_FAR;
}

static double gap2(const struct domain *domain, const struct feature *feature,
                   const uint16_t *a, const uint16_t *b)
{
    int t = feature->t;
    double gap = gap_of(domain, t, feature->kind, a[t], b[t]);

    return gap * gap;
}

double gp_matern(double far2)
{
    double far = ROOT5 * sqrt(far2);

    return (1 + far + far * far / 3) * exp(-far);
}

double gp_gap2(const struct gp_kernel *kernel, const struct domain *domain,
               int t, int a, int b)
{
    double differ = kernel->differ[t] * gap_of(domain, t, DIFFER, a, b);
    double apart, twos;

    if (a == b)
        return 0;
    apart = kernel->apart[t] * gap_of(domain, t, APART, a, b);
    twos = kernel->twos[t] * gap_of(domain, t, TWOS, a, b);
    return differ * differ + apart * apart + twos * twos;
}

/* A typical weight: the more tunables there are, the less each matters.  An
 * ordered tunable counts as smooth until the data say otherwise. */
static double weight_first(const struct domain *domain,
                           const struct feature *feature, int features)
{
    const struct domain_tunable *tunable = domain_tunable(domain, feature->t);
    bool rough =
        feature->kind == DIFFER && tunable->ordered && tunable->levels > 2;

    return (rough ? ROUGH : 1) * 2 / sqrt(features);
}

void gp_kernel_init(struct gp_kernel *kernel, const struct domain *domain)
{
    struct feature features[FEATURES_MAX];
    int n = list_features(domain, features);

    *kernel = (struct gp_kernel){ .noise = NOISE_FIRST, .variance = 1 };
    for (int f = 0; f < n; f++)
        *weight_of(kernel, &features[f]) =
            weight_first(domain, &features[f], n);
}

/* One fit: the parameters are the logarithms of the weights and the noise. */
struct fit {
    const double *values;
    int n;
    struct feature features[FEATURES_MAX];
    int features_n;
    double expected[FEATURES_MAX]; /* log weight of the prior */
    float *gaps;                   /* [pairs i > j][features] squared */
    double *lower;                 /* [n][n] */
    double *inverse;               /* [n][n] */
    double *slope;                 /* [pairs] d covariance / d distance^2 */
    double *alpha;                 /* [n] covariance^-1 values */
    double variance;
};

/* Covariance, factored in place; false if it is not positive definite. */
static bool factor(struct fit *fit, const double *log_parameters)
{
    double weight2[FEATURES_MAX];
    int n = fit->n, d = fit->features_n;
    size_t pair = 0;

    for (int t = 0; t < d; t++)
        weight2[t] = exp(2 * log_parameters[t]);
    for (int i = 0; i < n; i++) {
        double *row = fit->lower + (size_t)i * (size_t)n;

        for (int j = 0; j <= i; j++) {
            const double *other = fit->lower + (size_t)j * (size_t)n;
            double k = 1 + exp(log_parameters[d]);

            if (j < i) {
                const float *gaps = fit->gaps + pair * (size_t)d;
                double far2 = 0, far, decay;

                for (int t = 0; t < d; t++)
                    far2 += weight2[t] * (double)gaps[t];
                far = ROOT5 * sqrt(far2);
                decay = exp(-far);
                k = (1 + far + far * far / 3) * decay;
                fit->slope[pair++] = -5.0 / 6 * (1 + far) * decay;
            }
            k -= gp_dot(row, other, j);
            if (i == j && k <= 0)
                return false;
            row[j] = i == j ? sqrt(k) : k / other[j];
        }
    }
    return true;
}

/* inverse = (lower lower^T)^-1, its lower half. */
static void invert(struct fit *fit)
{
    int n = fit->n;
    double *half = mem_new((size_t)n * (size_t)n, sizeof(double));

    /* half[j][i] = (lower^-1)[i][j], so that the sums below run along rows */
    for (int j = 0; j < n; j++) {
        double *column = half + (size_t)j * (size_t)n;

        column[j] = 1 / fit->lower[(size_t)j * (size_t)n + (size_t)j];
        for (int i = j + 1; i < n; i++) {
            const double *row = fit->lower + (size_t)i * (size_t)n;

            column[i] = -gp_dot(row + j, column + j, i - j) / row[i];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const double *a = half + (size_t)i * (size_t)n;
            const double *b = half + (size_t)j * (size_t)n;

            fit->inverse[(size_t)i * (size_t)n + (size_t)j] =
                gp_dot(a + i, b + i, n - i);
        }
    free(half);
}

static double inverse_at(const struct fit *fit, int i, int j)
{
    return i >= j ? fit->inverse[(size_t)i * (size_t)fit->n + (size_t)j]
                  : fit->inverse[(size_t)j * (size_t)fit->n + (size_t)i];
}

/* Log probability of the parameters, and its gradient. */
static double probability(struct fit *fit, const double *log_parameters,
                          double *gradient)
{
    int n = fit->n, d = fit->features_n;
    double sum = 0, noise = exp(log_parameters[d]), off;
    size_t pair = 0;

    if (!factor(fit, log_parameters))
        return -INFINITY;
    invert(fit);
    for (int i = 0; i < n; i++) {
        fit->alpha[i] = 0;
        for (int j = 0; j < n; j++)
            fit->alpha[i] += inverse_at(fit, i, j) * fit->values[j];
        sum += fit->alpha[i] * fit->values[i];
    }
    fit->variance = sum / n > 1e-12 ? sum / n : 1e-12;
    memset(gradient, 0, (size_t)(d + 1) * sizeof(double));
    for (int i = 0; i < n; i++) {
        double own = fit->alpha[i] * fit->alpha[i] / fit->variance;

        for (int j = 0; j < i; j++, pair++) {
            const float *gaps = fit->gaps + pair * (size_t)d;
            double by = (fit->alpha[i] * fit->alpha[j] / fit->variance -
                         inverse_at(fit, i, j)) *
                        fit->slope[pair];

            for (int t = 0; t < d; t++)
                gradient[t] += by * (double)gaps[t];
        }
        gradient[d] += (own - inverse_at(fit, i, i)) * noise / 2;
    }
    sum = -n / 2.0 * log(fit->variance);
    for (int i = 0; i < n; i++)
        sum -= log(fit->lower[(size_t)i * (size_t)n + (size_t)i]);
    for (int t = 0; t < d; t++) {
        off = (log_parameters[t] - fit->expected[t]) / WEIGHT_SPREAD;
        gradient[t] *= 2 * exp(2 * log_parameters[t]);
        gradient[t] -= off / WEIGHT_SPREAD;
        sum -= off * off / 2;
    }
    off = (log_parameters[d] - log(NOISE_FIRST)) / NOISE_SPREAD;
    gradient[d] -= off / NOISE_SPREAD;
    return sum - off * off / 2;
}

/* Resilient propagation: each parameter has its own step, which grows while the
 * gradient keeps its sign. */
static void climb(struct fit *fit, struct gp_kernel *kernel)
{
    double at[FEATURES_MAX + 1], step[FEATURES_MAX + 1];
    double slope[FEATURES_MAX + 1] = { 0 }, before[FEATURES_MAX + 1];
    double best = -INFINITY;
    int d = fit->features_n;

    for (int f = 0; f <= d; f++) {
        at[f] =
            log(f < d ? *weight_of(kernel, &fit->features[f]) : kernel->noise);
        step[f] = STEP_FIRST;
        before[f] = 0;
    }
    for (int k = 0; k < STEPS; k++) {
        double here = probability(fit, at, slope);

        if (here > best) {
            best = here;
            for (int f = 0; f < d; f++)
                *weight_of(kernel, &fit->features[f]) = exp(at[f]);
            kernel->noise = exp(at[d]);
            kernel->variance = fit->variance;
        }
        if (!isfinite(here))
            break;
        for (int f = 0; f <= d; f++) {
            if (slope[f] * before[f] > 0)
                step[f] = fmin(step[f] * 1.2, STEP_MAX);
            else if (slope[f] * before[f] < 0)
                step[f] *= 0.5;
            before[f] = slope[f];
            at[f] += slope[f] > 0 ? step[f] : -step[f];
        }
        at[d] = fmax(at[d], log(NOISE_MIN));
    }
}

static void fill_gaps(struct fit *fit, const struct domain *domain,
                      const int *points)
{
    float *out = fit->gaps;

    for (int i = 0; i < fit->n; i++)
        for (int j = 0; j < i; j++)
            for (int f = 0; f < fit->features_n; f++)
                *out++ = (float)gap2(domain, &fit->features[f],
                                     domain_point(domain, points[i]),
                                     domain_point(domain, points[j]));
}

void gp_fit(struct gp_kernel *kernel, const struct domain *domain,
            const int *points, const double *values, int n)
{
    size_t size = (size_t)n * (size_t)n, pairs = size / 2 + 1;
    struct fit fit = { .values = values, .n = n };

    fit.features_n = list_features(domain, fit.features);
    for (int f = 0; f < fit.features_n; f++)
        fit.expected[f] =
            log(weight_first(domain, &fit.features[f], fit.features_n));
    fit.gaps = mem_new(pairs * (size_t)fit.features_n, sizeof(float));
    fit.lower = mem_new(size, sizeof(double));
    fit.inverse = mem_new(size, sizeof(double));
    fit.slope = mem_new(pairs, sizeof(double));
    fit.alpha = mem_new((size_t)n, sizeof(double));
    fill_gaps(&fit, domain, points);
    climb(&fit, kernel);
    free(fit.gaps);
    free(fit.lower);
    free(fit.inverse);
    free(fit.slope);
    free(fit.alpha);
}
