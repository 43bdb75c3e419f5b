#include "tests/bench/in_flight/figures.h"

#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "tests/bench/in_flight/fleet.h"

#define LIMIT_FACTOR 1.3
#define LIMIT_POINTS 0.5

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void figures_of(const struct fleet_end *runs, int n, struct figures *out)
{
    double *sorted = mem_new((size_t)n, sizeof(double)), squares = 0;

    *out = (struct figures){ .mean = 0 };
    for (int i = 0; i < n; i++) {
        sorted[i] = 100 * runs[i].regret;
        out->mean += sorted[i] / n;
        out->seconds += runs[i].seconds / n;
        out->cpu_s += runs[i].cpu_s / n;
    }
    for (int i = 0; i < n; i++)
        squares += (sorted[i] - out->mean) * (sorted[i] - out->mean);
    out->error = n > 1 ? sqrt(squares / (n - 1) / n) : 0;
    qsort(sorted, (size_t)n, sizeof(double), by_value);
    out->median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    out->p90 = sorted[(int)ceil(n * 0.9) - 1];
    free(sorted);
}

double figures_limit(double one)
{
    return LIMIT_FACTOR * one + LIMIT_POINTS;
}
