#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/model/domain.h"
#include "tests/bench/evaluations/problem.h"
#include "tests/bench/in_flight/figures.h"
#include "tests/bench/in_flight/fleet.h"

/* Four points in a row: the first fails after 4 s, the others take 1 s. */
static struct problem row_of_four(void)
{
    static double times[] = { 0, 3, 2, 4 }, seconds[] = { 4, 1, 1, 1 };
    const struct domain_tunable tunable = { .levels = 4, .ordered = true };
    struct problem problem = { .domain = domain_new(&tunable, 1),
                               .times = times,
                               .seconds = seconds };

    for (uint16_t i = 0; i < 4; i++)
        domain_add(problem.domain, &i);
    problem_complete(&problem);
    return problem;
}

static struct fleet_end run(const struct problem *problem, int evaluations,
                            int in_flight)
{
    const struct fleet_rules rules = { .strategy = "exhaustive",
                                       .evaluations = evaluations,
                                       .in_flight = in_flight,
                                       .seed = 1 };
    struct fleet_end end;

    fleet_run(problem, &rules, &end);
    return end;
}

static void places_work_side_by_side(void **state)
{
    struct problem problem = row_of_four();

    (void)state;
    assert_true(run(&problem, 4, 1).seconds == 7);
    assert_true(run(&problem, 4, 2).seconds == 4);
    assert_true(run(&problem, 4, 4).seconds == 4);
    domain_free(problem.domain);
}

/* Of 60 evaluations, ten are in flight at most, and one when six are left. */
static void a_strategy_that_learns_leaves_places_idle(void **state)
{
    const struct domain_tunable tunable = { .levels = 60, .ordered = true };
    double times[60], seconds[60];
    struct problem problem = { .domain = domain_new(&tunable, 1),
                               .times = times,
                               .seconds = seconds };
    struct fleet_rules rules = {
        .strategy = "bayes", .evaluations = 60, .in_flight = 60, .seed = 1
    };
    struct fleet_end bounded, full;

    (void)state;
    for (uint16_t i = 0; i < 60; i++) {
        domain_add(problem.domain, &i);
        times[i] = 1 + i;
        seconds[i] = 1;
    }
    problem_complete(&problem);
    fleet_run(&problem, &rules, &bounded);
    rules.full = true;
    fleet_run(&problem, &rules, &full);
    assert_true(full.seconds == 1);
    assert_true(bounded.seconds > 10);
    domain_free(problem.domain);
}

static void regret_is_relative_to_the_best(void **state)
{
    struct problem problem = row_of_four();

    (void)state;
    assert_true(run(&problem, 2, 1).regret == 0.5);
    assert_true(run(&problem, 4, 2).regret == 0);
    assert_true(run(&problem, 1, 1).regret == 1); /* nothing: the slowest */
    domain_free(problem.domain);
}

static void figures_are_in_percent(void **state)
{
    const struct fleet_end runs[] = {
        { .regret = 0.04 }, { .regret = 0 }, { .regret = 0.02 }, { .regret = 0 }
    };
    struct figures figures;

    (void)state;
    figures_of(runs, 4, &figures);
    assert_float_equal(figures.mean, 1.5, 1e-9);
    assert_float_equal(figures.median, 1, 1e-9);
    assert_float_equal(figures.p90, 4, 1e-9);
    assert_float_equal(figures_limit(1.5), 2.45, 1e-9);
}

static void a_seed_repeats_its_noise(void **state)
{
    struct problem problem = row_of_four();

    (void)state;
    problem.noise = 0.1;
    assert_true(problem_measured(&problem, 2, 7) ==
                problem_measured(&problem, 2, 7));
    assert_false(problem_measured(&problem, 2, 7) ==
                 problem_measured(&problem, 2, 8));
    assert_true(problem_measured(&problem, 0, 7) == 0);
    domain_free(problem.domain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_work_side_by_side),
        cmocka_unit_test(a_strategy_that_learns_leaves_places_idle),
        cmocka_unit_test(regret_is_relative_to_the_best),
        cmocka_unit_test(figures_are_in_percent),
        cmocka_unit_test(a_seed_repeats_its_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
