#include "coordinator/points/point_walker.h"

#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"

#define WORD 64

/* A rule, at the depth of its last axis. */
struct test {
    const uint64_t *hits;
    uint64_t warning;                       /* its bit; 0: it rejects */
    int64_t strides[POINT_WALKER_AXES_MAX]; /* in the table, of each depth */
    int64_t at; /* index in the table of level 0 here, under the levels above */
};

/* An axis of more than one level. */
struct depth {
    int64_t size, stride; /* 'stride': of a level in the point's number */
    size_t tests, tests_end;

    int64_t number;  /* number of the levels above */
    uint64_t warned; /* warnings of the levels above */
    int64_t first;   /* the level of bit 0 of 'left' */
    uint64_t left;   /* levels that remain */
    int64_t level;
};

struct point_walker {
    struct depth depths[POINT_WALKER_AXES_MAX];
    size_t n;
    struct test tests[POINT_WALKER_RULES_MAX + 1]; /* one more, for trials */
    size_t n_tests;
    uint64_t warned; /* warnings that hold for all points */
    bool is_empty;
    bool is_walking;
    size_t at; /* current depth */
    uint64_t steps;
};

size_t point_walker_words(int64_t combinations)
{
    return (size_t)((combinations + WORD - 1) / WORD) + 1;
}

/* 64 bits from bit 'at' on. */
static uint64_t bits_at(const uint64_t *words, int64_t at)
{
    uint64_t low = words[at / WORD] >> at % WORD;

    return at % WORD ? low | words[at / WORD + 1] << (WORD - at % WORD) : low;
}

/* ---- making one */

static void set_depths(struct point_walker *walker, const size_t *sizes,
                       size_t n_axes, size_t *depth_of)
{
    int64_t stride = 1;
    size_t n = 0;

    for (size_t a = 0; a < n_axes; a++) {
        depth_of[a] = n;
        n += sizes[a] > 1;
    }
    for (size_t a = n_axes; a-- > 0;) {
        if (sizes[a] > 1)
            walker->depths[depth_of[a]] =
                (struct depth){ .size = (int64_t)sizes[a], .stride = stride };
        stride *= (int64_t)sizes[a];
    }
    if (n == 0) /* no axis: there is one point */
        walker->depths[n++] = (struct depth){ .size = 1, .stride = 1 };
    walker->n = n;
}

/* A rule over axes of one level each has the same result everywhere. */
static void set_everywhere(struct point_walker *walker, bool hits,
                           uint64_t warning)
{
    if (hits && warning)
        walker->warned |= warning;
    else if (hits)
        walker->is_empty = true;
}

/* The rules whose last axis is at 'depth'. */
static void add_tests(struct point_walker *walker, size_t depth,
                      const struct point_walker_rule *rules, uint64_t rejecting,
                      uint64_t warning, const size_t *sizes, size_t n_axes,
                      const size_t *depth_of)
{
    walker->depths[depth].tests = walker->n_tests;
    for (size_t r = 0; r < POINT_WALKER_RULES_MAX; r++) {
        struct test *test = &walker->tests[walker->n_tests];
        int64_t stride = 1;
        size_t last = walker->n;

        if (!((rejecting | warning) >> r & 1))
            continue;
        *test = (struct test){ .hits = rules[r].hits,
                               .warning = warning & UINT64_C(1) << r };
        for (size_t a = n_axes; a-- > 0;) {
            if (!(rules[r].axes >> a & 1) || sizes[a] == 1)
                continue;
            if (last == walker->n)
                last = depth_of[a];
            test->strides[depth_of[a]] = stride;
            stride *= (int64_t)sizes[a];
        }
        if (last == depth)
            walker->n_tests++;
        else if (last == walker->n && depth == 0)
            set_everywhere(walker, rules[r].hits[0] & 1, test->warning);
    }
    walker->depths[depth].tests_end = walker->n_tests;
}

