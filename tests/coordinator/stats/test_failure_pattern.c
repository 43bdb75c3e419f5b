#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>

#include <cmocka.h>

#include "coordinator/stats/failure_pattern.h"

#define N_MAX 256
#define AXES_MAX 8

struct sample {
    size_t sizes[AXES_MAX], axes, n;
    uint16_t levels[N_MAX * AXES_MAX];
    unsigned char sides[N_MAX];
};

static void add(struct sample *sample, const int *levels, bool fails)
{
    for (size_t a = 0; a < sample->axes; a++)
        sample->levels[sample->n * sample->axes + a] = (uint16_t)levels[a];
    sample->sides[sample->n++] =
        fails ? FAILURE_PATTERN_FAILURE : FAILURE_PATTERN_RIGHT;
}

static struct failure_pattern learn(const struct sample *sample)
{
    const struct failure_pattern_points points = { sample->axes, sample->sizes,
                                                   sample->n, sample->levels,
                                                   sample->sides };
    struct failure_pattern out;

    failure_pattern_of(&points, &out);
    return out;
}

/* Axes: BLOCK_M, BLOCK_N, STAGES, SWIZZLE, HALF2, as the predecessor's. */
enum {
    BLOCK_M,
    BLOCK_N,
    STAGES,
    SWIZZLE,
    HALF2,
    AXES,
};
static const struct sample tiles = { .sizes = { 3, 2, 2, 2, 2 }, .axes = AXES };

static void tile(int i, int *out)
{
    out[BLOCK_M] = i / 16;
    out[BLOCK_N] = i / 8 % 2;
    out[STAGES] = i / 4 % 2;
    out[SWIZZLE] = i / 2 % 2;
    out[HALF2] = i % 2;
}

static void all_misaligned_share_swizzle_and_half2(void **state)
{
    struct sample sample = tiles;
    struct failure_pattern out;

    (void)state;
    for (int i = 0; i < 48; i++) {
        int at[AXES];

        tile(i, at);
        add(&sample, at, at[SWIZZLE] == 1 && at[HALF2] == 1);
    }
    out = learn(&sample);
    assert_int_equal(out.failures, 12);
    assert_int_equal(out.right, 36);
    assert_int_equal(out.right_sharing, 0);
    assert_int_equal(out.n_terms, 2);
    assert_int_equal(out.terms[0].axis, SWIZZLE);
    assert_int_equal(out.terms[0].levels[0], 1);
    assert_int_equal(out.terms[1].axis, HALF2);
    assert_int_equal(out.terms[1].n, 1);
    assert_int_equal(out.n_unvaried, 0);
    failure_pattern_fini(&out);
}

/* A real case: the gates required the pair, so nothing else was tried, and the
 * tiles were blamed. */
static void if_nothing_is_correct_all_shared_values_are_listed(void **state)
{
    struct sample sample = tiles;
    struct failure_pattern out;

    (void)state;
    for (int i = 0; i < 48; i++) {
        int at[AXES];

        tile(i, at);
        if (at[SWIZZLE] == 1 && at[HALF2] == 1)
            add(&sample, at, true);
    }
    out = learn(&sample);
    assert_int_equal(out.right, 0);
    assert_int_equal(out.n_terms, 0);
    assert_int_equal(out.n_unvaried, 2);
    assert_int_equal(out.unvaried[0].axis, SWIZZLE);
    assert_int_equal(out.unvaried[1].axis, HALF2);
    failure_pattern_fini(&out);
}

static void a_value_that_the_right_ones_have_too_is_no_cause(void **state)
{
    struct sample sample = tiles;
    struct failure_pattern out;

    (void)state;
    for (int i = 0; i < 48; i++) {
        int at[AXES];

        tile(i, at);
        if (at[HALF2] == 1) /* a gate requires it */
            add(&sample, at, at[SWIZZLE] == 1);
    }
    out = learn(&sample);
    assert_int_equal(out.n_terms, 1);
    assert_int_equal(out.terms[0].axis, SWIZZLE);
    assert_int_equal(out.n_unvaried, 1);
    assert_int_equal(out.unvaried[0].axis, HALF2);
    failure_pattern_fini(&out);
}

static void sets_are_used_if_single_values_exclude_less(void **state)
{
    struct sample sample = tiles;
    struct failure_pattern out;

    (void)state;
    for (int i = 0; i < 48; i++) {
        int at[AXES];

        tile(i, at);
        add(&sample, at, at[BLOCK_M] >= 1);
    }
    out = learn(&sample);
    assert_int_equal(out.n_terms, 1);
    assert_int_equal(out.terms[0].axis, BLOCK_M);
    assert_int_equal(out.terms[0].n, 2);
    assert_int_equal(out.terms[0].levels[0], 1);
    assert_int_equal(out.terms[0].levels[1], 2);
    assert_int_equal(out.right_sharing, 0);
    failure_pattern_fini(&out);
}

/* Ten failures have three of the four values of a tunable by chance; so have 50
 * of the 70 correct ones. */
