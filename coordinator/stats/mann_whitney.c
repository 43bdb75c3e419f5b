#include "coordinator/stats/mann_whitney.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/stats/normal.h"

/* A value, and which set it is from. */
struct ranked {
    double value;
    bool of_x;
};

static int ascending(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->value;
    double y = ((const struct ranked *)b)->value;

    return (x > y) - (x < y);
}

static struct ranked *sort_both(const double *x, size_t nx, const double *y,
                                size_t ny)
{
    struct ranked *all = mem_new(nx + ny, sizeof(*all));

    for (size_t i = 0; i < nx; i++)
        all[i] = (struct ranked){ x[i], true };
    for (size_t i = 0; i < ny; i++)
        all[nx + i] = (struct ranked){ y[i], false };
    qsort(all, nx + ny, sizeof(*all), ascending);
    return all;
}

/* U of x, and in 'ties' the sum of t^3 - t over groups of t equal values. */
static double count_pairs(const struct ranked *all, size_t n, double *ties)
{
    double u = 0, y_below = 0;
    size_t i = 0;

    *ties = 0;
    while (i < n) {
        double x_here = 0, y_here = 0, t;
        double value = all[i].value;

        for (; i < n && all[i].value == value; i++) {
            x_here += all[i].of_x;
            y_here += !all[i].of_x;
        }
        t = x_here + y_here;
        u += x_here * (y_below + y_here / 2);
        y_below += y_here;
        *ties += t * t * t - t;
    }
    return u;
}

/* P(U <= u) for sets of n and m, no ties.  The probabilities of U for (i, j)
 * come from whether the greatest of all values is an x or a y:
 *     f(i, j, u) = i/(i+j) f(i-1, j, u-j) + j/(i+j) f(i, j-1, u)
 * One row a j, kept for all i up to n, the smaller set. */
double mann_whitney_u_below(size_t n, size_t m, size_t u)
{
    size_t width = u + 1;
    double *f = mem_new((n + 1) * width, sizeof(*f));
    double sum = 0;

    for (size_t i = 0; i <= n; i++)
        f[i * width] = 1;
    for (size_t j = 1; j <= m; j++)
        for (size_t i = 1; i <= n; i++) {
            double *at = &f[i * width];
            const double *less = &f[(i - 1) * width];
            double share = (double)i / (double)(i + j);

            for (size_t k = width; k-- > 0;)
                at[k] =
                    (1 - share) * at[k] + (k >= j ? share * less[k - j] : 0);
        }
    for (size_t k = 0; k < width; k++)
        sum += f[n * width + k];
    free(f);
    return sum;
}

static double normal_p(double nx, double ny, double u, double ties)
{
    double n = nx + ny, mean = nx * ny / 2;
    double variance = nx * ny / 12 * (n + 1 - ties / (n * (n - 1)));

    if (variance <= 0)
        return 1;
    return fmin(1, 2 * normal_cdf(-(fabs(u - mean) - 0.5) / sqrt(variance)));
}

static enum mann_whitney_magnitude magnitude_of(double delta)
{
    if (fabs(delta) < 0.147)
        return MANN_WHITNEY_NEGLIGIBLE;
    if (fabs(delta) < 0.33)
        return MANN_WHITNEY_SMALL;
    return fabs(delta) < 0.474 ? MANN_WHITNEY_MEDIUM : MANN_WHITNEY_LARGE;
}

void mann_whitney(const double *x, size_t nx, const double *y, size_t ny,
                  struct mann_whitney *out)
{
    struct ranked *all = sort_both(x, nx, y, ny);
    size_t fewer = nx < ny ? nx : ny, more = nx < ny ? ny : nx;
    double all_pairs = (double)nx * (double)ny, ties, u;

    assert(nx >= 1 && ny >= 1);
    u = count_pairs(all, nx + ny, &ties);
    free(all);
    out->u = u;
    out->delta = 2 * u / all_pairs - 1;
    out->magnitude = magnitude_of(out->delta);
    out->exact = ties == 0 && fewer <= MANN_WHITNEY_EXACT_MAX &&
                 more <= MANN_WHITNEY_EXACT_OTHER_MAX;
    if (out->exact)
        out->p = fmin(1, 2 * mann_whitney_u_below(
                                 fewer, more, (size_t)fmin(u, all_pairs - u)));
    else
        out->p = normal_p((double)nx, (double)ny, u, ties);
}

const char *mann_whitney_magnitude_name(enum mann_whitney_magnitude magnitude)
{
    static const char *const names[] = {
        [MANN_WHITNEY_NEGLIGIBLE] = "negligible",
        [MANN_WHITNEY_SMALL] = "small",
        [MANN_WHITNEY_MEDIUM] = "medium",
        [MANN_WHITNEY_LARGE] = "large",
    };

    return names[magnitude];
}

struct hypothesis {
    double p;
    size_t at;
};

static int by_p(const void *a, const void *b)
{
    double x = ((const struct hypothesis *)a)->p;
    double y = ((const struct hypothesis *)b)->p;

    return (x > y) - (x < y);
}

void mann_whitney_holm(const double *p, size_t n, double *out)
{
    struct hypothesis *sorted = mem_new(n, sizeof(*sorted));
    double most = 0;

    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct hypothesis){ p[i], i };
    qsort(sorted, n, sizeof(*sorted), by_p);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fmin(1, (double)(n - i) * sorted[i].p));
        out[sorted[i].at] = most;
    }
    free(sorted);
}
