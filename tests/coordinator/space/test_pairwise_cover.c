/* Covers of small spaces, and of one as large as they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/space/pairwise_cover.h"

#define AXES_MAX 16
#define VALUES_MAX 8

struct host_state {
    size_t axes;
    size_t sizes[AXES_MAX];
    bool (*legal)(const size_t *values);
};

static int64_t size_of(const struct host_state *host_state)
{
    int64_t size = 1;

    for (size_t i = 0; i < host_state->axes; i++)
        size *= (int64_t)host_state->sizes[i];
    return size;
}

static void values_of(const struct host_state *host_state, int64_t number,
                      size_t *values)
{
    for (size_t i = host_state->axes; i-- > 0;) {
        values[i] = (size_t)(number % (int64_t)host_state->sizes[i]);
        number /= (int64_t)host_state->sizes[i];
    }
}

/* The caller provides 'values' once for all points: an array for each call is
 * slow with AddressSanitizer. */
static bool is_legal(const struct host_state *host_state, int64_t number,
                     size_t *values)
{
    values_of(host_state, number, values);
    return !host_state->legal || host_state->legal(values);
}

static size_t choose(const struct host_state *host_state, uint64_t seed,
                     int64_t **out)
{
    struct pairwise_cover *cover =
        pairwise_cover_new(host_state->sizes, host_state->axes, seed);
    size_t values[AXES_MAX];
    size_t n;

    for (int64_t number = 0; number < size_of(host_state); number++)
        if (is_legal(host_state, number, values))
            pairwise_cover_add(cover, number);
    n = pairwise_cover_choose(cover, out);
    pairwise_cover_free(cover);
    return n;
}

typedef bool seen[AXES_MAX][AXES_MAX][VALUES_MAX][VALUES_MAX];

static void see(const struct host_state *host_state, const size_t *v,
                seen pairs)
{
    for (size_t a = 0; a < host_state->axes; a++)
        for (size_t b = 0; b < host_state->axes; b++)
            pairs[a][b][v[a]][v[b]] = true;
}

/* Checks that the chosen points are legal, in order, and have all pairs of all
 * legal points.  Returns how many there are. */
static size_t assert_covers(const struct host_state *host_state, uint64_t seed)
{
    static seen all, chosen;
    int64_t *points;
    size_t values[AXES_MAX];
    size_t n = choose(host_state, seed, &points);

    memset(all, 0, sizeof(all));
    memset(chosen, 0, sizeof(chosen));
    for (int64_t number = 0; number < size_of(host_state); number++)
        if (is_legal(host_state, number, values))
            see(host_state, values, all);
    for (size_t i = 0; i < n; i++) {
        assert_true(is_legal(host_state, points[i], values));
        assert_true(i == 0 || points[i - 1] < points[i]);
        see(host_state, values, chosen);
    }
    assert_memory_equal(all, chosen, sizeof(all));
    free(points);
    return n;
}

static void two_axes_need_all_their_points(void **state)
{
    const struct host_state host_state = { 2, { 2, 3 }, NULL };
    int64_t *points;

    (void)state;
    assert_int_equal(choose(&host_state, 1, &points), 6);
    for (int64_t i = 0; i < 6; i++)
        assert_int_equal(points[i], i);
    free(points);
}

static void three_switches_need_four_points_or_five(void **state)
{
    const struct host_state host_state = { 3, { 2, 2, 2 }, NULL };

    (void)state;
    assert_in_range(assert_covers(&host_state, 1), 4, 5);
}

static void one_axis_shows_each_of_its_values(void **state)
{
    const struct host_state host_state = { 1, { 5 }, NULL };

    (void)state;
    assert_int_equal(assert_covers(&host_state, 1), 5);
}

static bool nothing(const size_t *values)
{
    (void)values;
    return false;
}

static void no_points_have_an_empty_cover(void **state)
{
    const struct host_state host_state = { 2, { 2, 2 }, nothing };
    int64_t *points;

    (void)state;
    assert_int_equal(choose(&host_state, 1, &points), 0);
    assert_null(points);
}

/* C = 1 needs A = 1; B = 2 occurs in one point only. */
static bool constrained(const size_t *values)
{
    return (values[2] == 0 || values[0] == 1) &&
           (values[1] != 2 || (values[0] == 0 && values[3] == 0));
}

static void pairs_that_no_point_has_are_not_asked_for(void **state)
{
    const struct host_state host_state = { 4, { 2, 3, 2, 2 }, constrained };

    (void)state;
    assert_in_range(assert_covers(&host_state, 1), 6, 9);
}

static void seeds_give_different_covers_and_one_seed_the_same(void **state)
{
    const struct host_state host_state = { 6, { 3, 3, 3, 3, 2, 2 }, NULL };
    int64_t *a, *b, *c;
    size_t n = choose(&host_state, 1, &a), m = choose(&host_state, 1, &b);
    size_t k = choose(&host_state, 2, &c);

    (void)state;
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n * sizeof(*a));
    assert_true(k != n || memcmp(a, c, n * sizeof(*a)) != 0);
    free(a);
    free(b);
    free(c);
}

/* The nine tunables of the flash-attention sweep: 2,592 points; 3 x 3 is the
 * lower limit of a cover. */
static void nine_tunables_need_some_dozen_points(void **state)
{
    const struct host_state host_state = { 9,
                                           { 3, 3, 2, 2, 3, 3, 2, 2, 2 },
                                           NULL };

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_in_range(assert_covers(&host_state, seed), 9, 20);
}

static bool some(const size_t *values)
{
    return (values[0] + values[1] + values[2]) % 2 == 0;
}

/* More points than can be kept, so the sample is thinned out. */
static void a_large_space_is_covered_too(void **state)
{
    const struct host_state host_state = {
        14, { 4, 4, 2, 2, 3, 3, 2, 2, 2, 5, 3, 2, 2, 3 }, some
    };

    (void)state;
    assert_int_equal(size_of(&host_state), 829440); /* half of them legal */
    assert_in_range(assert_covers(&host_state, 1), 20, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_axes_need_all_their_points),
        cmocka_unit_test(three_switches_need_four_points_or_five),
        cmocka_unit_test(one_axis_shows_each_of_its_values),
        cmocka_unit_test(no_points_have_an_empty_cover),
        cmocka_unit_test(pairs_that_no_point_has_are_not_asked_for),
        cmocka_unit_test(seeds_give_different_covers_and_one_seed_the_same),
        cmocka_unit_test(nine_tunables_need_some_dozen_points),
        cmocka_unit_test(a_large_space_is_covered_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
