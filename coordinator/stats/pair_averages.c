#include "coordinator/stats/pair_averages.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/stats/prng.h"

/* Fewer averages than this are sorted. */
#define FEW 64

/* The averages of one value with those from it on, in its stratum. */
struct row {
    const double *values;
    size_t i, n; /* its place, and the end of the stratum */
    uint64_t weight;
    size_t from, to;    /* of the partners that are still candidates */
    size_t below, upto; /* partners below the pivot, and up to it, end there */
};

/* An average and its weight. */
struct average {
    double value;
    uint64_t weight;
};

struct pair_averages {
    struct row *rows;
    size_t n;
    uint64_t total, steps;
    struct prng prng; /* any pivot will do; its seed is fixed */
};

struct pair_averages *
pair_averages_new(const struct pair_averages_stratum *strata, size_t n)
{
    struct pair_averages *a = mem_new(1, sizeof(*a));

    for (size_t s = 0; s < n; s++)
        a->n += strata[s].n;
    a->rows = mem_new(a->n, sizeof(*a->rows));
    a->n = 0;
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < strata[s].n; i++) {
            a->rows[a->n++] = (struct row){ .values = strata[s].values,
                                            .i = i,
                                            .n = strata[s].n,
                                            .weight = strata[s].weight };
            a->total += strata[s].weight * (strata[s].n - i);
        }
    prng_init(&a->prng, 1);
    return a;
}

void pair_averages_free(struct pair_averages *averages)
{
    free(averages->rows);
    free(averages);
}

static double average(const struct row *row, size_t partner)
{
    return (row->values[row->i] + row->values[partner]) / 2;
}

/* Where each row crosses the value.  From row to row of a stratum, averages
 * with the same partner only grow, so that the place only moves down. */
static struct pair_averages_weight cross(struct pair_averages *a, double value)
{
    struct pair_averages_weight sum = { 0, 0 };
    size_t below = 0, upto = 0;

    for (size_t r = 0; r < a->n; r++) {
        struct row *row = &a->rows[r];

        if (row->i == 0)
            below = upto = row->n;
        while (upto > row->i && average(row, upto - 1) > value) {
            upto--;
            a->steps++;
        }
        below = below < upto ? below : upto;
        while (below > row->i && average(row, below - 1) >= value) {
            below--;
            a->steps++;
        }
        a->steps += 2;
        row->below = below > row->i ? below : row->i;
        row->upto = upto > row->i ? upto : row->i;
        sum.below += row->weight * (row->below - row->i);
        sum.upto += row->weight * (row->upto - row->i);
    }
    return sum;
}

struct pair_averages_weight pair_averages_weigh(struct pair_averages *averages,
                                                double value)
{
    return cross(averages, value);
}

/* ---- quickselect ---- */

/* What is left to choose from: the averages between two values.  'below' weighs
 * those that were left out below, and 'upto' all but those above. */
struct bracket {
    double lo, hi;
    uint64_t below, upto;
    size_t left;
};

static struct bracket all_of(struct pair_averages *a)
{
    struct bracket all = { INFINITY, -INFINITY, 0, a->total, 0 };

    for (size_t r = 0; r < a->n; r++) {
        struct row *row = &a->rows[r];

        row->from = row->i;
        row->to = row->n;
        all.left += row->n - row->i;
        all.lo = fmin(all.lo, row->values[0]);
        all.hi = fmax(all.hi, row->values[row->n - 1]);
    }
    return all;
}

/* One of those that are left, each as likely as another. */
static double draw(struct pair_averages *a, const struct bracket *in)
{
    size_t at = (size_t)prng_below(&a->prng, in->left), r = 0;

    while (at >= a->rows[r].to - a->rows[r].from) {
        at -= a->rows[r].to - a->rows[r].from;
        r++;
    }
    return average(&a->rows[r], a->rows[r].from + at);
}

/* Where the position would be if weight were spread evenly. */
static double interpolate(const struct bracket *in, uint64_t position)
{
    double share =
        (double)(position - in->below) / (double)(in->upto - in->below);

    return in->lo + share * (in->hi - in->lo);
}

/* Keep what is on the side of the pivot where the position is. */
static void narrow(struct pair_averages *a, double pivot,
                   struct pair_averages_weight weight, bool lower,
                   struct bracket *in)
{
    in->left = 0;
    for (size_t r = 0; r < a->n; r++) {
        struct row *row = &a->rows[r];

        *(lower ? &row->to : &row->from) = lower ? row->below : row->upto;
        in->left += row->to - row->from;
    }
    *(lower ? &in->hi : &in->lo) = pivot;
    *(lower ? &in->upto : &in->below) = lower ? weight.below : weight.upto;
}

static int by_value(const void *a, const void *b)
{
    double x = ((const struct average *)a)->value;
    double y = ((const struct average *)b)->value;

    return (x > y) - (x < y);
}

/* Sort those that are left, and find where the weight reaches 'position'. */
static double sort_rest(struct pair_averages *a, const struct bracket *in,
                        uint64_t position)
{
    struct average *rest = mem_new(in->left, sizeof(*rest));
    uint64_t reached = in->below;
    size_t n = 0, at = 0;
    double value;

    for (size_t r = 0; r < a->n; r++)
        for (size_t k = a->rows[r].from; k < a->rows[r].to; k++)
            rest[n++] =
                (struct average){ average(&a->rows[r], k), a->rows[r].weight };
    qsort(rest, n, sizeof(*rest), by_value);
    a->steps += n;
    while (at + 1 < n && (reached += rest[at].weight) < position)
        at++;
    value = rest[at].value;
    free(rest);
    return value;
}

/* Every other pivot is drawn at random, which bounds the time for values of any
 * kind; those between are interpolated, which is faster for most. */
static double find(struct pair_averages *a, uint64_t position)
{
    struct bracket in = all_of(a);

    for (int round = 0; in.left > FEW; round++) {
        double pivot = round % 2 ? draw(a, &in) : interpolate(&in, position);
        struct pair_averages_weight weight = cross(a, pivot);

        if (position > weight.below && position <= weight.upto)
            return pivot;
        narrow(a, pivot, weight, position <= weight.below, &in);
    }
    return sort_rest(a, &in, position);
}

void pair_averages_at(struct pair_averages *averages, int64_t position,
                      double out[2])
{
    struct pair_averages *a = averages;
    uint64_t at = position < 1 ? 1 : (uint64_t)position;

    at = at < a->total ? at : a->total;
    out[0] = find(a, at);
    out[1] = out[0];
    if (position < 1 || at == a->total || cross(a, out[0]).upto > at)
        return;
    out[1] = INFINITY;
    for (size_t r = 0; r < a->n; r++)
        if (a->rows[r].upto < a->rows[r].n)
            out[1] = fmin(out[1], average(&a->rows[r], a->rows[r].upto));
}

uint64_t pair_averages_steps(const struct pair_averages *averages)
{
    return averages->steps;
}
