/* finalists.h - which screened configurations could still be the best
 *
 * Screening takes few samples, so first place is partly luck.  A configuration
 * is dropped only if it is slower than another one by more than their noise
 * explains, at a level corrected for the number of configurations.  All others
 * are chosen, be they 2 or 200: the truly fastest is among them with a
 * probability of at least 1 - alpha (subset selection; Gupta, 1965). This is
 * done for each shape: a configuration that could be the best at one shape is
 * chosen.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_FINALISTS_H
#define FA_COORDINATOR_CONFIRM_FINALISTS_H

#include <stdbool.h>
#include <stddef.h>

struct screened {
    double seconds;   /* normalised median; NAN: it does not take part */
    size_t n_samples; /* number of samples behind it, >= 1 */
    double sd;        /* plain relative standard deviation of its samples */
};

/* From the samples of one configuration, [n], n >= 1.
 * scale  normalised over raw, as canary_calibration_normalise(cal, 1, gpu, at)
 */
void finalists_screen(const double *samples, size_t n, double scale,
                      struct screened *out);

/* Noise differs by a factor of 30 between configurations of recorded sweeps,
 * and a noisy one whose median came out low must not eliminate the best.  So
 * each configuration counts with the noise of its own samples, outliers
 * included.  A few samples that look calm count as typical of the sweep, not
 * calmer. */
struct finalist_rules {
    double alpha;   /* probability of missing the fastest, such as 0.05 */
    double noise;   /* typical relative sd of a sample in this sweep */
    double between; /* relative sd that more samples do not reduce: process to
                     * process, canary, calibration */
};

/* Variance of the log of its median; 'alpha' is not used. */
double finalists_variance(const struct screened *screened,
                          const struct finalist_rules *rules);

/* One configuration over several shapes: the geometric mean of its times.  The
 * noise of its samples averages out; what more samples do not reduce may be
 * the same at all shapes, and does not.
 * each   [n_shapes], 'stride' apart;  rules  [n_shapes]
 * Use the result with rules that have the largest 'between' and no noise. */
void finalists_over_all(const struct screened *each, size_t stride,
                        const struct finalist_rules *rules, size_t n_shapes,
                        struct screened *out);

struct finalists {
    size_t n_possible; /* could be the best at some shape */
    size_t n_chosen;   /* the same, limited by the cap */
    double next;       /* time over the fastest of its shape, of the closest one
                        * that the cap left out; NAN: none was left out */
};

/* screened  [n_shapes][n]
 * rules     [n_shapes]
 * cap       what the budget of the confirmation pass allows, over all shapes:
 *           the fastest of each shape, the second of each, and so on, shapes
 *           in their order
 * chosen    [n], true for finalists; of equal medians the lowest index first
 */
void finalists_choose(const struct screened *screened, size_t n,
                      const struct finalist_rules *rules, size_t n_shapes,
                      size_t cap, bool *chosen, struct finalists *out);

#endif
