/* finalists.h - which screened configurations could still be the best
 *
 * Screening takes few samples, so its first place is partly luck.  Chosen is
 * every configuration that is not slower than some other one by more than
 * their noise explains, at a level corrected for how many there are: the
 * truly fastest is among them with probability of at least 1 - alpha, whether
 * that makes 2 or 200 (subset selection; Gupta, 1965).  That holds for each
 * shape by itself: who could be the best at one of them goes on.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_FINALISTS_H
#define FA_COORDINATOR_CONFIRM_FINALISTS_H

#include <stdbool.h>
#include <stddef.h>

struct screened {
    double seconds;   /* normalised median; NAN: not in the running */
    size_t n_samples; /* behind it, >= 1 */
    double sd;        /* plain relative standard deviation of its samples */
};

/* From the samples of one configuration, [n], n >= 1.
 * scale  normalised over raw, as canary_calibration_normalise(cal, 1, gpu, at)
 */
void finalists_screen(const double *samples, size_t n, double scale,
                      struct screened *out);

/* Noise differs from configuration to configuration, by a factor of 30 in
 * recorded sweeps, and a noisy one whose median came out low must not throw
 * out the best.  So each counts as its own samples say, outliers included,
 * and a few calm samples as calm as the sweep's typical ones, not more. */
struct finalist_rules {
    double alpha;   /* of missing the fastest, as 0.05 */
    double noise;   /* typical relative sd of a sample in this sweep */
    double between; /* relative sd of what more samples of one measurement do
                       not cure: process to process, canary, calibration */
};

/* Of the log of its median; 'alpha' has no say. */
double finalists_variance(const struct screened *screened,
                          const struct finalist_rules *rules);

struct finalists {
    size_t n_possible; /* could still be the best at some shape */
    size_t n_chosen;   /* the same, or the cap */
    double next;       /* of those left out by the cap the one closest to the
                          fastest of its shape, over that; NAN: none was */
};

/* screened  [n_shapes][n]
 * rules     [n_shapes]
 * cap       what the budget of the confirmation pass allows, over all shapes:
 *           the fastest of each shape, the second of each, and so on, shapes
 *           in their order
 * chosen    [n], set to who goes on; of equal medians the lowest index first
 */
void finalists_choose(const struct screened *screened, size_t n,
                      const struct finalist_rules *rules, size_t n_shapes,
                      size_t cap, bool *chosen, struct finalists *out);

#endif
