/* Products of a few axes, checked by hand and against a test of every point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/points/point_walker.h"
#include "coordinator/stats/prng.h"

/* The numbers of all points, with a w after those with a warning. */
static const char *walk(struct point_walker *walker)
{
    static char text[500];
    enum point_walker_step step;
    uint64_t warned;
    int64_t number;
    size_t n = 0;

    text[0] = '\0';
    while ((step = point_walker_next(walker, &number, &warned)) !=
               POINT_WALKER_END &&
           n < sizeof(text) - 40)
        if (step == POINT_WALKER_POINT)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%lld%s ",
                                  (long long)number, warned ? "w" : "");
    return text;
}

static int64_t count(struct point_walker *walker)
{
    int64_t n = 0;

    while (point_walker_count(walker, &n) == POINT_WALKER_LATER)
        continue;
    return n;
}

static void points_come_in_order_and_again(void **state)
{
    const size_t sizes[] = { 2, 1, 3 };
    const uint64_t last_but_one[] = { 2, 0 }, both[] = { 0x20, 0 };
    const struct point_walker_rule rules[] = { { 4, last_but_one },
                                               { 5, both } };
    struct point_walker *walker = point_walker_new(sizes, 3, rules, 1, 2);

    (void)state;
    assert_string_equal(walk(walker), "0 2 3 5w ");
    assert_string_equal(walk(walker), "0 2 3 5w ");
    assert_int_equal(count(walker), 4);
    point_walker_free(walker);
}

static void a_rule_that_names_nothing_holds_everywhere(void **state)
{
    const size_t sizes[] = { 2, 1 };
    const uint64_t yes[] = { 1, 0 }, no[] = { 0, 0 };
    const struct point_walker_rule rules[] = { { 0, yes }, { 2, no } };
    struct point_walker *none = point_walker_new(sizes, 2, rules, 1, 2);
    struct point_walker *warned = point_walker_new(sizes, 2, rules, 2, 1);

    (void)state;
    assert_string_equal(walk(none), "");
    assert_int_equal(count(none), 0);
    assert_string_equal(walk(warned), "0w 1w ");
    point_walker_free(none);
    point_walker_free(warned);
}

static void a_product_may_have_one_point(void **state)
{
    const size_t sizes[] = { 1 };
    struct point_walker *walker = point_walker_new(sizes, 1, NULL, 0, 0);

    (void)state;
    assert_string_equal(walk(walker), "0 ");
    assert_int_equal(count(walker), 1);
    point_walker_free(walker);
}

/* ---- every point looked at */

#define AXES 4
#define RULES 6
static const size_t sizes[AXES] = { 3, 130, 1, 67 }; /* more than a word */

struct random_rules {
    struct point_walker_rule rules[RULES];
    uint64_t *tables[RULES];
};

static void make_rules(struct random_rules *random, uint64_t seed)
{
    struct prng prng;

    prng_init(&prng, seed);
    for (size_t r = 0; r < RULES; r++) {
        uint64_t axes = prng_below(&prng, 16);
        int64_t n = 1;

        for (size_t a = 0; a < AXES; a++)
            n *= axes >> a & 1 ? (int64_t)sizes[a] : 1;
        random->tables[r] = mem_new(point_walker_words(n), sizeof(uint64_t));
        for (int64_t i = 0; i < n && n > 1; i++)
            if (prng_below(&prng, 3) == 0)
                random->tables[r][i / 64] |= UINT64_C(1) << i % 64;
        random->rules[r] =
            (struct point_walker_rule){ axes, random->tables[r] };
    }
}

static bool hits(const struct point_walker_rule *rule, const size_t *levels)
{
    int64_t at = 0;

    for (size_t a = 0; a < AXES; a++)
        if (rule->axes >> a & 1)
            at = at * (int64_t)sizes[a] + (int64_t)levels[a];
    return rule->hits[at / 64] >> at % 64 & 1;
}

static void check_point(struct point_walker *walker,
                        const struct point_walker_rule *rules, int64_t number,
                        int64_t *passed)
{
    const size_t levels[AXES] = { (size_t)number / 67 / 130,
                                  (size_t)number / 67 % 130, 0,
                                  (size_t)number % 67 };
    uint64_t hit = 0, warned;
    int64_t found;

    for (size_t r = 0; r < RULES; r++)
        hit |= (uint64_t)hits(&rules[r], levels) << r;
    if (hit & 7)
        return;
    (*passed)++;
    assert_int_equal(point_walker_next(walker, &found, &warned),
                     POINT_WALKER_POINT);
    assert_int_equal(found, number);
    assert_int_equal(warned, hit);
}

static void it_agrees_with_testing_every_point(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct random_rules random;
        struct point_walker *walker;
        int64_t passed = 0, number;
        uint64_t warned;

        make_rules(&random, seed);
        walker = point_walker_new(sizes, AXES, random.rules, 7, 56);
        for (number = 0; number < 3 * 130 * 67; number++)
            check_point(walker, random.rules, number, &passed);
        assert_int_equal(point_walker_next(walker, &number, &warned),
                         POINT_WALKER_END);
        assert_int_equal(count(walker), passed);
        point_walker_free(walker);
        for (size_t r = 0; r < RULES; r++)
            free(random.tables[r]);
    }
}

static void a_long_search_pauses_to_check_the_clock(void **state)
{
    const size_t wide[] = { 2000, 2000, 2 };
    const uint64_t all[] = { 3, 0 };
    const struct point_walker_rule rule = { 4, all };
    struct point_walker *walker = point_walker_new(wide, 3, &rule, 1, 0);
    int64_t number, later = 0;
    enum point_walker_step step;
    uint64_t warned;

    (void)state;
    while ((step = point_walker_next(walker, &number, &warned)) ==
           POINT_WALKER_LATER)
        later++;
    assert_int_equal(step, POINT_WALKER_END);
    assert_int_equal(later,
                     (4000000 + 4000000 + 2000 + 2001) / POINT_WALKER_STEPS);
    point_walker_free(walker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_come_in_order_and_again),
        cmocka_unit_test(a_rule_that_names_nothing_holds_everywhere),
        cmocka_unit_test(a_product_may_have_one_point),
        cmocka_unit_test(it_agrees_with_testing_every_point),
        cmocka_unit_test(a_long_search_pauses_to_check_the_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
