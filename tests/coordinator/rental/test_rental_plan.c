#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/rental/rental_plan.h"

/* The prices of an L4 with 4 cores, and of a builder with 16. */
#define L4                                                          \
    {                                                               \
        .is_rented = true, .measures = true, .slots = 4, .gpus = 1, \
        .rate = 0.68                                                \
    }
#define L4_THAT_BUILDS                                                   \
    {                                                                    \
        .is_rented = true, .measures = true, .builds = true, .slots = 4, \
        .gpus = 1, .rate = 0.68                                          \
    }
#define BUILDER                                                      \
    {                                                                \
        .is_rented = true, .builds = true, .slots = 16, .rate = 0.12 \
    }

static const struct rental_work screening = {
    .is_known = true,
    .builds = 320,
    .measurements = 320,
    .build_s = 2.3,
    .measurement_s = 0.0047,
    .is_built = true,
};

/* One letter a machine: 'x' is wanted, '.' is not. */
static const char *wants(enum rental_goal goal, const struct rental_work *work,
                         const struct rental_machine *machines, size_t n)
{
    static char text[16];
    bool wanted[15];

    rental_plan(goal, work, machines, n, wanted);
    for (size_t i = 0; i < n; i++)
        text[i] = wanted[i] ? 'x' : '.';
    text[n] = '\0';
    return text;
}

static void a_gpu_is_not_acquired_while_builders_build(void **state)
{
    const struct rental_machine fleet[] = { BUILDER, L4, L4 };

    (void)state;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 3),
                        "x..");
    assert_string_equal(wants(RENTAL_GOAL_BALANCED, &screening, fleet, 3),
                        "x..");
}

static void a_gpu_is_there_when_the_builds_end(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };
    struct rental_work work = screening;

    (void)state;
    fleet[0].is_held = true;
    fleet[0].held_s = 60;
    work.builds = 16; /* 2.3 s: less than it takes to set up the GPU's box */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "xx");
}

/* 400 measurements of 0.05 s take 20 s; the GPU's box is there after 3 s. */
static void measurements_end_with_the_builds(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };
    struct rental_work work = screening;

    (void)state;
    fleet[0].is_held = true;
    fleet[0].held_s = 60;
    work.measurements = 400;
    work.measurement_s = 0.05;
    work.is_measured = true;
    work.builds = 180; /* 26 s */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
    work.builds = 150; /* 22 s */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "xx");
}

/* The same before any was measured: 20 s are a guess, of which the prices let
 * the cheapest plan believe 3 s. */
static void a_guess_does_not_let_a_dear_gpu_wait(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };
    struct rental_work work = screening;

    (void)state;
    fleet[0].is_held = true;
    fleet[0].held_s = 60;
    work.measurements = 400;
    work.measurement_s = 0.05;
    work.builds = 150;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
    assert_string_equal(wants(RENTAL_GOAL_BALANCED, &work, fleet, 2), "x.");
    work.builds = 80; /* 11.5 s */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
    assert_string_equal(wants(RENTAL_GOAL_BALANCED, &work, fleet, 2), "xx");
    work.builds = 40; /* 5.75 s */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "xx");
}

static void a_gpu_boots_while_the_builder_does(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };
    struct rental_work work = screening; /* builds of 46 s */

    (void)state;
    fleet[0].boot_s = fleet[1].boot_s = 90;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
    fleet[0].is_held = true;
    fleet[0].held_s = 44; /* 49 s of its boot and setup are left: 95 s in all */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
    fleet[0].held_s = 47;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "xx");
    fleet[0].held_s = 44;
    fleet[0].is_busy = true; /* it booted faster than its line says */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "xx");
}

/* Builds of 92 s are a guess while the builder boots. */
static void a_guess_of_builds_is_halved_where_time_counts(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };
    struct rental_work work = screening;

    (void)state;
    fleet[0].boot_s = fleet[1].boot_s = 90;
    fleet[0].is_held = true;
    fleet[0].held_s = 50;
    work.builds = 640;
    assert_string_equal(wants(RENTAL_GOAL_BALANCED, &work, fleet, 2), "x.");
    work.is_built = false;
    assert_string_equal(wants(RENTAL_GOAL_BALANCED, &work, fleet, 2), "xx");
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
}

static void a_gpu_that_boots_slowly_is_acquired_sooner(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };
    struct rental_work work = screening;

    (void)state;
    fleet[1].boot_s = 90;
    work.builds = 700; /* 101 s */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
    work.builds = 600; /* 86 s */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "xx");
}

