#include "coordinator/search/penalty.h"

#include <math.h>

#include "coordinator/model/gp.h"

void penalty_init(struct penalty *penalty, const struct gp *gp,
                  const int *points, const double *values, int n)
{
    penalty->n = 0;
    penalty->slope = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double far = sqrt(gp_far2(gp, points[i], points[j]));
            double slope = far > 0 ? fabs(values[i] - values[j]) / far : 0;

            if (slope > penalty->slope)
                penalty->slope = slope;
        }
}

void penalty_add(struct penalty *penalty, int point, double behind,
                 double deviation)
{
    if (penalty->n < PENALTY_MAX)
        penalty->balls[penalty->n++] =
            (struct penalty_ball){ point, behind, deviation };
}

double penalty_of(const struct penalty *penalty, const struct gp *gp, int point)
{
    double kept = 1;

    for (int i = 0; i < penalty->n; i++) {
        const struct penalty_ball *ball = &penalty->balls[i];
        double far = sqrt(gp_far2(gp, point, ball->point));
        double z = (penalty->slope * far - ball->behind) / ball->deviation;

        kept *= erfc(-z / M_SQRT2) / 2;
    }
    return kept;
}
