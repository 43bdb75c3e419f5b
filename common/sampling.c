#include "common/sampling.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/insertion_sort.h"

/* How much farther apart than the interval is wide the halves may be.  Each
 * half has half the samples, so their difference is twice as noisy. */
#define DRIFT_SLACK 2

static double median_of(const double *s, size_t n)
{
    double sorted[SAMPLING_MAX];

    memcpy(sorted, s, n * sizeof(*s));
    insertion_sort(sorted, n);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* How many samples to leave out at either end: the largest number for which the
 * interval still misses the median with a probability of at most 'miss' at each
 * end.  With r left out, that is P(Binomial(n, 1/2) < r + 1). */
static size_t left_out(size_t n, double miss)
{
    double p = ldexp(1, -(int)n), below = p; /* term 0 of n; n <= 1000 */
    size_t r = 0;

    while (r + 1 < (n + 1) / 2) {
        p *= (double)(n - r) / (double)(r + 1);
        below += p;
        if (below > miss)
            break;
        r++;
    }
    return r;
}

static void look(const double *s, size_t n, double confidence,
                 struct sampling *out)
{
    size_t skip = left_out(n, (1 - confidence) / 2), half = n / 2;
    double sorted[SAMPLING_MAX];

    memcpy(sorted, s, n * sizeof(*s));
    insertion_sort(sorted, n);
    out->median = (sorted[(n - 1) / 2] + sorted[half]) / 2;
    out->lo = sorted[skip];
    out->hi = sorted[n - 1 - skip];
    out->half_width = (out->hi - out->lo) / 2 / out->median;
    out->drift =
        half == 0 ? 0 : median_of(s + n - half, half) / median_of(s, half) - 1;
}

enum sampling_verdict sampling_next(const double *s, size_t n,
                                    const struct sampling_rules *rules,
                                    struct sampling *out)
{
    struct sampling now;

    assert(n >= 1 && n <= SAMPLING_MAX);
    look(s, n, rules->confidence, &now);
    if (out)
        *out = now;
    if (n < rules->least)
        return SAMPLING_CONTINUE;
    if (now.half_width <= rules->noise &&
        fabs(now.drift) <= DRIFT_SLACK * rules->noise)
        return SAMPLING_SETTLED;
    if (now.lo > rules->margin * rules->incumbent_s)
        return SAMPLING_LOSER;
    return n < rules->most ? SAMPLING_CONTINUE : SAMPLING_UNSTABLE;
}

const char *sampling_name(enum sampling_verdict verdict)
{
    static const char *const names[] = {
        [SAMPLING_CONTINUE] = "continue",
        [SAMPLING_SETTLED] = "settled",
        [SAMPLING_LOSER] = "loser",
        [SAMPLING_UNSTABLE] = "unstable",
    };

    return names[verdict];
}