static void a_gpu_that_will_wait_long_for_builds_is_released(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };

    (void)state;
    fleet[1].is_held = true;
    fleet[1].held_s = 30;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "x.");
    fleet[1].min_s = 60; /* it is paid for, for 30 s more */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "x.");
    fleet[1].min_s = 90;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "xx");
}

static void a_gpu_is_kept_to_the_end_of_what_is_paid_for(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };

    (void)state;
    fleet[1].is_held = true;
    fleet[1].held_s = 70;
    fleet[1].round_s = 1;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "x.");
    fleet[1].round_s = 60; /* two minutes are paid for */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "xx");
    fleet[1].held_s = 30;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "x.");
    fleet[1].min_s = 61; /* again two minutes */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "xx");
}

static void work_that_runs_is_not_cut_off(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };

    (void)state;
    fleet[1].is_held = fleet[1].is_busy = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "xx");
}

/* Released, it would have to be acquired again to build the same. */
static void what_it_alone_has_built_is_not_given_away(void **state)
{
    const struct rental_work paced = { .is_known = true, .is_paced = true };
    struct rental_machine fleet[] = { L4, L4_THAT_BUILDS };

    (void)state;
    fleet[0].is_rented = false;
    fleet[1].is_held = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &paced, fleet, 2), "x.");
    fleet[1].serves = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &paced, fleet, 2), "xx");
    fleet[1].is_held = false;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &paced, fleet, 2), "x.");
}

/* It booted faster than its line says, and the builds are over. */
static void a_gpu_does_not_wait_for_a_builder_without_builds(void **state)
{
    const struct rental_work last = {
        .is_known = true, .measurements = 6, .build_s = 5, .measurement_s = 0.03
    };
    struct rental_machine fleet[] = { BUILDER, L4 };

    (void)state;
    fleet[0].is_held = true;
    fleet[0].boot_s = 300;
    fleet[0].held_s = 5;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &last, fleet, 2), "xx");
}

/* Another host could do the rest for nothing. */
static void work_on_a_machine_without_use_is_not_cut_off(void **state)
{
    const struct rental_work paced = { .is_known = true, .is_paced = true };
    struct rental_machine fleet[] = { L4, L4 };

    (void)state;
    fleet[0].is_rented = false;
    fleet[1].is_held = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &paced, fleet, 2), "x.");
    fleet[1].is_busy = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &paced, fleet, 2), "xx");
}

static void without_a_builder_the_gpu_boxes_build(void **state)
{
    const struct rental_machine fleet[] = { L4_THAT_BUILDS, L4_THAT_BUILDS };

    (void)state;
    assert_string_equal(wants(RENTAL_GOAL_FASTEST, &screening, fleet, 2), "xx");
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        "x.");
}

static void the_fastest_plan_uses_what_is_there(void **state)
{
    const struct rental_machine fleet[] = { BUILDER, L4_THAT_BUILDS,
                                            L4_THAT_BUILDS };

    (void)state;
    assert_string_equal(wants(RENTAL_GOAL_FASTEST, &screening, fleet, 3),
                        "xxx");
}

static void a_gpu_box_that_could_build_comes_late_as_well(void **state)
{
    const struct rental_machine fleet[] = { BUILDER, L4_THAT_BUILDS,
                                            L4_THAT_BUILDS };

    (void)state;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 3),
                        "x..");
}

static void a_gpu_box_with_most_of_the_cores_builds(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4_THAT_BUILDS };

    (void)state;
    fleet[0].slots = 1;
    fleet[1].slots = 64;
    assert_string_equal(wants(RENTAL_GOAL_BALANCED, &screening, fleet, 2),
                        "xx");
}

static void a_gpu_tells_its_facts_before_there_is_a_plan(void **state)
{
    const struct rental_machine fleet[] = { BUILDER, L4, L4 };
    const struct rental_work nothing = { .is_known = false };

    (void)state;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &nothing, fleet, 3), ".x.");
}

static void many_measurements_are_worth_more_gpus(void **state)
{
    const struct rental_machine fleet[] = { L4, L4, L4 };
    const struct rental_work work = { .is_known = true,
                                      .measurements = 10000,
                                      .build_s = 1,
                                      .measurement_s = 0.5 };

    (void)state;
    assert_string_equal(wants(RENTAL_GOAL_FASTEST, &work, fleet, 3), "xxx");
    assert_string_equal(wants(RENTAL_GOAL_BALANCED, &work, fleet, 3), "xxx");
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 3), "x..");
}

