#include "coordinator/schedule/incumbents.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/sampling.h"

struct incumbents {
    double *high_s; /* 0: no incumbent yet */
};

struct incumbents *incumbents_new(int n_shapes)
{
    struct incumbents *incumbents = mem_new(1, sizeof(*incumbents));

    incumbents->high_s =
        mem_new((size_t)n_shapes + 1, sizeof(*incumbents->high_s));
    return incumbents;
}

void incumbents_free(struct incumbents *incumbents)
{
    if (!incumbents)
        return;
    free(incumbents->high_s);
    free(incumbents);
}

static void lower(double *high_s, double other_s)
{
    if (*high_s == 0 || other_s < *high_s)
        *high_s = other_s;
}

void incumbents_saw(struct incumbents *incumbents, int shape,
                    const struct reals *samples, const char *sampling)
{
    struct sampling_rules rules = SAMPLING_RULES;
    struct sampling times;

    if (samples->n == 0 || samples->n > SAMPLING_MAX ||
        (strcmp(sampling, "settled") != 0 && strcmp(sampling, "fixed") != 0))
        return;
    sampling_next(samples->items, samples->n, &rules, &times);
    lower(&incumbents->high_s[shape], times.hi);
}

/* Half the width of the interval is at most 'noise' times the median. */
static double high_of(double median_s, double noise)
{
    return median_s * (1 + 2 * noise);
}

bool incumbents_is_new(const struct incumbents *incumbents, int shape,
                       double median_s, double noise)
{
    double high_s = incumbents->high_s[shape];

    return high_s == 0 || high_of(median_s, noise) < high_s;
}

void incumbents_remember(struct incumbents *incumbents, int shape,
                         double median_s, double noise)
{
    lower(&incumbents->high_s[shape], high_of(median_s, noise));
}

double incumbents_high_s(const struct incumbents *incumbents, int shape)
{
    return incumbents->high_s[shape];
}
