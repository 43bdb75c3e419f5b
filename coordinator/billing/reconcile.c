#include "coordinator/billing/reconcile.h"

#include <stdlib.h>

#include "common/int64.h"
#include "common/mem.h"

#define NONE SIZE_MAX

struct work {
    const struct reconcile_held *held;
    size_t n;
    struct reconcile_allocation *allocations;
    size_t n_allocations;
    struct reconcile_edit *edits;
    size_t n_edits;
    const double *rate_usd_per_h; /* of the allocation that is covered */
};

static int64_t end_utc(const struct reconcile_held *held)
{
    return held->start_utc + held->end_ns - held->start_ns;
}

static int by_start(const void *a, const void *b)
{
    const struct reconcile_allocation *x = a, *y = b;

    return (x->start_utc > y->start_utc) - (x->start_utc < y->start_utc);
}

/* Sorted, and those that touch are one.  If each has a price, time that is in
 * both is in the first: a machine that could not be stopped runs on beside the
 * next one of its host, which is held once. */
static size_t merge(struct reconcile_allocation *list, size_t n)
{
    size_t kept = 0;

    qsort(list, n, sizeof(*list), by_start);
    for (size_t i = 0; i < n; i++) {
        struct reconcile_allocation one = list[i];
        int64_t *end_utc = kept > 0 ? &list[kept - 1].end_utc : NULL;

        if (!end_utc || one.start_utc > *end_utc) {
            list[kept++] = one;
        } else if (!one.rate_usd_per_h) {
            *end_utc = int64_max(*end_utc, one.end_utc);
        } else if (one.end_utc > *end_utc) {
            one.start_utc = *end_utc;
            list[kept++] = one;
        }
    }
    return kept;
}

static void add(struct work *work, enum reconcile_what what, size_t held,
                int64_t from_ns, int64_t to_ns)
{
    if (to_ns <= from_ns)
        return;
    work->edits =
        mem_grow(work->edits, work->n_edits + 1, sizeof(*work->edits));
    work->edits[work->n_edits++] =
        (struct reconcile_edit){ what, held, from_ns, to_ns,
                                 work->rate_usd_per_h };
}

static bool overlaps(const struct reconcile_held *held,
                     const struct reconcile_allocation *one)
{
    return held->start_utc < one->end_utc && end_utc(held) > one->start_utc;
}

/* What of it lies in no allocation, if part of it lies in one. */
static void cut(struct work *work, size_t i)
{
    const struct reconcile_held *held = &work->held[i];
    int64_t at = held->start_utc;
    bool is_known = false;

    for (size_t k = 0; k < work->n_allocations; k++)
        is_known = is_known || overlaps(held, &work->allocations[k]);
    if (held->is_fixed || !is_known)
        return;
    for (size_t k = 0; k < work->n_allocations; k++) {
        const struct reconcile_allocation *one = &work->allocations[k];

        if (!overlaps(held, one))
            continue;
        add(work, RECONCILE_CUT, i, held->start_ns + at - held->start_utc,
            held->start_ns + one->start_utc - held->start_utc);
        at = one->end_utc;
    }
    add(work, RECONCILE_CUT, i, held->start_ns + at - held->start_utc,
        held->end_ns);
}

/* One that is not fixed: the last that begins before, or the first after. */
static size_t neighbour(const struct work *work, int64_t utc, bool before)
{
    size_t found = NONE;

    for (size_t i = 0; i < work->n; i++) {
        if (work->held[i].is_fixed || (work->held[i].start_utc < utc) != before)
            continue;
        if (!before)
            return i;
        found = i;
    }
    return found;
}

/* Extend 'last', or else 'next', or else what is near; each may be NONE. */
static void fill(struct work *work, size_t last, size_t next, int64_t from_utc,
                 int64_t to_utc)
{
    const struct reconcile_held *held = work->held;

    if (last == NONE && next == NONE)
        last = neighbour(work, from_utc, true);
    if (last == NONE && next == NONE)
        next = neighbour(work, from_utc, false);
    if (last != NONE) {
        bool same = next != NONE && held[next].epoch == held[last].epoch;
        int64_t base = held[last].end_ns - end_utc(&held[last]);

        add(work, RECONCILE_AFTER, last, base + from_utc,
            same ? int64_min(base + to_utc, held[next].start_ns)
                 : base + to_utc);
    } else if (next != NONE) {
        int64_t base = held[next].start_ns - held[next].start_utc;

        add(work, RECONCILE_BEFORE, next, base + from_utc, base + to_utc);
    }
}

static void cover(struct work *work, const struct reconcile_allocation *one)
{
    int64_t at = one->start_utc;
    size_t last = NONE; /* in this allocation */

    work->rate_usd_per_h = one->rate_usd_per_h;
    for (size_t i = 0; i < work->n; i++) {
        const struct reconcile_held *held = &work->held[i];

        if (!overlaps(held, one))
            continue;
        if (held->start_utc > at)
            fill(work, last, held->is_fixed ? NONE : i, at, held->start_utc);
        at = int64_max(at, end_utc(held));
        last = held->is_fixed ? last : i;
    }
    if (at < one->end_utc)
        fill(work, last, NONE, at, one->end_utc);
}

size_t reconcile(const struct reconcile_held *held, size_t n,
                 struct reconcile_allocation *allocations, size_t n_allocations,
                 struct reconcile_edit **out)
{
    struct work work = { .held = held,
                         .n = n,
                         .allocations = allocations,
                         .n_allocations = merge(allocations, n_allocations) };

    for (size_t i = 0; i < n; i++)
        cut(&work, i);
    for (size_t k = 0; k < work.n_allocations; k++)
        cover(&work, &allocations[k]);
    *out = work.edits;
    return work.n_edits;
}
