#include "coordinator/stats/spending.h"

#include <assert.h>
#include <math.h>

#include "coordinator/stats/normal.h"

/* The density is cut so many standard deviations below 0. */
#define LOW 8.0
/* Levels below that of this z are not told apart. */
#define HIGH 7.0
#define HALVINGS 60

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

static double density_at(const struct spending *s, double x, double ahead)
{
    double sum = 0, scale = 1 / sqrt(2 * M_PI * ahead);

    if (s->share == 0)
        return scale * exp(-x * x / (2 * ahead));
    for (int i = 0; i <= SPENDING_STEPS; i++) {
        double gap = x - (s->from + i * s->step);

        sum += weight(i) * s->density[i] * exp(-gap * gap / (2 * ahead));
    }
    return sum * s->step * scale;
}

double spending_look(struct spending *s, double share)
{
    struct spending next = { .alpha = s->alpha, .share = share };
    double ahead = share - s->share, root = sqrt(share);
    double now =
        spending_spent(s->alpha, share) - spending_spent(s->alpha, s->share);
    double lo = 0, hi = HIGH * root;

    assert(share > s->share && share <= 1);
    for (int i = 0; i < HALVINGS; i++) {
        double mid = (lo + hi) / 2;

        if (above(s, mid, ahead) > now)
            lo = mid;
        else
            hi = mid;
    }
    next.from = -LOW * root;
    next.step = (hi - next.from) / SPENDING_STEPS;
    for (int i = 0; i <= SPENDING_STEPS; i++)
        next.density[i] = density_at(s, next.from + i * next.step, ahead);
    *s = next;
    return normal_cdf(-hi / root);
}
