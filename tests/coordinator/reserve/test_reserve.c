/* test_reserve.c - what is kept back for a confirmation */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/reserve/reserve.h"
#include "tests/coordinator/near.h"

static const struct reserve_pass pass = {
    .contestants = 5, .shapes = 2, .blocks = 20, .gpus = 1
};

static void what_is_known_replaces_the_default(void **state)
{
    struct reserve_times usual = reserve_times_default(false);
    struct reserve_times known = RESERVE_TIMES_UNKNOWN;

    (void)state;
    known.build_s = 7;
    known = reserve_times_or(known, &usual);
    assert_true(known.build_s == 7);
    assert_true(known.measure_s == usual.measure_s);
    assert_true(known.start_s == usual.start_s);
    assert_true(known.external_s == usual.external_s);
    assert_true(reserve_times_default(true).start_s < usual.start_s);
    assert_near(reserve_committed_s(&known), 7 + usual.measure_s, 1e-12);
}

/* Two stops of 2 s, blocks, a start that takes three times as long as it did,
 * and a quarter more. */
static void each_part_of_the_confirmation_has_its_time(void **state)
{
    const struct reserve_times times = { 3, 1, 0.095, 2 };
    struct reserve_pass more = pass;
    double blocks = 5 * 20 * 2 * 0.1, s = reserve_s(&pass, &times);

    (void)state;
    assert_near(s, 1.25 * (2 + 3 * 3 + 2 + blocks), 1e-9);
    assert_near(reserve_usual_s(&pass, &times), 2 + 3 + 2 + blocks, 1e-9);
    more.proofs = 10;
    assert_near(reserve_s(&more, &times) - s, 1.25 * (11 + 5 * 10 * 3 * 0.1),
                1e-9);
    more.gpus = 2;
    assert_near(reserve_s(&more, &times) - s, 1.25 * (11 + 5 * 5 * 3 * 0.1),
                1e-9);
    more = pass;
    more.externals = 1;
    more.external_blocks = 6;
    assert_near(reserve_s(&more, &times) - s, 1.25 * 6 * 2 * 2, 1e-9);
}

/* What is kept for a number of contestants is enough for them, and two take
 * part whatever is left. */
static void as_many_take_part_as_have_time(void **state)
{
    const struct reserve_times times = { 3, 1, 0.095, 2 };
    struct reserve_pass most = pass;

    (void)state;
    most.contestants = 21;
    for (int64_t n = 2; n <= 21; n++) {
        struct reserve_pass some = pass;

        some.contestants = n;
        assert_int_equal(
            reserve_contestants(&most, &times, reserve_s(&some, &times) + 1e-6),
            n);
    }
    assert_int_equal(reserve_contestants(&most, &times, 1e6), 21);
    assert_int_equal(reserve_contestants(&most, &times, -1), 2);
    assert_int_equal(reserve_contestants(&most, &times, INFINITY), 21);
}

/* 30.5 s for nine contestants and 7.75 s for two, after a second for what has
 * begun. */
static void a_cap_that_shrank_still_pays_for_two(void **state)
{
    const struct reserve_times times = { 0, 0.905, 0.095, 0 };
    const struct reserve_pass nine = {
        .contestants = 9, .shapes = 1, .blocks = 26, .gpus = 1
    };

    (void)state;
    assert_near(reserve_s(&nine, &times), 30.5, 1e-9);
    assert_int_equal(reserve_next(&nine, &times, 31.51), RESERVE_SEARCH);
    assert_int_equal(reserve_next(&nine, &times, 31.49), RESERVE_CLOSE);
    assert_int_equal(reserve_next(&nine, &times, 15.26), RESERVE_CLOSE);
    assert_int_equal(reserve_next(&nine, &times, 15.24), RESERVE_SEARCH);
    assert_int_equal(reserve_next(&nine, &times, 8.76), RESERVE_SEARCH);
    assert_int_equal(reserve_next(&nine, &times, 8.74), RESERVE_CLOSE);
    assert_int_equal(reserve_next(&nine, &times, 6.21), RESERVE_CLOSE);
    assert_int_equal(reserve_next(&nine, &times, 6.19), RESERVE_NONE);
    assert_int_equal(reserve_next(&nine, &times, -1), RESERVE_NONE);
}

/* What starts in 1.2 s is given 1.2 s to stop, but not below 0.5 or above 2. */
static void a_block_begins_if_it_can_end_before_the_cap(void **state)
{
    struct reserve_times times = { 1.2, 0, 0, 0 };

    (void)state;
    assert_true(reserve_has_block(&times, 4, 1.25 * 5.2 + 1e-9));
    assert_false(reserve_has_block(&times, 4, 1.25 * 5.2 - 1e-9));
    assert_true(reserve_has_block(&times, 4, INFINITY));
    assert_true(reserve_has_block(&times, 0, 1.25 * 1.2 + 1e-9));
    assert_false(reserve_has_block(&times, 0, 1.25 * 1.2 - 1e-9));
    times.start_s = 0.1;
    assert_true(reserve_has_block(&times, 0, 0.626));
    assert_false(reserve_has_block(&times, 0, 0.624));
    times.start_s = 30;
    assert_true(reserve_has_block(&times, 0, 2.501));
    assert_false(reserve_has_block(&times, 0, 2.499));
}

static void the_first_cap_counts(void **state)
{
    struct reserve_caps caps = { .used_s = 40, .used_usd = 1 };

    (void)state;
    assert_true(isinf(reserve_left_s(&caps)));
    caps.max_usd = 3;
    assert_true(isinf(reserve_left_s(&caps))); /* no host has a price */
    caps.usd_per_h = 3600;
    assert_near(reserve_left_s(&caps), 2, 1e-9);
    caps.max_s = 41;
    assert_near(reserve_left_s(&caps), 1, 1e-9);
    caps.used_usd = 5;
    assert_near(reserve_left_s(&caps), -2, 1e-9);
}

static void the_pace_says_how_many_fit(void **state)
{
    (void)state;
    assert_int_equal(reserve_fit(8, 2, 18, 320), 80);
    assert_int_equal(reserve_fit(8, 2, 1000, 320), 320);
    assert_int_equal(reserve_fit(8, 2, -1, 320), 8);
}

/* What is suggested must be enough, and be easy to type. */
static void a_raised_cap_leaves_what_is_needed(void **state)
{
    static const struct {
        double cap, used, rest, raised;
    } rows[] = {
        { 1, 0.2, 0.8, 1 },
        { 1, 0.2, 0.81, 1.1 },
        { 4, 5.32, 1, 6.4 },
        { 4, 5.32, (double)INFINITY, 11 },
        { 4, 3, (double)INFINITY, 8 },
        { 0.001, 0.00101, 0.00104, 0.0021 },
        { 10, 5, 94.2, 100 },
        { 0, 5, 3, 0 },
        { 1, 1, 1, 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_near(reserve_raised(rows[i].cap, rows[i].used, rows[i].rest),
                    rows[i].raised, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_raised_cap_leaves_what_is_needed),
        cmocka_unit_test(what_is_known_replaces_the_default),
        cmocka_unit_test(each_part_of_the_confirmation_has_its_time),
        cmocka_unit_test(as_many_take_part_as_have_time),
        cmocka_unit_test(the_pace_says_how_many_fit),
        cmocka_unit_test(a_block_begins_if_it_can_end_before_the_cap),
        cmocka_unit_test(the_first_cap_counts),
        cmocka_unit_test(a_cap_that_shrank_still_pays_for_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
