#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/confirm/best_set.h"
#include "coordinator/confirm/blocks.h"
#include "coordinator/confirm/verdict.h"
#include "tests/coordinator/noise.h"

static const struct verdict_rules rules = VERDICT_RULES;

/* Four candidates, 12 blocks: the last is 2 % slower than the third, the second
 * 0.2 %. The first is the fastest, but is not eligible. */
static void the_set_has_the_leader_and_those_not_slower(void **state)
{
    static const double logs[] = { -9.3, -9.002, -9, -8.98 };
    static const bool eligible[] = { false, true, true, true };
    const struct noise_pass pass = { 4, 12, 5, 1, logs };
    struct noise_stream stream = noise_stream(1);
    struct block_sample samples[4 * 12 * 5];
    size_t n = noise_measure(&noises[0], &pass, &stream, samples);
    struct blocks *blocks = blocks_new(samples, n, 4);
    bool tied[4];
    size_t leader = best_set_of(blocks, eligible, &rules, tied);

    (void)state;
    assert_true(leader == 1 || leader == 2);
    assert_true(!tied[0] && tied[1] && tied[2] && !tied[3]);
    blocks_free(blocks);
}

/* 0.3 % slower, without noise: certain, but below the floor. */
static void a_difference_below_the_floor_stays_in_the_set(void **state)
{
    static const bool eligible[] = { true, true, true };
    struct block_sample samples[36];
    bool tied[3];
    struct blocks *blocks;

    (void)state;
    for (int i = 0; i < 36; i++)
        samples[i] = (struct block_sample){ i % 3, i / 3, 0,
                                            i % 3 == 0   ? 1
                                            : i % 3 == 1 ? 1.003
                                                         : 1.006 };
    blocks = blocks_new(samples, 36, 3);
    assert_int_equal(best_set_of(blocks, eligible, &rules, tied), 0);
    assert_true(tied[0] && tied[1] && !tied[2]);
    blocks_free(blocks);
}

static void without_measurements_there_is_no_leader(void **state)
{
    static const bool eligible[] = { true, true };
    struct blocks *blocks = blocks_new(NULL, 0, 2);
    bool tied[2];

    (void)state;
    assert_true(best_set_of(blocks, eligible, &rules, tied) == BEST_SET_NONE);
    assert_true(!tied[0] && !tied[1]);
    blocks_free(blocks);
}

static void the_fastest_of_a_tie_is_named(void **state)
{
    static const struct best_set_choice choices[] = {
        { false, 1.0, "a", 1 },
        { true, 1.2, "b", 2 },
        { true, 1.1, "c", 9 },
        { true, 1.1, "d", 3 },
    };

    (void)state;
    assert_int_equal(best_set_choose(choices, 4), 2);
    assert_true(best_set_choose(choices, 1) == BEST_SET_NONE);
    assert_true(best_set_choose(NULL, 0) == BEST_SET_NONE);
}

static void of_equal_machine_code_the_lowest_number_is_named(void **state)
{
    static const struct best_set_choice choices[] = {
        { false, 1.3, "a", 1 }, /* it may not be named */
        { true, 1.1, "a", 9 },  { true, 1.3, "a", 4 },
        { true, 1.2, "a", 7 },  { true, 1.2, "b", 2 },
    };
    static const struct best_set_choice unknown[] = { { true, 1.1, "", 9 },
                                                      { true, 1.2, "", 2 } };

    (void)state;
    assert_int_equal(best_set_choose(choices, 5), 2);
    assert_int_equal(best_set_choose(unknown, 2), 0);
}

/* Ten equally fast ones: the truly fastest (any of them) may be missing from
 * the set in at most 5 % of the passes. */
static void the_fastest_is_in_the_set(void **state)
{
    static const double logs[10] = { -9, -9, -9, -9, -9, -9, -9, -9, -9, -9 };
    static const bool eligible[10] = { true, true, true, true, true,
                                       true, true, true, true, true };
    const struct noise_pass pass = { 10, 10, 3, 2, logs };
    struct noise_stream stream = noise_stream(7);
    struct block_sample samples[600];
    int missing = 0;

    (void)state;
    for (size_t i = 0; i < 200; i++) {
        size_t n =
            noise_measure(&noises[i % n_noises], &pass, &stream, samples);
        struct blocks *blocks = blocks_new(samples, n, 10);
        bool tied[10];

        best_set_of(blocks, eligible, &rules, tied);
        missing += !tied[0];
        blocks_free(blocks);
    }
    assert_true(missing <= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_set_has_the_leader_and_those_not_slower),
        cmocka_unit_test(a_difference_below_the_floor_stays_in_the_set),
        cmocka_unit_test(without_measurements_there_is_no_leader),
        cmocka_unit_test(the_fastest_of_a_tie_is_named),
        cmocka_unit_test(of_equal_machine_code_the_lowest_number_is_named),
        cmocka_unit_test(the_fastest_is_in_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
