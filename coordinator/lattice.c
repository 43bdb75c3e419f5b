#include "coordinator/lattice.h"

#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"

#define WORD 64

/* A rule at the depth of its last axis. */
struct test {
    const uint64_t *hits;
    uint64_t warning;                  /* its bit; 0: it rejects */
    int64_t strides[LATTICE_AXES_MAX]; /* in the table, of each depth */
    int64_t at; /* in the table, of level 0 here under the levels above */
};

/* An axis of more than one level. */
struct depth {
    int64_t size, stride; /* of a level in the point's number */
    size_t tests, tests_end;

    int64_t number;  /* of the levels above */
    uint64_t warned; /* for them */
    int64_t first;   /* the level that is bit 0 of 'left' */
    uint64_t left;   /* levels to come */
    int64_t level;
};

struct lattice {
    struct depth depths[LATTICE_AXES_MAX];
    size_t n;
    struct test tests[LATTICE_RULES_MAX + 1]; /* the last to try on */
    size_t n_tests;
    uint64_t warned; /* everywhere */
    bool is_empty;
    bool is_walking;
    size_t at; /* depth */
    uint64_t steps;
};

size_t lattice_words(int64_t combinations)
{
    return (size_t)((combinations + WORD - 1) / WORD) + 1;
}

/* 64 bits from 'at' on. */
static uint64_t bits_at(const uint64_t *words, int64_t at)
{
    uint64_t low = words[at / WORD] >> at % WORD;

    return at % WORD ? low | words[at / WORD + 1] << (WORD - at % WORD) : low;
}

/* ---- making one */

static void set_depths(struct lattice *lattice, const size_t *sizes,
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
            lattice->depths[depth_of[a]] =
                (struct depth){ .size = (int64_t)sizes[a], .stride = stride };
        stride *= (int64_t)sizes[a];
    }
    if (n == 0) /* the one point that there is */
        lattice->depths[n++] = (struct depth){ .size = 1, .stride = 1 };
    lattice->n = n;
}

/* A rule that names no axis of several levels says the same everywhere. */
static void set_everywhere(struct lattice *lattice, bool hits, uint64_t warning)
{
    if (hits && warning)
        lattice->warned |= warning;
    else if (hits)
        lattice->is_empty = true;
}

/* The rules whose last axis is at 'depth'. */
static void add_tests(struct lattice *lattice, size_t depth,
                      const struct lattice_rule *rules, uint64_t rejecting,
                      uint64_t warning, const size_t *sizes, size_t n_axes,
                      const size_t *depth_of)
{
    lattice->depths[depth].tests = lattice->n_tests;
    for (size_t r = 0; r < LATTICE_RULES_MAX; r++) {
        struct test *test = &lattice->tests[lattice->n_tests];
        int64_t stride = 1;
        size_t last = lattice->n;

        if (!((rejecting | warning) >> r & 1))
            continue;
        *test = (struct test){ .hits = rules[r].hits,
                               .warning = warning & UINT64_C(1) << r };
        for (size_t a = n_axes; a-- > 0;) {
            if (!(rules[r].axes >> a & 1) || sizes[a] == 1)
                continue;
            if (last == lattice->n)
                last = depth_of[a];
            test->strides[depth_of[a]] = stride;
            stride *= (int64_t)sizes[a];
        }
        if (last == depth)
            lattice->n_tests++;
        else if (last == lattice->n && depth == 0)
            set_everywhere(lattice, rules[r].hits[0] & 1, test->warning);
    }
    lattice->depths[depth].tests_end = lattice->n_tests;
}

struct lattice *lattice_new(const size_t *sizes, size_t n_axes,
                            const struct lattice_rule *rules,
                            uint64_t rejecting, uint64_t warning)
{
    struct lattice *lattice = mem_new(1, sizeof(*lattice));
    size_t depth_of[LATTICE_AXES_MAX] = { 0 };

    assert(n_axes <= LATTICE_AXES_MAX && !(rejecting & warning));
    set_depths(lattice, sizes, n_axes, depth_of);
    for (size_t depth = 0; depth < lattice->n; depth++)
        add_tests(lattice, depth, rules, rejecting, warning, sizes, n_axes,
                  depth_of);
    return lattice;
}

void lattice_free(struct lattice *lattice)
{
    free(lattice);
}

/* ---- walking */

/* All levels of this depth are to come, under those above. */
static void enter(struct lattice *lattice, size_t depth)
{
    struct depth *here = &lattice->depths[depth];

    here->first = -WORD;
    here->left = 0;
    for (size_t t = here->tests; t < here->tests_end; t++) {
        struct test *test = &lattice->tests[t];

        test->at = 0;
        for (size_t d = 0; d < depth; d++)
            test->at += lattice->depths[d].level * test->strides[d];
    }
}

/* Find levels that nothing rejects; false when there are no more. */
static bool refill(const struct lattice *lattice, struct depth *here)
{
    while (here->left == 0) {
        int64_t n;

        here->first += WORD;
        n = here->size - here->first;
        if (n <= 0)
            return false;
        here->left = n < WORD ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
        for (size_t t = here->tests; t < here->tests_end; t++) {
            const struct test *test = &lattice->tests[t];

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

static uint64_t warned_at(const struct lattice *lattice,
                          const struct depth *here)
{
    uint64_t warned = here->warned;

    for (size_t t = here->tests; t < here->tests_end; t++) {
        const struct test *test = &lattice->tests[t];
        int64_t at = test->at + here->level;

        if (test->warning && test->hits[at / WORD] >> at % WORD & 1)
            warned |= test->warning;
    }
    return warned;
}

static void begin(struct lattice *lattice)
{
    lattice->is_walking = true;
    lattice->at = 0;
    lattice->depths[0].number = 0;
    lattice->depths[0].warned = lattice->warned;
    enter(lattice, 0);
}

static void descend(struct lattice *lattice, int64_t number, uint64_t warned)
{
    struct depth *below = &lattice->depths[++lattice->at];

    below->number = number;
    below->warned = warned;
    enter(lattice, lattice->at);
}

/* Go to where the last depth has levels left. */
static enum lattice_step advance(struct lattice *lattice)
{
    if (!lattice->is_walking)
        begin(lattice);
    while (!lattice->is_empty) {
        struct depth *here = &lattice->depths[lattice->at];

        if (++lattice->steps % LATTICE_STEPS == 0)
            return LATTICE_LATER;
        if (refill(lattice, here)) {
            if (lattice->at == lattice->n - 1)
                return LATTICE_POINT;
            take_level(here);
            descend(lattice, here->number + here->level * here->stride,
                    warned_at(lattice, here));
        } else if (lattice->at > 0) {
            lattice->at--;
        } else {
            break;
        }
    }
    lattice->is_walking = false;
    return LATTICE_END;
}

enum lattice_step lattice_next(struct lattice *lattice, int64_t *number,
                               uint64_t *warned)
{
    struct depth *last = &lattice->depths[lattice->n - 1];
    enum lattice_step step = advance(lattice);

    if (step != LATTICE_POINT)
        return step;
    take_level(last);
    *number = last->number + last->level * last->stride;
    *warned = warned_at(lattice, last);
    return LATTICE_POINT;
}

enum lattice_step lattice_count(struct lattice *lattice, int64_t *n)
{
    struct depth *last = &lattice->depths[lattice->n - 1];
    enum lattice_step step;

    while ((step = advance(lattice)) == LATTICE_POINT) {
        *n += __builtin_popcountll(last->left);
        last->left = 0;
    }
    return step;
}