struct point_walker *point_walker_new(const size_t *sizes, size_t n_axes,
                                      const struct point_walker_rule *rules,
                                      uint64_t rejecting, uint64_t warning)
{
    struct point_walker *walker = mem_new(1, sizeof(*walker));
    size_t depth_of[POINT_WALKER_AXES_MAX] = { 0 };

    assert(n_axes <= POINT_WALKER_AXES_MAX && !(rejecting & warning));
    set_depths(walker, sizes, n_axes, depth_of);
    for (size_t depth = 0; depth < walker->n; depth++)
        add_tests(walker, depth, rules, rejecting, warning, sizes, n_axes,
                  depth_of);
    return walker;
}

void point_walker_free(struct point_walker *walker)
{
    free(walker);
}

/* ---- walking */

/* Start this depth: all its levels remain, under the levels above. */
static void enter(struct point_walker *walker, size_t depth)
{
    struct depth *here = &walker->depths[depth];

    here->first = -WORD;
    here->left = 0;
    for (size_t t = here->tests; t < here->tests_end; t++) {
        struct test *test = &walker->tests[t];

        test->at = 0;
        for (size_t d = 0; d < depth; d++)
            test->at += walker->depths[d].level * test->strides[d];
    }
}

/* Find levels that no rule rejects; false if there are no more. */
static bool refill(const struct point_walker *walker, struct depth *here)
{
    while (here->left == 0) {
        int64_t n;

        here->first += WORD;
        n = here->size - here->first;
        if (n <= 0)
            return false;
        here->left = n < WORD ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
        for (size_t t = here->tests; t < here->tests_end; t++) {
            const struct test *test = &walker->tests[t];

            if (!test->warning)
                here->left &= ~bits_at(test->hits, test->at + here->first);
        }
    }
    return true;
}

static void take_level(struct depth *here)
{
    here->level = here->first + __builtin_ctzll(here->left);
    here->left &= here->left - 1;
}

static uint64_t warned_at(const struct point_walker *walker,
                          const struct depth *here)
{
    uint64_t warned = here->warned;

    for (size_t t = here->tests; t < here->tests_end; t++) {
        const struct test *test = &walker->tests[t];
        int64_t at = test->at + here->level;

        if (test->warning && test->hits[at / WORD] >> at % WORD & 1)
            warned |= test->warning;
    }
    return warned;
}

static void begin(struct point_walker *walker)
{
    walker->is_walking = true;
    walker->at = 0;
    walker->depths[0].number = 0;
    walker->depths[0].warned = walker->warned;
    enter(walker, 0);
}

static void descend(struct point_walker *walker, int64_t number,
                    uint64_t warned)
{
    struct depth *below = &walker->depths[++walker->at];

    below->number = number;
    below->warned = warned;
    enter(walker, walker->at);
}

/* Go back to a depth that has levels left. */
static enum point_walker_step advance(struct point_walker *walker)
{
    if (!walker->is_walking)
        begin(walker);
    while (!walker->is_empty) {
        struct depth *here = &walker->depths[walker->at];

        if (++walker->steps % POINT_WALKER_STEPS == 0)
            return POINT_WALKER_LATER;
        if (refill(walker, here)) {
            if (walker->at == walker->n - 1)
                return POINT_WALKER_POINT;
            take_level(here);
            descend(walker, here->number + here->level * here->stride,
                    warned_at(walker, here));
        } else if (walker->at > 0) {
            walker->at--;
        } else {
            break;
        }
    }
    walker->is_walking = false;
    return POINT_WALKER_END;
}

enum point_walker_step point_walker_next(struct point_walker *walker,
                                         int64_t *number, uint64_t *warned)
{
    struct depth *last = &walker->depths[walker->n - 1];
    enum point_walker_step step = advance(walker);

    if (step != POINT_WALKER_POINT)
        return step;
    take_level(last);
    *number = last->number + last->level * last->stride;
    *warned = warned_at(walker, last);
    return POINT_WALKER_POINT;
}

enum point_walker_step point_walker_count(struct point_walker *walker,
                                          int64_t *n)
{
    struct depth *last = &walker->depths[walker->n - 1];
    enum point_walker_step step;

    while ((step = advance(walker)) == POINT_WALKER_POINT) {
        *n += __builtin_popcountll(last->left);
        last->left = 0;
    }
    return step;
}
