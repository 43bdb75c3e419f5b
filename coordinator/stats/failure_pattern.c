#include "coordinator/stats/failure_pattern.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

#define EXACT_TERMS 3 /* up to here by trying all; more greedily */

/* The values of the failures on each axis. */
struct common {
    const struct failure_pattern_points *points;
    uint64_t sets[FAILURE_PATTERN_AXES_MAX];  /* levels; 0 on an axis of many */
    uint16_t first[FAILURE_PATTERN_AXES_MAX]; /* level of the first failure */
    bool one[FAILURE_PATTERN_AXES_MAX];       /* all failures have that level */
};

/* A correct configuration, as the set of axes on which it differs from all
 * failures: these axes exclude it. */
struct misses {
    uint64_t *items;
    size_t n;           /* distinct ones */
    size_t right, kept; /* correct ones; those not excluded */
};

static const uint16_t *point(const struct failure_pattern_points *points,
                             size_t i)
{
    return points->levels + i * points->axes;
}

static void find_common(const struct failure_pattern_points *points,
                        struct common *common, size_t *failures)
{
    *common = (struct common){ .points = points };
    *failures = 0;
    for (size_t i = 0; i < points->n; i++) {
        const uint16_t *levels = point(points, i);

        if (points->sides[i] != FAILURE_PATTERN_FAILURE)
            continue;
        for (size_t a = 0; a < points->axes; a++) {
            if (*failures == 0) {
                common->first[a] = levels[a];
                common->one[a] = true;
            }
            common->one[a] = common->one[a] && levels[a] == common->first[a];
            if (points->sizes[a] <= FAILURE_PATTERN_LEVELS_MAX)
                common->sets[a] |= UINT64_C(1) << levels[a];
        }
        (*failures)++;
    }
}

static bool is_outside(const struct common *common, size_t axis, uint16_t level,
                       bool sets)
{
    if (common->one[axis])
        return level != common->first[axis];
    return sets && common->sets[axis] != 0 &&
           !(common->sets[axis] >> level & 1);
}

static int by_mask(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void find_misses(const struct common *common, bool sets,
                        struct misses *out)
{
    const struct failure_pattern_points *points = common->points;
    size_t n = 0;

    *out = (struct misses){ mem_new(points->n + 1, sizeof(uint64_t)), 0, 0, 0 };
    for (size_t i = 0; i < points->n; i++) {
        uint64_t mask = 0;

        if (points->sides[i] != FAILURE_PATTERN_RIGHT)
            continue;
        out->right++;
        for (size_t a = 0; a < points->axes; a++)
            if (is_outside(common, a, point(points, i)[a], sets))
                mask |= UINT64_C(1) << a;
        if (mask)
            out->items[n++] = mask;
        else
            out->kept++;
    }
    if (n)
        qsort(out->items, n, sizeof(*out->items), by_mask);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || out->items[i] != out->items[i - 1])
            out->items[out->n++] = out->items[i];
}

/* ---- the fewest axes that exclude everything that can be excluded */

static bool leaves_out_all(const struct misses *misses, uint64_t chosen)
{
    for (size_t i = 0; i < misses->n; i++)
        if (!(misses->items[i] & chosen))
            return false;
    return true;
}

static uint64_t all_of(const struct misses *misses)
{
    uint64_t all = 0;

    for (size_t i = 0; i < misses->n; i++)
        all |= misses->items[i];
    return all;
}

/* Add 'more' axes, from 'from' on, to 'chosen', to exclude all; 0 if that is
 * impossible. */
static uint64_t try_all(const struct misses *misses, uint64_t among,
                        uint64_t chosen, size_t from, int more)
{
    if (more == 0)
        return leaves_out_all(misses, chosen) ? chosen : 0;
    for (size_t a = from; a < FAILURE_PATTERN_AXES_MAX; a++) {
        uint64_t found;

        if (!(among >> a & 1))
            continue;
        found =
            try_all(misses, among, chosen | UINT64_C(1) << a, a + 1, more - 1);
        if (found)
            return found;
    }
    return 0;
}

static uint64_t try_greedily(const struct misses *misses, uint64_t among)
{
    uint64_t chosen = 0;

    while (!leaves_out_all(misses, chosen)) {
        size_t best = 0, most = 0;

        for (size_t a = 0; a < FAILURE_PATTERN_AXES_MAX; a++) {
            size_t n = 0;

            for (size_t i = 0; (among >> a & 1) && i < misses->n; i++)
                n += !(misses->items[i] & chosen) && misses->items[i] >> a & 1;
            if (n > most) {
                most = n;
                best = a;
            }
        }
        chosen |= UINT64_C(1) << best;
    }
    for (size_t a = 0; a < FAILURE_PATTERN_AXES_MAX; a++) /* no longer needed */
        if (leaves_out_all(misses, chosen & ~(UINT64_C(1) << a)))
            chosen &= ~(UINT64_C(1) << a);
    return chosen;
}

static uint64_t fewest(const struct misses *misses)
{
    uint64_t among = all_of(misses);

    for (int n = 1; misses->n && n <= EXACT_TERMS; n++) {
        uint64_t chosen = try_all(misses, among, 0, 0, n);

        if (chosen)
            return chosen;
    }
    return try_greedily(misses, among);
}

