#include "coordinator/lessons/lessons.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/lessons/lessons_input.h"
#include "coordinator/stats/stats.h"

#define CERTAIN 0.05 /* p below which a difference is believed */

/* Changes the order of the values. */
static double median_of(double *values, size_t n)
{
    return n ? stats_median(values, n) : (double)NAN;
}

/* ---- values of the tunables */

static void learn_value(const struct lessons_input *input, size_t axis,
                        size_t level, double *room, struct lessons_value *out)
{
    size_t n = 0;

    out->text = mem_strdup(input->axes[axis].values[level]);
    out->best_s = NAN;
    for (size_t i = 0; i < input->n; i++) {
        const struct lessons_point *point = &input->points[i];

        if (input->levels[i * input->n_axes + axis] != level)
            continue;
        out->failed += point->fate == LESSONS_FAILED;
        if (point->fate != LESSONS_TIMED)
            continue;
        room[n++] = point->seconds;
        out->best_s = fmin(out->best_s, point->seconds); /* NaN gives way */
    }
    out->timed = n;
    out->median_s = median_of(room, n);
}

static void learn_values(const struct lessons_input *input, struct lessons *out)
{
    double *room = mem_new(input->n + 1, sizeof(*room));

    out->n_tunables = input->n_axes;
    out->tunables = mem_new(input->n_axes + 1, sizeof(*out->tunables));
    for (size_t a = 0; a < input->n_axes; a++) {
        struct lessons_tunable *tunable = &out->tunables[a];

        tunable->name = mem_strdup(input->axes[a].name);
        tunable->n = tunable->best = input->axes[a].n;
        tunable->values = mem_new(tunable->n + 1, sizeof(*tunable->values));
        for (size_t v = 0; v < tunable->n; v++) {
            double best = tunable->best < tunable->n
                              ? tunable->values[tunable->best].best_s
                              : INFINITY;

            learn_value(input, a, v, room, &tunable->values[v]);
            if (tunable->values[v].best_s < best)
                tunable->best = v;
        }
    }
    free(room);
}

/* ---- importance and machine code */

static size_t *sizes_of(const struct lessons_input *input)
{
    size_t *sizes = mem_new(input->n_axes + 1, sizeof(*sizes));

    for (size_t a = 0; a < input->n_axes; a++)
        sizes[a] = input->axes[a].n;
    return sizes;
}

/* The timed ones are the first ones if the points are in order of rank. */
static bool timed_are_first(const struct lessons_input *input, size_t timed)
{
    for (size_t i = 0; i < timed; i++)
        if (input->points[i].fate != LESSONS_TIMED)
            return false;
    return true;
}

static void learn_importance(const struct lessons_input *input,
                             const size_t *sizes, struct lessons *out)
{
    bool first = timed_are_first(input, out->timed);
    size_t width = input->n_axes;
    uint16_t *levels =
        first ? NULL : mem_new(out->timed * width + 1, sizeof(*levels));
    double *logs = mem_new(out->timed + 1, sizeof(*logs));
    struct importance_points points = { width, sizes, 0,
                                        first ? input->levels : levels, logs };

    for (size_t i = 0; i < input->n; i++) {
        if (input->points[i].fate != LESSONS_TIMED)
            continue;
        if (levels)
            memcpy(levels + points.n * width, input->levels + i * width,
                   width * sizeof(*levels));
        logs[points.n++] = log(input->points[i].seconds);
    }
    importance_of(&points, &out->importance);
    for (size_t a = 0; a < input->n_axes; a++)
        out->tunables[a].share = out->importance.axes[a];
    free(levels);
    free(logs);
}

/* Different codes, which are numbered from 1 without large gaps. */
static size_t count_codes(const struct dead_tunables_point *built, size_t n)
{
    uint32_t most = 0;
    size_t codes = 0;
    bool *seen;

    for (size_t i = 0; i < n; i++)
        if (built[i].artifact > most)
            most = built[i].artifact;
    seen = mem_new((size_t)most + 1, sizeof(*seen));
    for (size_t i = 0; i < n; i++) {
        codes += !seen[built[i].artifact];
        seen[built[i].artifact] = true;
    }
    free(seen);
    return codes;
}

