/* mann_whitney.h - whether two sets of times differ, and by how much
 *
 * Mann and Whitney's U (1947), Cliff's delta (1993) with the words of Romano et
 * al.  (2006), and Holm's step-down correction (1979).
 *
 * The rank test needs independent values.  Samples of one process are not
 * independent, so it gets one median a block (blocks_medians()). Drift that
 * both sets share then lowers its power, but causes no false alarm.  It is
 * reported for comparison with other tools; verdicts use signed_rank.h.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_MANN_WHITNEY_H
#define FA_COORDINATOR_STATS_MANN_WHITNEY_H

#include <stdbool.h>
#include <stddef.h>

enum mann_whitney_magnitude {
    MANN_WHITNEY_NEGLIGIBLE, /* |delta| < 0.147 */
    MANN_WHITNEY_SMALL,      /* < 0.33 */
    MANN_WHITNEY_MEDIUM,     /* < 0.474 */
    MANN_WHITNEY_LARGE,
};

struct mann_whitney {
    double u;     /* pairs in which x is greater, equal ones count half */
    double p;     /* two-sided, of "neither tends to be greater" */
    bool exact;   /* false: a normal approximation, see below */
    double delta; /* P(x > y) - P(x < y), -1 to 1; below 0: x is faster */
    enum mann_whitney_magnitude magnitude;
};

/* x  [nx], y [ny], finite, any order, not modified; nx, ny >= 1
 *
 * p is exact when no two values are equal, one set has at most
 * MANN_WHITNEY_EXACT_MAX values and the other MANN_WHITNEY_EXACT_OTHER_MAX;
 * else from the normal distribution, its variance corrected for ties and the
 * step of 1/2 for continuity.  If all values are equal p is 1. */
#define MANN_WHITNEY_EXACT_MAX 20
#define MANN_WHITNEY_EXACT_OTHER_MAX 500
void mann_whitney(const double *x, size_t nx, const double *y, size_t ny,
                  struct mann_whitney *out);

/* P(U <= u) of sets of n and m values, all different, when neither tends to
 * be greater; n <= m keeps it small.  Time and memory grow with n m u. */
double mann_whitney_u_below(size_t n, size_t m, size_t u);

const char *mann_whitney_magnitude_name(enum mann_whitney_magnitude magnitude);

/* Holm: p values of 'n' hypotheses, corrected so that rejecting those whose
 * out[i] <= alpha rejects any true one with probability of at most alpha.
 * 'out' may be 'p'. */
void mann_whitney_holm(const double *p, size_t n, double *out);

#endif
