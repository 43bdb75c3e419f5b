#include "coordinator/confirm/look_plan.h"

#include <limits.h>

#include "coordinator/confirm/sequential.h"

static int first_look(const struct confirmation *confirmation, int group,
                      int most)
{
    const struct sequential_design design = {
        .candidates = confirmation->n_running + (confirmation->against != NULL),
        .group = group,
        .most = most,
        .rules = confirmation->rules,
    };

    return sequential_first(&design);
}

void look_plan_set(struct confirmation *confirmation,
                   const struct confirmation_looks *asked)
{
    int least = first_look(confirmation, 1, asked->most);

    confirmation->looks = *asked;
    if (asked->most < least)
        confirmation->looks.most = least;
}

void look_plan_design(const struct confirmation *confirmation,
                      size_t candidates, struct sequential_design *out)
{
    bool external = confirmation->looks.group > 0 && confirmation->against;

    *out = (struct sequential_design){
        .candidates = candidates + external,
        .over = external ? candidates : 0,
        .shapes = confirmation->n_shapes,
        .group = confirmation->looks.group,
        .most = confirmation->looks.most,
        .samples = confirmation->samples,
        .over_all = confirmation->looks.over_all,
        .closed = confirmation->ended && !confirmation->failed,
        .rules = confirmation->rules,
    };
}

int look_plan_first(const struct confirmation *confirmation)
{
    const struct confirmation_looks *looks = &confirmation->looks;
    int first;

    if (looks->group == 0)
        return INT_MAX;
    first = first_look(confirmation, looks->group, looks->most);
    return first < looks->most ? first : looks->most;
}

int look_plan_launches(const struct confirmation *confirmation)
{
    return confirmation->kind == CONFIRMATION_BENCH ? 0 : LOOK_PLAN_LAUNCHES;
}

int look_plan_repeats(const struct confirmation *confirmation)
{
    int blocks = confirmation->blocks, first = look_plan_first(confirmation);

    if (first < blocks)
        blocks = first;
    return (look_plan_launches(confirmation) + blocks - 1) / blocks;
}

/* Twice as slow as a finalist, by one measurement of each: it is not named. */
#define SLOW_BASELINE 2

int look_plan_baseline_repeats(int repeats, double baseline_s, double fastest_s)
{
    double ratio = baseline_s / fastest_s;

    return ratio > SLOW_BASELINE ? (int)(repeats / ratio) : repeats;
}
