/* Seconds and dollars before a sweep, from what builds and measurements took.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "coordinator/estimate/estimate.h"

#define EXACTLY(x) \
    {              \
        x, x, x    \
    }

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(1, fabs(b))))
        fail_msg("%.12g is not %.12g", a, b);
}

/* After all others: one build and one measurement. */
#define LAST_S 2.1

/* 400 builds of 2 s, 400 measurements of 0.095 s, measured in another 4000 of
 * each that did not differ; runs took as long as their work. */
static struct estimate_problem problem_of(const struct estimate_machine *list,
                                          size_t n)
{
    return (struct estimate_problem){
        .machines = list,
        .n = n,
        .times = { .source = ESTIMATE_EARLIER,
                   .build = { 4000, 2, 0 },
                   .measure = { 4000, 0.095, 0 },
                   .stretch = 1,
                   .start_s = EXACTLY(3) },
        .work = { .builds = 400, .measurements = 400 },
    };
}

static const struct estimate_machine box = { .name = "box",
                                             .count = 1,
                                             .slots = EXACTLY(4),
                                             .gpus = EXACTLY(1),
                                             .has_rate = true,
                                             .rate = 0.72 };

static void the_slower_of_builds_and_measurements_counts(void **state)
{
    struct estimate_machine list[2] = { box, box };
    struct estimate_problem problem = problem_of(list, 1);
    struct estimate out;

    (void)state;
    estimate_make(&problem, NULL, &out);
    assert_near(out.build_core_s.likely, 800);
    assert_near(out.measure_gpu_s.likely, 38);
    assert_near(out.wall_s.likely, 3 + 200 + LAST_S);
    assert_near(out.usd.likely, 0.72 * (203 + LAST_S) / 3600);
    list[1].slots = (struct estimate_range)EXACTLY(36);
    list[1].gpus = (struct estimate_range)EXACTLY(0);
    problem.n = 2;
    estimate_make(&problem, NULL, &out);
    assert_near(out.wall_s.likely,
                3 + 40 + LAST_S); /* now the GPU: 400 of 0.1 s */
    assert_int_equal(out.machines, 2);
    assert_near(out.usd_per_hour, 1.44);
}

static void only_the_chosen_machines_count(void **state)
{
    const struct estimate_machine list[2] = { box, box };
    struct estimate_problem problem = problem_of(list, 2);
    struct estimate out;

    (void)state;
    estimate_make(&problem, (const int[]){ 1, 0 }, &out);
    assert_near(out.wall_s.likely, 203 + LAST_S);
    assert_int_equal(out.priced, 1);
    estimate_make(&problem, (const int[]){ 0, 0 }, &out);
    assert_true(isinf(out.wall_s.likely));
}

/* What was measured here is surer than elsewhere, and that than nothing. */
static void the_source_makes_the_range(void **state)
{
    struct estimate_problem problem = problem_of(&box, 1);
    double width[3];

    (void)state;
    for (int source = ESTIMATE_THIS_SPACE; source <= ESTIMATE_DEFAULTS;
         source++) {
        struct estimate out;

        problem.times.source = (enum estimate_source)source;
        if (source == ESTIMATE_DEFAULTS)
            problem.times =
                (struct estimate_times){ .source = ESTIMATE_DEFAULTS };
        estimate_make(&problem, NULL, &out);
        assert_true(out.wall_s.low < out.wall_s.likely);
        assert_true(out.wall_s.likely < out.wall_s.high);
        assert_true(out.usd.low < out.usd.high);
        width[source] = out.wall_s.high / out.wall_s.low;
    }
    assert_true(width[0] < 2);
    assert_true(width[0] < width[1] && width[1] < 4);
    assert_true(width[2] > 20);
}

static void more_samples_make_the_range_narrower(void **state)
{
    struct estimate_problem problem = problem_of(&box, 1);
    struct estimate few, many;

    (void)state;
    problem.times.build = (struct estimate_pace){ 4, 2, 2 };
    estimate_make(&problem, NULL, &few);
    problem.times.build.n = 1000;
    estimate_make(&problem, NULL, &many);
    assert_near(few.wall_s.likely, many.wall_s.likely);
    assert_true(few.wall_s.low < many.wall_s.low);
    assert_true(few.wall_s.high > 1.3 * many.wall_s.high);
}

static void what_a_host_does_not_say_has_a_range(void **state)
{
    struct estimate_machine open = box;
    struct estimate_problem problem = problem_of(&open, 1);
    struct estimate known, not_known;

    (void)state;
    estimate_make(&problem, NULL, &known);
    open.slots = (struct estimate_range){ 1, 4, 16 };
    estimate_make(&problem, NULL, &not_known);
    assert_near(not_known.wall_s.likely, known.wall_s.likely);
    assert_true(not_known.wall_s.high > 3 * known.wall_s.high);
    assert_true(not_known.wall_s.low < known.wall_s.low / 2);
}

static void a_host_that_built_slowly_has_fewer_hands(void **state)
{
    struct estimate_machine list[2] = { box, box };
    struct estimate_problem problem = problem_of(list, 2);
    struct estimate out;

    (void)state;
    list[1].build_s = 4; /* twice the mean */
    estimate_make(&problem, NULL, &out);
    assert_near(out.wall_s.likely, 3 + 800.0 / 6 + LAST_S);
}