/* ---- part of the failures: one or two values with which no configuration is
 * correct */

struct part {
    size_t axes[2]; /* equal: one value */
    uint16_t levels[2];
    size_t failures;
};

/* Visit the cells of two axes, or the values of one. */
static void look_at(const struct failure_pattern_points *points, size_t a,
                    size_t b, size_t *cells, struct part *best)
{
    size_t width = points->sizes[b], n = points->sizes[a] * width;

    memset(cells, 0, 2 * n * sizeof(*cells));
    for (size_t i = 0; i < points->n; i++) {
        size_t cell = point(points, i)[a] * width + point(points, i)[b];

        cells[2 * cell] += points->sides[i] == FAILURE_PATTERN_FAILURE;
        cells[2 * cell + 1] += points->sides[i] == FAILURE_PATTERN_RIGHT;
    }
    for (size_t c = 0; c < n; c++)
        if (cells[2 * c + 1] == 0 && cells[2 * c] > best->failures)
            *best =
                (struct part){ { a, b },
                               { (uint16_t)(c / width), (uint16_t)(c % width) },
                               cells[2 * c] };
}

static void add_value(size_t axis, uint16_t level, struct failure_pattern *out)
{
    struct failure_pattern_term *term;

    out->part = mem_grow(out->part, out->n_part + 1, sizeof(*out->part));
    term = &out->part[out->n_part++];
    *term =
        (struct failure_pattern_term){ axis, mem_new(1, sizeof(uint16_t)), 1 };
    term->levels[0] = level;
}

/* Single values first: a pair must explain more failures. */
static void find_part(const struct failure_pattern_points *points,
                      struct failure_pattern *out)
{
    size_t *cells =
        mem_new(2 * FAILURE_PATTERN_LEVELS_MAX * FAILURE_PATTERN_LEVELS_MAX,
                sizeof(*cells));
    struct part best = { .failures = FAILURE_PATTERN_PART_LEAST - 1 };
    size_t least = best.failures;

    for (int two = 0; two <= 1; two++)
        for (size_t a = 0; a < points->axes; a++)
            for (size_t b = two ? a + 1 : a; b < (two ? points->axes : a + 1);
                 b++)
                if (points->sizes[a] <= FAILURE_PATTERN_LEVELS_MAX &&
                    points->sizes[b] <= FAILURE_PATTERN_LEVELS_MAX)
                    look_at(points, a, b, cells, &best);
    free(cells);
    if (best.failures == least)
        return;
    out->part_failures = best.failures;
    add_value(best.axes[0], best.levels[0], out);
    if (best.axes[1] != best.axes[0])
        add_value(best.axes[1], best.levels[1], out);
}

/* ---- the result */

static void add_term(const struct common *common, size_t axis,
                     struct failure_pattern_term **terms, size_t *n)
{
    struct failure_pattern_term term = { .axis = axis };

    if (common->one[axis]) {
        term.levels = mem_new(1, sizeof(*term.levels));
        term.levels[term.n++] = common->first[axis];
    } else {
        term.levels = mem_new(FAILURE_PATTERN_LEVELS_MAX, sizeof(*term.levels));
        for (uint16_t v = 0; v < FAILURE_PATTERN_LEVELS_MAX; v++)
            if (common->sets[axis] >> v & 1)
                term.levels[term.n++] = v;
    }
    *terms = mem_grow(*terms, *n + 1, sizeof(**terms));
    (*terms)[(*n)++] = term;
}

/* Prefer single values.  Use sets only if they let at most half as many correct
 * configurations pass: a set of many values may fit by chance. */
static void choose_misses(const struct common *common, struct misses *out)
{
    struct misses sets;

    find_misses(common, false, out);
    find_misses(common, true, &sets);
    if (2 * sets.kept <= out->kept && out->kept > 0) {
        free(out->items);
        *out = sets;
    } else {
        free(sets.items);
    }
}

void failure_pattern_of(const struct failure_pattern_points *points,
                        struct failure_pattern *out)
{
    struct common common;
    struct misses misses;
    uint64_t chosen, telling;

    assert(points->axes <= FAILURE_PATTERN_AXES_MAX);
    *out = (struct failure_pattern){ .failures = 0 };
    find_common(points, &common, &out->failures);
    if (out->failures == 0)
        return;
    choose_misses(&common, &misses);
    out->right = misses.right;
    out->right_sharing = misses.kept;
    telling = all_of(&misses);
    chosen = fewest(&misses);
    for (size_t a = 0; a < points->axes; a++)
        if (chosen >> a & 1)
            add_term(&common, a, &out->terms, &out->n_terms);
        else if (common.one[a] && points->sizes[a] > 1 && !(telling >> a & 1))
            add_term(&common, a, &out->unvaried, &out->n_unvaried);
    free(misses.items);
    if (out->n_terms == 0 && out->right > 0)
        find_part(points, out);
}

static void free_terms(struct failure_pattern_term *terms, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(terms[i].levels);
    free(terms);
}

void failure_pattern_fini(struct failure_pattern *conjunction)
{
    free_terms(conjunction->terms, conjunction->n_terms);
    free_terms(conjunction->unvaried, conjunction->n_unvaried);
    free_terms(conjunction->part, conjunction->n_part);
    *conjunction = (struct failure_pattern){ .failures = 0 };
}
