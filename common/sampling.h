/* sampling.h - decides whether a configuration needs another sample
 *
 * It is called after samples during screening.  The interval of the median is
 * given by two of the samples (order statistics and the binomial distribution;
 * Thompson, 1936). That holds for noise of any shape: a few outliers do not
 * widen it.
 *
 *   SETTLED   the interval is as narrow as asked, and the second half of the
 *             samples agrees with the first half
 *   LOSER     even the low end of the interval is beyond the margin over the
 *             incumbent, so more samples cannot make it win
 *   UNSTABLE  neither, and no more samples are allowed
 *
 * Pure; any thread.  Uses nothing but insertion_sort.h and the C library, no
 * allocation; about a microsecond for 30 samples.
 */
#ifndef FA_COMMON_SAMPLING_H
#define FA_COMMON_SAMPLING_H

#include <math.h>
#include <stddef.h>

#define SAMPLING_MAX 1000 /* samples used in one call */

enum sampling_verdict {
    SAMPLING_CONTINUE,
    SAMPLING_SETTLED,
    SAMPLING_LOSER,
    SAMPLING_UNSTABLE,
};

struct sampling_rules {
    size_t least, most; /* samples; 1 <= least <= most <= SAMPLING_MAX */
    double noise;       /* target: half-width of the interval over the median */
    double confidence;  /* of the interval, in (0, 1) */
    double margin;      /* a loser is slower than this times the incumbent */
    double incumbent_s; /* the best median so far: the high end of its
                           interval; INFINITY before there is a median */
};

/* 5 samples, then up to 30 or until 1 % is reached; losers are 10 % slower.
 * Set the incumbent. */
#define SAMPLING_RULES                                             \
    {                                                              \
        .least = 5, .most = 30, .noise = 0.01, .confidence = 0.95, \
        .margin = 1.10, .incumbent_s = INFINITY                    \
    }

struct sampling {
    double median;
    double lo, hi;     /* interval of the median; below 6 samples (at 95 %) the
                        * smallest and the largest, whatever level that has */
    double half_width; /* (hi - lo) / 2 / median */
    double drift;      /* of the second half over the first, 0.01 is slower by 1
                        * %; not settled while it exceeds twice the noise */
};

/* s    [n] in the order they were taken, seconds, > 0; not modified
 * n    1 to SAMPLING_MAX
 * out  the current state; may be NULL */
enum sampling_verdict sampling_next(const double *s, size_t n,
                                    const struct sampling_rules *rules,
                                    struct sampling *out);

const char *sampling_name(enum sampling_verdict verdict); /* "settled", ... */

#endif