static void the_confirmation_and_the_boot_come_on_top(void **state)
{
    struct estimate_machine rented = box;
    struct estimate_problem problem = problem_of(&rented, 1);
    struct estimate out;

    (void)state;
    rented.rental.boot_s = 90;
    problem.work.then_s = (struct estimate_range){ 5, 7, 20 };
    estimate_make(&problem, NULL, &out);
    assert_near(out.wall_s.likely, 3 + 90 + 200 + LAST_S + 7);
}

/* A GPU that comes when the builds end is paid for from then on. */
static void a_late_gpu_is_not_paid_for_the_builds(void **state)
{
    struct estimate_machine list[2] = { box, box };
    struct estimate_problem problem = problem_of(list, 2);
    struct estimate out;
    double wall = 3 + 200 + 40 + LAST_S;

    (void)state;
    list[0].gpus = (struct estimate_range)EXACTLY(0);
    list[0].rate = 0;
    list[1].slots = (struct estimate_range)EXACTLY(0);
    list[1].rental.is = list[1].rental.comes_late = true;
    estimate_make(&problem, NULL, &out);
    assert_near(out.wall_s.likely, wall);
    assert_near(out.usd.likely, 0.72 * (wall - 200) / 3600);
    list[1].rental.min_s = 60;
    estimate_make(&problem, NULL, &out);
    assert_near(out.usd.likely, 0.72 * 60 / 3600);
    list[1].rental.min_s = 0;
    list[1].rental.round_s = 50;
    estimate_make(&problem, NULL, &out);
    assert_near(out.usd.likely, 0.72 * 50 / 3600);
}

/* Held, min_bill=, round=, all in seconds; 0 is without. */
static void a_bill_is_a_multiple_that_is_not_too_short(void **state)
{
    (void)state;
    assert_near(estimate_billed_s(30, 0, 0), 30);
    assert_near(estimate_billed_s(0.25, 0, 1), 1);
    assert_near(estimate_billed_s(59.5, 60, 0), 60);
    assert_near(estimate_billed_s(60.5, 60, 0), 60.5);
    assert_near(estimate_billed_s(60, 0, 60), 60);
    assert_near(estimate_billed_s(60.5, 0, 60), 120);
    assert_near(estimate_billed_s(30, 60, 60), 60);
    assert_near(estimate_billed_s(30, 90, 60), 120); /* two minutes */
    assert_near(estimate_billed_s(130, 90, 60), 180);
    assert_near(estimate_billed_s(1, 3600, 1), 3600);
}

static void dollars_are_of_hosts_with_a_price(void **state)
{
    struct estimate_machine list[2] = { box, box };
    struct estimate_problem problem = problem_of(list, 2);
    struct estimate out;

    (void)state;
    list[1].has_rate = false;
    estimate_make(&problem, NULL, &out);
    assert_int_equal(out.priced, 1);
    assert_near(out.usd.likely, 0.72 * (103 + LAST_S) / 3600);
    list[0].has_rate = false;
    estimate_make(&problem, NULL, &out);
    assert_int_equal(out.priced, 0);
    assert_true(isnan(out.usd.low) && isnan(out.usd.high));
}

static void a_replay_waits_for_less(void **state)
{
    struct estimate_problem problem = problem_of(&box, 1);
    struct estimate out;

    (void)state;
    problem.times.speed_up = 2;
    estimate_make(&problem, NULL, &out);
    assert_near(out.wall_s.likely, 3 + 100 + 1.0525);
}

static void a_run_shows_how_much_longer_it_takes(void **state)
{
    struct estimate_ran ran = { .builds = 400,
                                .build_s = 800,
                                .slots = 4,
                                .measurements = 400,
                                .measure_s = 38,
                                .gpus = 1,
                                .wall_s = 2 * (200 + LAST_S) };
    struct estimate_problem problem = problem_of(&box, 1);
    struct estimate out;

    (void)state;
    assert_near(estimate_stretch(&ran), pow(2, 100.0 / 102));
    problem.times.stretch = 2;
    estimate_make(&problem, NULL, &out);
    assert_near(out.wall_s.likely, 3 + 2 * (200 + LAST_S));
    ran.builds = 4; /* one on each slot says less */
    ran.build_s = 8;
    ran.measurements = 4;
    ran.measure_s = 0.38;
    ran.wall_s = 2 * (2 + LAST_S);
    assert_near(estimate_stretch(&ran), pow(2, 1.0 / 3));
    ran.builds = ran.measurements = 0;
    assert_near(estimate_stretch(&ran), 0);
}

static void nothing_left_takes_its_start(void **state)
{
    struct estimate_problem problem = problem_of(&box, 1);
    struct estimate out;

    (void)state;
    problem.work = (struct estimate_work){ .builds = 0 };
    estimate_make(&problem, NULL, &out);
    assert_near(out.wall_s.likely, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slower_of_builds_and_measurements_counts),
        cmocka_unit_test(only_the_chosen_machines_count),
        cmocka_unit_test(the_source_makes_the_range),
        cmocka_unit_test(more_samples_make_the_range_narrower),
        cmocka_unit_test(what_a_host_does_not_say_has_a_range),
        cmocka_unit_test(a_host_that_built_slowly_has_fewer_hands),
        cmocka_unit_test(the_confirmation_and_the_boot_come_on_top),
        cmocka_unit_test(a_late_gpu_is_not_paid_for_the_builds),
        cmocka_unit_test(a_bill_is_a_multiple_that_is_not_too_short),
        cmocka_unit_test(dollars_are_of_hosts_with_a_price),
        cmocka_unit_test(a_replay_waits_for_less),
        cmocka_unit_test(a_run_shows_how_much_longer_it_takes),
        cmocka_unit_test(nothing_left_takes_its_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
