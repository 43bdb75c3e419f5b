/* The cheapest and the fastest fleet of what a hosts file has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "coordinator/estimate/estimate_fleet.h"

#define EXACTLY(x) \
    {              \
        x, x, x    \
    }

/* An L4 with 4 cores and a builder with 16, as in docs/fleet.md. */
static const struct estimate_machine machines[] = {
    { .name = "l4",
      .count = 4,
      .slots = EXACTLY(4),
      .gpus = EXACTLY(1),
      .has_rate = true,
      .rate = 0.68 },
    { .name = "build",
      .count = 1,
      .slots = EXACTLY(16),
      .has_rate = true,
      .rate = 0.12 },
};

/* 320 configurations of 2.3 core-seconds a build and 4.7 ms of GPU. */
static struct estimate_problem problem_of(const struct estimate_machine *list,
                                          size_t n)
{
    return (struct estimate_problem){
        .machines = list,
        .n = n,
        .times = { .source = ESTIMATE_EARLIER,
                   .build = { 320, 2.3, 0 },
                   .measure = { 320, 0.0047, 0 },
                   .stretch = 1.05,
                   .is_local = true },
        .work = { .builds = 320, .measurements = 320 },
    };
}

static void builders_are_cheap_and_all_together_are_fast(void **state)
{
    struct estimate_problem problem = problem_of(machines, 2);
    struct estimate_fleet cheap, fast;

    (void)state;
    assert_true(estimate_fleet_choose(&problem, ESTIMATE_CHEAPEST, &cheap));
    assert_int_equal(cheap.counts[0], 1);
    assert_int_equal(cheap.counts[1], 1);
    assert_true(estimate_fleet_choose(&problem, ESTIMATE_FASTEST, &fast));
    assert_int_equal(fast.counts[0], 4);
    assert_int_equal(fast.counts[1], 1);
    assert_true(fast.estimate.wall_s.likely < cheap.estimate.wall_s.likely);
    assert_true(fast.estimate.usd.likely > 2 * cheap.estimate.usd.likely);
    /* as measured (docs/fleet.md): 48 s and $0.0108 */
    assert_true(fabs(cheap.estimate.wall_s.likely - 40) < 5);
    assert_true(fabs(cheap.estimate.usd.likely - 0.0089) < 0.001);
}

/* No measurement waits: GPUs beyond the first do not make it faster. */
static void what_adds_nothing_is_left_out(void **state)
{
    struct estimate_machine list[2] = { machines[0], machines[1] };
    struct estimate_problem problem = problem_of(list, 2);
    struct estimate_fleet fast;

    (void)state;
    list[0].slots = (struct estimate_range)EXACTLY(0);
    assert_true(estimate_fleet_choose(&problem, ESTIMATE_FASTEST, &fast));
    assert_int_equal(fast.counts[0], 1);
    assert_int_equal(fast.counts[1], 1);
}

static void a_builder_more_is_worth_it_to_a_lonely_gpu(void **state)
{
    struct estimate_problem problem = problem_of(machines, 1);
    const int one[] = { 1 };
    struct estimate without, with;

    (void)state;
    estimate_make(&problem, one, &without);
    assert_true(estimate_fleet_add_builder(&problem, one, &with));
    assert_true(with.usd.likely < 0.3 * without.usd.likely);
    assert_true(with.usd.likely > 0.2 * without.usd.likely);
    assert_true(with.wall_s.likely < 0.25 * without.wall_s.likely);
    assert_int_equal(with.machines, 2);
}

static void a_fleet_needs_a_price_and_a_gpu(void **state)
{
    struct estimate_machine list[2] = { machines[0], machines[1] };
    struct estimate_problem problem = problem_of(list, 2);
    struct estimate_fleet out;

    (void)state;
    list[1].has_rate = false;
    assert_false(estimate_fleet_choose(&problem, ESTIMATE_CHEAPEST, &out));
    assert_true(estimate_fleet_choose(&problem, ESTIMATE_FASTEST, &out));
    problem.machines = &list[1];
    problem.n = 1;
    assert_false(estimate_fleet_choose(&problem, ESTIMATE_FASTEST, &out));
}

static void too_many_kinds_are_not_compared(void **state)
{
    struct estimate_machine list[ESTIMATE_FLEET_KINDS + 1] = { { 0 } };
    struct estimate_problem problem =
        problem_of(list, ESTIMATE_FLEET_KINDS + 1);
    struct estimate_fleet out;
    struct estimate with;

    (void)state;
    for (int i = 0; i <= ESTIMATE_FLEET_KINDS; i++) {
        list[i] = machines[0];
        list[i].rate = 1 + i;
    }
    assert_false(estimate_fleet_choose(&problem, ESTIMATE_FASTEST, &out));
    assert_false(estimate_fleet_add_builder(&problem, NULL, &with));
    problem.n = ESTIMATE_FLEET_KINDS;
    assert_true(estimate_fleet_choose(&problem, ESTIMATE_CHEAPEST, &out));
    assert_int_equal(out.counts[0], 1); /* two cost as much as one */
    for (int i = 1; i < ESTIMATE_FLEET_KINDS; i++)
        assert_int_equal(out.counts[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builders_are_cheap_and_all_together_are_fast),
        cmocka_unit_test(what_adds_nothing_is_left_out),
        cmocka_unit_test(a_builder_more_is_worth_it_to_a_lonely_gpu),
        cmocka_unit_test(a_fleet_needs_a_price_and_a_gpu),
        cmocka_unit_test(too_many_kinds_are_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
