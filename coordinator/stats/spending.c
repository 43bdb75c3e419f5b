#include "coordinator/stats/spending.h"

#include <assert.h>
#include <math.h>

#include "coordinator/stats/normal.h"

/* The density is cut so many standard deviations below 0. */
#define LOW 8.0
/* Levels below that of this z are not told apart. */
#define HIGH 7.0
#define HALVINGS 60
#define CLOSE 1e-15 /* of the range */

void spending_init(struct spending *s, double alpha)
{
    assert(alpha > 0 && alpha < 0.5);
    *s = (struct spending){ .alpha = alpha };
}

double spending_spent(double alpha, double share)
{
    return alpha * log1p((M_E - 1) * fmin(share, 1));
}

/* Simpson's rule. */
static double weight(int i)
{
    if (i == 0 || i == SPENDING_STEPS)
        return 1.0 / 3;
    return i % 2 ? 4.0 / 3 : 2.0 / 3;
}

/* P(the motion is above 'bound' after 'ahead' more, and was never rejected). */
static double above(const struct spending *s, double bound, double ahead)
{
    double sum = 0;

    if (s->share == 0)
        return normal_cdf(-bound / sqrt(ahead));
    for (int i = 0; i <= SPENDING_STEPS; i++)
        sum += weight(i) * s->density[i] *
               normal_cdf((s->from + i * s->step - bound) / sqrt(ahead));
    return sum * s->step;
}

/* Steps farther from x than this many standard deviations of what is ahead add
 * nothing: its density is below 1e-17 of that at x. */
#define REACH 9.0

static double density_at(const struct spending *s, double x, double ahead)
{
    double sum = 0, scale = 1 / sqrt(2 * M_PI * ahead);
    double reach = REACH * sqrt(ahead), first, last;

    if (s->share == 0)
        return scale * exp(-x * x / (2 * ahead));
    first = fmax(0, ceil((x - reach - s->from) / s->step));
    last = fmin(SPENDING_STEPS, floor((x + reach - s->from) / s->step));
    for (int i = (int)first; i <= (int)last; i++) {
        double gap = x - (s->from + i * s->step);

        sum += weight(i) * s->density[i] * exp(-gap * gap / (2 * ahead));
    }
    return sum * s->step * scale;
}

/* The bound in [0, most] that the motion passes with the probability 'now'.
 * Newton's method on the logarithm, which is almost linear there; halving where
 * it leaves the range. */
static double find_bound(const struct spending *s, double now, double ahead,
                         double most)
{
    double lo = 0, hi = most, bound = most / 2;

    for (int i = 0; i < HALVINGS; i++) {
        double found = above(s, bound, ahead), next;

        if (found > now)
            lo = bound;
        else
            hi = bound;
        next = bound + found * log(found / now) / density_at(s, bound, ahead);
        if (!(next > lo && next < hi)) /* or it is not a number */
            next = (lo + hi) / 2;
        if (fabs(next - bound) <= CLOSE * most)
            return next;
        bound = next;
    }
    return bound;
}

/* A look that spends until 'spent' is spent in all. */
static double look(struct spending *s, double share, double spent)
{
    struct spending next = { .alpha = s->alpha, .share = share };
    double ahead = share - s->share, root = sqrt(share);
    double now = spent - spending_spent(s->alpha, s->share);
    double bound;

    assert(share > s->share && share <= 1);
    bound = find_bound(s, now, ahead, HIGH * root);
    next.from = -LOW * root;
    next.step = (bound - next.from) / SPENDING_STEPS;
    for (int i = 0; i <= SPENDING_STEPS; i++)
        next.density[i] = density_at(s, next.from + i * next.step, ahead);
    *s = next;
    return normal_cdf(-bound / root);
}

double spending_look(struct spending *s, double share)
{
    return look(s, share, spending_spent(s->alpha, share));
}

double spending_last(struct spending *s, double share)
{
    return look(s, share, s->alpha);
}
