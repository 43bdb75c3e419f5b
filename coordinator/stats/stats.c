#include "coordinator/stats/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/insertion_sort.h"
#include "common/mem.h"

/* 1 / quantile(0.75) of the normal distribution */
#define MAD_TO_SIGMA 1.4826

#define FEW 64

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double sorted_median(const double *s, size_t n)
{
    return n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

static void sort(double *s, size_t n)
{
    if (n > FEW)
        qsort(s, n, sizeof(*s), ascending);
    else
        insertion_sort(s, n);
}

double stats_median(double *s, size_t n)
{
    assert(n >= 1);
    sort(s, n);
    return sorted_median(s, n);
}

void stats_summary(const double *s, size_t n, struct summary *out)
{
    double few[FEW];
    double *sorted = n > FEW ? mem_new(n, sizeof(*sorted)) : few;

    assert(n >= 1);
    for (size_t i = 0; i < n; i++)
        sorted[i] = s[i];
    sort(sorted, n);
    out->min = sorted[0];
    out->max = sorted[n - 1];
    out->median = sorted_median(sorted, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = fabs(s[i] - out->median);
    sort(sorted, n);
    out->spread = MAD_TO_SIGMA * sorted_median(sorted, n);
    if (sorted != few)
        free(sorted);
}
