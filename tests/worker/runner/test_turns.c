#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/runner/turns.h"

/* A problem without arguments has no buffers that a test would need. */
static struct problem problem;
static struct trial copies[4];
static struct turns turns;

/* Stand-in: there are no arguments to fill. */
void problem_args(const struct problem *of, const struct trial *trial,
                  struct device_buffer *const *outputs,
                  struct problem_args *out)
{
    (void)of;
    (void)trial;
    (void)outputs;
    memset(out, 0, sizeof(*out));
}

static int set_up(void **state)
{
    (void)state;
    memset(&problem, 0, sizeof(problem));
    problem.n_seeds = 3;
    problem.n_trials = 4; /* one with edges, which is not timed */
    for (unsigned t = 0; t < 4; t++)
        problem.trials[t].number = t;
    for (unsigned c = 0; c < 4; c++)
        copies[c].number = (c + 1) % 3;
    problem.copies = copies;
    turns_init(&turns, &problem, 1);
    return 0;
}

static unsigned number(size_t turn)
{
    return turns.trials[turn]->number;
}

static void the_first_launches_have_all_seeds_and_later_ones_any(void **state)
{
    int times[4] = { 0 }, repeated = 0;

    (void)state;
    turns_arrange(&turns, L2_MODE_FLUSH);
    turns_take(&turns, DEVICE_BATCH, true);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(number(i), i);
    for (size_t i = 0; i < DEVICE_BATCH; i++) {
        times[number(i)]++;
        repeated += i > 0 && number(i) == number(i - 1);
        assert_false(turns.batch[i].led);
    }
    for (int t = 0; t < 3; t++)
        assert_in_range(times[t], 5, 35);
    assert_int_equal(times[3], 0);
    assert_in_range(repeated, 3, 40); /* nobody can tell which comes next */
}

static void
rotation_takes_the_copies_in_turn_and_the_original_last(void **state)
{
    static const unsigned expected[] = { 1, 2, 0, 1, 0, 1, 2, 0, 1, 0 };

    (void)state;
    problem.n_copies = 4;
    turns_arrange(&turns, L2_MODE_ROTATE);
    turns_take(&turns, 10, true);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(number(i), expected[i]);
}

/* What passed with other values says nothing about these. */
static void renewed_values_come_once_each_and_none_is_known(void **state)
{
    static struct problem other;

    (void)state;
    other = problem;
    turns_arrange(&turns, L2_MODE_FLUSH);
    turns_take(&turns, 3, true);
    turns_learn(&turns, 1, 0, 77);
    turns_renew(&turns, &other);
    turns_take(&turns, 3, true);
    for (unsigned t = 0; t < 3; t++) {
        assert_ptr_equal(turns.trials[t], &other.trials[t]);
        assert_int_equal(turns.batch[t].sums[0], 0);
    }
    assert_false(turns.varied);
}

static void a_warm_cache_has_ten_launches_of_the_same_inputs(void **state)
{
    (void)state;
    turns_arrange(&turns, L2_MODE_WARM);
    turns_take(&turns, 3, true);
    turns_take(&turns, 27, true);
    for (size_t i = 0; i < 27; i++) {
        size_t turn = i + 3;

        assert_int_equal(turns.batch[i].led, turn % TURNS_WARM == 0);
        if (turn % TURNS_WARM != 0 && i > 0)
            assert_int_equal(number(i), number(i - 1));
    }
}

/* Launches whose times do not count leave the inputs in the cache, too. */
static void those_that_do_not_count_need_no_leader(void **state)
{
    (void)state;
    turns_arrange(&turns, L2_MODE_WARM);
    turns_take(&turns, 4, false);
    turns_take(&turns, 8, true);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(turns.batch[i].led, i + 4 == TURNS_WARM);
    turns_arrange(&turns, L2_MODE_WARM);
    turns_take(&turns, 1, true);
    assert_true(turns.batch[0].led);
}

static void
a_round_of_poison_has_all_kinds_and_first_what_says_most(void **state)
{
    int orders = 0;

    (void)state;
    for (int round = 0, first = -1; round < 20; round++) {
        unsigned had = 0;

        for (int i = 0; i < POISON_KINDS; i++) {
            const int kind = (int)turns_poison(&turns).kind;

            if (round == 0 && i == 0)
                assert_int_equal(kind, POISON_UNWRITTEN);
            orders += i == 0 && kind != first;
            first = i == 0 ? kind : first;
            had |= 1u << kind;
        }
        assert_int_equal(had, (1u << POISON_KINDS) - 1);
    }
    assert_true(orders > 10); /* nobody can tell which comes next */
}

static void poison_of_zeros_is_zero_in_every_type(void **state)
{
    const struct poison zero = { .kind = POISON_ZERO };

    (void)state;
    for (int type = 0; type < ELEMENT_TYPES; type++)
        assert_int_equal(poison_word(&zero, (enum element_type)type, 3), 0);
}

/* Where a time counts, it would find its own results. */
static void
every_other_launch_that_is_not_timed_keeps_its_workspaces(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_int_equal(turns_keep(&turns), i % 2);
    turns_take(&turns, 4, false);
    for (int i = 0; i < 4; i++)
        assert_int_equal(turns.batch[i].kept, i % 2);
    turns_take(&turns, DEVICE_BATCH, true);
    for (int i = 0; i < DEVICE_BATCH; i++)
        assert_false(turns.batch[i].kept);
    assert_true(turns_keep(&turns));
    turns_renew(&turns, &problem); /* other buffers */
    assert_false(turns_keep(&turns));
    assert_true(turns_keep(&turns));
}

static void outputs_of_the_same_bits_are_known_until_bits_vary(void **state)
{
    (void)state;
    turns_arrange(&turns, L2_MODE_FLUSH);
    turns_learn(&turns, 0, 2, 77);
    turns_learn(&turns, 1, 2, 78); /* other values, other bits */
    turns_learn(&turns, 0, 2, 77);
    assert_false(turns.varied);
    turns_take(&turns, 2, true);
    assert_int_equal(turns.batch[0].sums[2], 77);
    assert_int_equal(turns.batch[1].sums[2], 78);
    turns_learn(&turns, 0, 2, 79);
    assert_true(turns.varied);
    turns_take(&turns, 1, true);
    assert_int_equal(turns.batch[0].sums[2], 0);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_first_launches_have_all_seeds_and_later_ones_any),
        CASE(rotation_takes_the_copies_in_turn_and_the_original_last),
        CASE(renewed_values_come_once_each_and_none_is_known),
        CASE(a_warm_cache_has_ten_launches_of_the_same_inputs),
        CASE(those_that_do_not_count_need_no_leader),
        CASE(a_round_of_poison_has_all_kinds_and_first_what_says_most),
        CASE(poison_of_zeros_is_zero_in_every_type),
        CASE(every_other_launch_that_is_not_timed_keeps_its_workspaces),
        CASE(outputs_of_the_same_bits_are_known_until_bits_vary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
