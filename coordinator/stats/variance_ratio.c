#include "coordinator/stats/variance_ratio.h"

#include <assert.h>
#include <math.h>

#include "coordinator/stats/normal.h"

double variance_ratio_p(double ratio, double upper, double lower)
{
    double a = 2 / (9 * upper), b = 2 / (9 * lower), root = cbrt(ratio);

    assert(ratio > 0 && upper > 0 && lower > 0);
    return normal_cdf(((1 - a) - (1 - b) * root) / sqrt(a + b * root * root));
}