static void learn_dead(const struct lessons_input *input, struct lessons *out)
{
    size_t *sizes = mem_new(input->n_axes + 1, sizeof(*sizes));
    struct dead_tunables_point *built = mem_new(input->n + 1, sizeof(*built));
    enum dead_tunables_verdict *dead =
        mem_new(input->n_axes + 1, sizeof(*dead));
    size_t n = 0;

    for (size_t a = 0; a < input->n_axes; a++)
        sizes[a] = input->axes[a].n_space;
    for (size_t i = 0; i < input->n; i++)
        if (input->points[i].artifact && input->points[i].number >= 0)
            built[n++] =
                (struct dead_tunables_point){ input->points[i].number,
                                              input->points[i].artifact };
    dead_tunables_axes(sizes, input->n_axes, built, n, dead);
    for (size_t a = 0; a < input->n_axes; a++)
        out->tunables[a].dead = dead[a];
    out->built = n;
    out->codes = count_codes(built, n);
    free(built);
    free(dead);
    free(sizes);
}

/* ---- failures */

int lessons_reason_order(const char *a, const char *b)
{
    while (*a && *b) {
        bool digits = isdigit((unsigned char)*a) != 0;

        if (digits && isdigit((unsigned char)*b)) {
            a += strspn(a, "0123456789abcdefx.+-");
            b += strspn(b, "0123456789abcdefx.+-");
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static bool same_kind(const struct lessons_reason *a,
                      const struct lessons_reason *b)
{
    return strcmp(a->outcome, b->outcome) == 0 &&
           lessons_reason_order(a->reason, b->reason) == 0;
}

/* Kinds of failure: an example of each, its count, and the kind of each
 * point. */
struct kinds {
    const struct lessons_reason *first[LESSONS_FAILURES_MAX];
    size_t counts[LESSONS_FAILURES_MAX];
    size_t n, others;
    unsigned char *of; /* [n points] */
};

static void find_kinds(const struct lessons_input *input, struct kinds *kinds)
{
    *kinds = (struct kinds){ .of = mem_new(input->n + 1, 1) };
    for (size_t i = 0; i < input->n; i++) {
        const struct lessons_point *point = &input->points[i];
        const struct lessons_reason *why;
        size_t k = 0;

        if (point->fate != LESSONS_FAILED)
            continue;
        why = &input->failures[point->failure];
        while (k < kinds->n && !same_kind(kinds->first[k], why))
            k++;
        kinds->of[i] = (unsigned char)k;
        if (k == LESSONS_FAILURES_MAX) {
            kinds->others++;
            continue;
        }
        if (k == kinds->n)
            kinds->first[kinds->n++] = why;
        kinds->counts[k]++;
    }
}

static void learn_failure(const struct lessons_input *input,
                          const struct kinds *kinds, size_t kind,
                          struct failure_pattern_points *points,
                          unsigned char *sides, struct lessons_failure *out)
{
    for (size_t i = 0; i < input->n; i++) {
        const struct lessons_point *point = &input->points[i];

        sides[i] = point->fate == LESSONS_TIMED ? FAILURE_PATTERN_RIGHT
                   : point->fate == LESSONS_FAILED && kinds->of[i] == kind
                       ? FAILURE_PATTERN_FAILURE
                       : FAILURE_PATTERN_OTHER;
    }
    out->outcome = mem_strdup(kinds->first[kind]->outcome);
    out->reason = mem_strdup(kinds->first[kind]->reason);
    failure_pattern_of(points, &out->common);
}

static int most_first(const void *a, const void *b)
{
    const struct lessons_failure *x = a, *y = b;

    if (x->common.failures != y->common.failures)
        return x->common.failures > y->common.failures ? -1 : 1;
    return strcmp(x->reason, y->reason);
}

static void learn_failures(const struct lessons_input *input,
                           const size_t *sizes, struct lessons *out)
{
    unsigned char *sides = mem_new(input->n + 1, 1);
    struct failure_pattern_points points = { input->n_axes, sizes, input->n,
                                             input->levels, sides };
    struct kinds kinds;

    find_kinds(input, &kinds);
    out->n_failures = kinds.n;
    out->other_failures = kinds.others;
    out->failures = mem_new(kinds.n + 1, sizeof(*out->failures));
    for (size_t k = 0; k < kinds.n; k++)
        learn_failure(input, &kinds, k, &points, sides, &out->failures[k]);
    if (kinds.n)
        qsort(out->failures, kinds.n, sizeof(*out->failures), most_first);
    free(kinds.of);
    free(sides);
}

/* ---- warn gates */

static size_t rank_of(const struct lessons_input *input, double seconds)
{
    size_t rank = 1;

    for (size_t i = 0; i < input->n; i++)
        rank += input->points[i].fate == LESSONS_TIMED &&
                input->points[i].seconds < seconds;
    return rank;
}

static void learn_gate(const struct lessons_input *input, size_t gate,
                       double *warned, double *others, struct lessons_gate *out)
{
    struct mann_whitney test;
    double best = INFINITY;

    *out = (struct lessons_gate){ .name = mem_strdup(input->gates[gate]),
                                  .slower = NAN,
                                  .p = NAN };
    for (size_t i = 0; i < input->n; i++) {
        const struct lessons_point *point = &input->points[i];
        bool mine = input->warned[point->warned] >> gate & 1;

        out->warned += mine;
        if (point->fate == LESSONS_FAILED)
            (*(mine ? &out->failed : &out->others_failed))++;
        if (point->fate != LESSONS_TIMED)
            continue;
        if (mine)
            warned[out->timed++] = point->seconds;
        else
            others[out->others_timed++] = point->seconds;
        if (mine)
            best = fmin(best, point->seconds);
    }
    out->median_s = median_of(warned, out->timed);
    out->others_median_s = median_of(others, out->others_timed);
    if (out->timed)
        out->best_rank = rank_of(input, best);
    if (out->timed && out->others_timed) {
        mann_whitney(warned, out->timed, others, out->others_timed, &test);
        out->slower = (test.delta + 1) / 2;
        out->p = test.p;
        if (test.p < CERTAIN)
            out->truth = test.delta > 0 ? LESSONS_TRUE : LESSONS_FALSE;
    }
}

static void learn_gates(const struct lessons_input *input, struct lessons *out)
{
    double *warned = mem_new(input->n + 1, sizeof(*warned));
    double *others = mem_new(input->n + 1, sizeof(*others));

    out->n_gates = input->n_gates;
    out->gates = mem_new(input->n_gates + 1, sizeof(*out->gates));
    for (size_t g = 0; g < input->n_gates; g++)
        learn_gate(input, g, warned, others, &out->gates[g]);
    free(warned);
    free(others);
}

/* ---- the whole */

void lessons_of(const struct lessons_input *input, struct lessons *out)
{
    size_t *sizes = sizes_of(input);

    *out = (struct lessons){ .timed = 0 };
    for (size_t i = 0; i < input->n; i++) {
        out->timed += input->points[i].fate == LESSONS_TIMED;
        out->failed += input->points[i].fate == LESSONS_FAILED;
        out->pending += input->points[i].fate == LESSONS_PENDING;
    }
    learn_values(input, out);
    learn_importance(input, sizes, out);
    learn_dead(input, out);
    learn_failures(input, sizes, out);
    learn_gates(input, out);
    free(sizes);
}

void lessons_fini(struct lessons *lessons)
{
    for (size_t a = 0; a < lessons->n_tunables; a++) {
        for (size_t v = 0; v < lessons->tunables[a].n; v++)
            free(lessons->tunables[a].values[v].text);
        free(lessons->tunables[a].values);
        free(lessons->tunables[a].name);
    }
    for (size_t i = 0; i < lessons->n_failures; i++) {
        free(lessons->failures[i].outcome);
        free(lessons->failures[i].reason);
        failure_pattern_fini(&lessons->failures[i].common);
    }
    for (size_t g = 0; g < lessons->n_gates; g++)
        free(lessons->gates[g].name);
    importance_fini(&lessons->importance);
    free(lessons->tunables);
    free(lessons->failures);
    free(lessons->gates);
    *lessons = (struct lessons){ .timed = 0 };
}
