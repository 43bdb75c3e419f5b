/* spending.h - how strict each look at growing evidence must be
 *
 * A test that is repeated while its evidence grows rejects a true hypothesis
 * more often than a single one.  An error spending function says how much of
 * the error rate may be spent up to the share t of the evidence (Lan and
 * DeMets, 1983).  The looks need not be planned: only the share that each was
 * taken at counts.
 *
 * The function is theirs that resembles Pocock's boundary (1977),
 *
 *     alpha * ln(1 + (e - 1) t)
 *
 * because the evidence is a rank test, whose p cannot be below 2^-n.  The first
 * bounds of the function that resembles O'Brien and Fleming's (1979) are
 * below that: its early looks could never end anything.
 *
 * The level of a look is found for a Brownian motion, by the recursive
 * integration of Armitage, McPherson and Rowe (1969).  A sum of independent
 * differences, and a rank statistic of them, behaves like one.  Using the level
 * rather than a bound on the statistic carries it over to other statistics
 * (Jennison and Turnbull, 2000, section 3.3).
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_SPENDING_H
#define FA_COORDINATOR_STATS_SPENDING_H

#define SPENDING_STEPS 200 /* of the integral over the statistic */

/* What was spent so far.  The density is that of the motion at 'share', where
 * no look before has rejected. */
struct spending {
    double alpha; /* one-sided, of all looks together */
    double share; /* of the last look, 0 before the first */
    double from, step;
    double density[SPENDING_STEPS + 1];
};

void spending_init(struct spending *spending, double alpha);

/* The part of 'alpha' that may be spent up to a share in [0, 1]. */
double spending_spent(double alpha, double share);

/* Take a look at the share in (the last one, 1].  Returns the level for the
 * one-sided p of this look: reject if p is at most that. */
double spending_look(struct spending *spending, double share);

/* The same for a look that is known to be the last one, at whatever share: it
 * spends all that is left.  What ends the looks must not be their results. */
double spending_last(struct spending *spending, double share);

#endif
