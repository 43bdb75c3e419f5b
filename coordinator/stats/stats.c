#include "coordinator/stats/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/insertion_sort.h"
#include "common/mem.h"
#include "coordinator/stats/prng.h"

/* 1 / quantile(0.75) of the normal distribution */
#define MAD_TO_SIGMA 1.4826

#define FEW 64

/* Bring those below the pivot to the front, and those above it to the end.
 * Returns where those equal to it begin; 'end' is where they end. */
static size_t partition(double *s, size_t n, double pivot, size_t *end)
{
    size_t below = 0, at = 0, above = n;

    while (at < above) {
        double value = s[at];

        if (value < pivot) {
            s[at++] = s[below];
            s[below++] = value;
        } else if (value > pivot) {
            s[at] = s[--above];
            s[above] = value;
        } else {
            at++;
        }
    }
    *end = above;
    return below;
}

/* Quickselect (Hoare, 1961): bring the one of place 'k' there, with no larger
 * one before it. */
static void bring(double *s, size_t n, size_t k)
{
    struct prng prng; /* any pivot will do; its seed is fixed */

    if (n > FEW)
        prng_init(&prng, 1);
    while (n > FEW) {
        double pivot = s[prng_below(&prng, n)];
        size_t end, from = partition(s, n, pivot, &end);

        if (k >= from && k < end)
            return;
        if (k < from) {
            n = from;
        } else {
            s += end;
            n -= end;
            k -= end;
        }
    }
    insertion_sort(s, n);
}

double stats_median(double *s, size_t n)
{
    double below;

    assert(n >= 1);
    bring(s, n, n / 2);
    if (n % 2)
        return s[n / 2];
    below = s[0];
    for (size_t i = 1; i < n / 2; i++)
        below = fmax(below, s[i]);
    return (below + s[n / 2]) / 2;
}

void stats_summary(const double *s, size_t n, struct summary *out)
{
    double few[FEW];
    double *scratch = n > FEW ? mem_new(n, sizeof(*scratch)) : few;

    assert(n >= 1);
    out->min = out->max = s[0];
    for (size_t i = 0; i < n; i++) {
        scratch[i] = s[i];
        out->min = fmin(out->min, s[i]);
        out->max = fmax(out->max, s[i]);
    }
    out->median = stats_median(scratch, n);
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(s[i] - out->median);
    out->spread = MAD_TO_SIGMA * stats_median(scratch, n);
    if (scratch != few)
        free(scratch);
}
