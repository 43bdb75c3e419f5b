/* finalists.h - which screened configurations could still be the best
 *
 * Screening takes few samples, so its first place is partly luck.  Chosen is
 * every configuration that is not slower than some other one by more than
 * their noise explains, at a level corrected for how many there are: the
 * truly fastest is among them with probability of at least 1 - alpha, whether
 * that makes 2 or 200 (subset selection; Gupta, 1965).
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_FINALISTS_H
#define FA_COORDINATOR_FINALISTS_H

#include <stdbool.h>
#include <stddef.h>

struct screened {
    double seconds;   /* normalised median; NAN: not in the running */
    size_t n_samples; /* behind it, >= 1 */
    double sd;        /* plain relative standard deviation of its samples */
};

/* From the samples of one configuration, [n], n >= 1.
 * scale  normalised over raw, as calibration_normalise(cal, 1, gpu, at) */
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
    size_t cap;     /* what the budget of the confirmation pass allows */
};

/* Of the log of its median; 'alpha' and 'cap' have no say. */
double finalists_variance(const struct screened *screened,
                          const struct finalist_rules *rules);

struct finalists {
    size_t n_possible; /* could still be the best */
    size_t n_chosen;   /* the same, or the cap */
    double within;     /* the slowest chosen over the fastest, 1.03 is +3 % */
    double next;       /* the fastest left out by the cap over the fastest, or
                          NAN: the cap cut nothing */
};

/* screened  [n]
 * chosen    [n], set to who goes on; with a cap those of the lowest medians,
 *           among equal ones those of the lowest index */
void finalists_choose(const struct screened *screened, size_t n,
                      const struct finalist_rules *rules, bool *chosen,
                      struct finalists *out);

#endif