static void the_last_measurements_fit_fewer_gpus(void **state)
{
    struct rental_machine fleet[] = { L4, L4, L4 };
    const struct rental_work work = {
        .is_known = true, .measurements = 2, .build_s = 1, .measurement_s = 0.5
    };

    (void)state;
    for (int i = 0; i < 3; i++)
        fleet[i].is_held = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 3), "x..");
}

static void a_confirmation_keeps_what_it_has(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4, L4 };
    const struct rental_work work = { .is_known = true, .is_paced = true };

    (void)state;
    fleet[0].is_held = fleet[2].is_held = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 3), "x.x");
}

static void a_machine_that_is_lost_is_not_wanted(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4, L4 };
    const struct rental_work nothing = { .is_known = false };

    (void)state;
    fleet[1].is_lost = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &nothing, fleet, 3), "..x");
}

static void a_machine_that_is_there_is_used(void **state)
{
    struct rental_machine fleet[] = { BUILDER, L4 };
    const struct rental_work work = { .is_known = true };

    (void)state;
    fleet[0].is_rented = false;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
}

/* A GPU box that cannot build, without anything that builds, is no better than
 * nothing; the sweep must not stop there. */
static void a_box_that_does_not_help_alone_hides_no_other(void **state)
{
    struct rental_machine fleet[] = { L4, L4, L4_THAT_BUILDS };

    (void)state;
    assert_string_equal(wants(RENTAL_GOAL_FASTEST, &screening, fleet, 3),
                        "xxx");
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 3),
                        "..x");
    fleet[0].is_held = true; /* it told its facts */
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 3),
                        "..x");
}

static void
a_machine_that_was_there_and_is_lost_counts_for_nothing(void **state)
{
    struct rental_machine fleet[] = { L4_THAT_BUILDS, L4_THAT_BUILDS };
    const struct rental_work work = { .is_known = false };

    (void)state;
    fleet[0].is_rented = false;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), "x.");
    fleet[0].is_lost = true;
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &work, fleet, 2), ".x");
    assert_string_equal(wants(RENTAL_GOAL_CHEAPEST, &screening, fleet, 2),
                        ".x");
}

static void a_goal_has_a_name(void **state)
{
    enum rental_goal goal;
    struct err err;

    (void)state;
    assert_int_equal(rental_goal_read("cheapest", &goal, &err), 0);
    assert_string_equal(rental_goal_name(goal), "cheapest");
    assert_int_equal(rental_goal_read("cheap", &goal, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "--plan=cheap: choose cheapest, balanced or fastest");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_is_not_acquired_while_builders_build),
        cmocka_unit_test(a_gpu_is_there_when_the_builds_end),
        cmocka_unit_test(measurements_end_with_the_builds),
        cmocka_unit_test(a_guess_does_not_let_a_dear_gpu_wait),
        cmocka_unit_test(a_gpu_boots_while_the_builder_does),
        cmocka_unit_test(a_guess_of_builds_is_halved_where_time_counts),
        cmocka_unit_test(a_gpu_that_boots_slowly_is_acquired_sooner),
        cmocka_unit_test(a_gpu_that_will_wait_long_for_builds_is_released),
        cmocka_unit_test(a_gpu_is_kept_to_the_end_of_what_is_paid_for),
        cmocka_unit_test(work_that_runs_is_not_cut_off),
        cmocka_unit_test(what_it_alone_has_built_is_not_given_away),
        cmocka_unit_test(work_on_a_machine_without_use_is_not_cut_off),
        cmocka_unit_test(a_gpu_does_not_wait_for_a_builder_without_builds),
        cmocka_unit_test(without_a_builder_the_gpu_boxes_build),
        cmocka_unit_test(the_fastest_plan_uses_what_is_there),
        cmocka_unit_test(a_gpu_box_that_could_build_comes_late_as_well),
        cmocka_unit_test(a_gpu_box_with_most_of_the_cores_builds),
        cmocka_unit_test(a_gpu_tells_its_facts_before_there_is_a_plan),
        cmocka_unit_test(many_measurements_are_worth_more_gpus),
        cmocka_unit_test(the_last_measurements_fit_fewer_gpus),
        cmocka_unit_test(a_confirmation_keeps_what_it_has),
        cmocka_unit_test(a_machine_that_is_lost_is_not_wanted),
        cmocka_unit_test(a_machine_that_is_there_is_used),
        cmocka_unit_test(a_box_that_does_not_help_alone_hides_no_other),
        cmocka_unit_test(
            a_machine_that_was_there_and_is_lost_counts_for_nothing),
        cmocka_unit_test(a_goal_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