static void a_set_that_tells_little_is_not_named(void **state)
{
    struct sample sample = { .sizes = { 4, 2, 10 }, .axes = 3 };
    struct failure_pattern out;

    (void)state;
    for (int i = 0; i < 80; i++) {
        int at[] = { i / 20, i / 10 % 2, i % 10 };

        add(&sample, at, at[0] == at[2] % 3 && at[1] == at[2] % 2);
    }
    out = learn(&sample);
    assert_int_equal(out.failures, 10);
    assert_int_equal(out.n_terms, 0);
    assert_int_equal(out.right, 70);
    assert_int_equal(out.right_sharing, 70);
    failure_pattern_fini(&out);
}

static void some_correct_ones_may_share_the_pattern(void **state)
{
    struct sample sample = tiles;
    struct failure_pattern out;
    int seen = 0;

    (void)state;
    for (int i = 0; i < 48; i++) {
        int at[AXES];

        tile(i, at);
        /* it fails only sometimes, all values of the others among them */
        add(&sample, at, at[SWIZZLE] == 1 && seen++ % 3 == 0);
    }
    out = learn(&sample);
    assert_int_equal(out.failures, 8);
    assert_int_equal(out.n_terms, 1);
    assert_int_equal(out.terms[0].axis, SWIZZLE);
    assert_int_equal(out.right_sharing, 16);
    failure_pattern_fini(&out);
}

static void failures_may_have_nothing_in_common(void **state)
{
    struct sample sample = { .sizes = { 2, 2 }, .axes = 2 };
    struct failure_pattern out;

    (void)state;
    add(&sample, (int[]){ 0, 0 }, true);
    add(&sample, (int[]){ 1, 1 }, true);
    add(&sample, (int[]){ 0, 1 }, false);
    add(&sample, (int[]){ 1, 0 }, false);
    out = learn(&sample);
    assert_int_equal(out.n_terms, 0);
    assert_int_equal(out.n_unvaried, 0);
    assert_int_equal(out.right_sharing, 2);
    failure_pattern_fini(&out);
}

/* One message, two causes: 16 of 24 are behind the first. */
static void a_part_of_the_failures_with_nothing_right(void **state)
{
    struct sample sample = tiles;
    struct failure_pattern out;

    (void)state;
    for (int i = 0; i < 48; i++) {
        int at[AXES];

        tile(i, at);
        add(&sample, at, at[BLOCK_M] == 2 || (at[SWIZZLE] && at[HALF2]));
    }
    out = learn(&sample);
    assert_int_equal(out.failures, 24);
    assert_int_equal(out.n_terms, 0);
    assert_int_equal(out.n_part, 1);
    assert_int_equal(out.part[0].axis, BLOCK_M);
    assert_int_equal(out.part[0].levels[0], 2);
    assert_int_equal(out.part_failures, 16);
    failure_pattern_fini(&out);
}

static void four_values_together(void **state)
{
    struct sample sample = { .sizes = { 2, 2, 2, 2, 2, 2 }, .axes = 6 };
    struct failure_pattern out;

    (void)state;
    for (int i = 0; i < 64; i++)
        add(&sample,
            (int[]){ i / 32, i / 16 % 2, i / 8 % 2, i / 4 % 2, i / 2 % 2,
                     i % 2 },
            (i & 0x3c) == 0x3c);
    out = learn(&sample);
    assert_int_equal(out.failures, 4);
    assert_int_equal(out.n_terms, 4);
    assert_int_equal(out.terms[0].axis, 0);
    assert_int_equal(out.terms[3].axis, 3);
    assert_int_equal(out.right_sharing, 0);
    failure_pattern_fini(&out);
}

static void other_failures_are_ignored(void **state)
{
    struct sample sample = { .sizes = { 2, 2 }, .axes = 2 };
    struct failure_pattern out;

    (void)state;
    add(&sample, (int[]){ 0, 0 }, true);
    add(&sample, (int[]){ 0, 1 }, true);
    add(&sample, (int[]){ 0, 0 }, false);
    sample.sides[2] = FAILURE_PATTERN_OTHER;
    add(&sample, (int[]){ 1, 1 }, false);
    out = learn(&sample);
    assert_int_equal(out.right, 1);
    assert_int_equal(out.right_sharing, 0);
    assert_int_equal(out.n_terms, 1);
    failure_pattern_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_misaligned_share_swizzle_and_half2),
        cmocka_unit_test(if_nothing_is_correct_all_shared_values_are_listed),
        cmocka_unit_test(a_value_that_the_right_ones_have_too_is_no_cause),
        cmocka_unit_test(sets_are_used_if_single_values_exclude_less),
        cmocka_unit_test(a_set_that_tells_little_is_not_named),
        cmocka_unit_test(some_correct_ones_may_share_the_pattern),
        cmocka_unit_test(failures_may_have_nothing_in_common),
        cmocka_unit_test(a_part_of_the_failures_with_nothing_right),
        cmocka_unit_test(four_values_together),
        cmocka_unit_test(other_failures_are_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
