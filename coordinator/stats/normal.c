#include "coordinator/stats/normal.h"

#include <assert.h>
#include <math.h>

/* Beyond 40 a double cannot hold p, and 200 halvings resolve an interval of
 * 80. */
#define Z_MAX 40.0
#define HALVINGS 200

double normal_cdf(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* By bisection: it is called a few times a report, and this way the only
 * implementation of the distribution is that of libm. */
double normal_quantile(double p)
{
    double lo = -Z_MAX, hi = Z_MAX;

    assert(p > 0 && p < 1);
    if (p > 0.5)
        return -normal_quantile(1 - p); /* near 1 a double lacks the digits */
    for (int i = 0; i < HALVINGS && hi - lo > 1e-15; i++) {
        double mid = (lo + hi) / 2;

        if (normal_cdf(mid) < p)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}
