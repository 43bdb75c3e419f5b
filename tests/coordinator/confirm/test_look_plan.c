#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/confirm/look_plan.h"
#include "coordinator/confirm/sequential.h"

static struct confirmation of(size_t candidates)
{
    return (struct confirmation){ .n_running = candidates,
                                  .blocks = 20,
                                  .rules = VERDICT_RULES };
}

static void looks_are_those_that_were_asked_for(void **state)
{
    struct confirmation c = of(3);

    (void)state;
    look_plan_set(&c, &(struct confirmation_looks){ 2, 70, true });
    assert_int_equal(c.looks.group, 2);
    assert_int_equal(c.looks.most, 70);
    assert_true(c.looks.over_all);
    assert_in_range(look_plan_first(&c), 8, 16);
}

static void a_cap_that_can_show_nothing_is_raised(void **state)
{
    struct confirmation c = of(11);

    (void)state;
    look_plan_set(&c, &(struct confirmation_looks){ 2, 4, false });
    assert_in_range(c.looks.most, 8, 20);
    assert_in_range(look_plan_first(&c), 8, c.looks.most);
}

/* One look, at the end. */
static void the_first_look_is_not_after_the_cap(void **state)
{
    struct confirmation c = of(3);

    (void)state;
    look_plan_set(&c, &(struct confirmation_looks){ 60, 40, false });
    assert_int_equal(look_plan_first(&c), 40);
}

/* The external baseline is the candidate after the others, and one more is
 * compared with it: the baseline. */
static void looks_ask_about_the_external_baseline_of_the_rule(void **state)
{
    struct confirmation c = of(3);
    struct confirmation without = of(3);
    struct sequential_design design;
    char against[] = "flash";

    (void)state;
    look_plan_set(&without, &(struct confirmation_looks){ 2, 70, true });
    c.against = against;
    look_plan_design(&c, 5, &design);
    assert_int_equal(design.candidates, 5); /* without looks */
    assert_int_equal(design.over, 0);
    look_plan_set(&c, &(struct confirmation_looks){ 2, 70, true });
    assert_int_equal(c.looks.group, 2);
    assert_int_equal(confirmation_blocks_max(&c), 70);
    look_plan_design(&c, 5, &design);
    assert_int_equal(design.candidates, 6);
    assert_int_equal(design.over, 5);
    look_plan_design(&c, 3, &design);
    assert_int_equal(look_plan_first(&c), sequential_first(&design));
    assert_true(look_plan_first(&c) >= look_plan_first(&without));
}

static void looks_decide_by_the_plan_of_the_confirmation(void **state)
{
    struct confirmation c = of(3);
    struct sequential_design design;

    (void)state;
    c.n_shapes = 2;
    c.samples = 4;
    look_plan_set(&c, &(struct confirmation_looks){ 2, 70, true });
    look_plan_design(&c, c.n_running, &design);
    assert_int_equal(design.candidates, 3);
    assert_int_equal(design.shapes, 2);
    assert_int_equal(design.samples, 4);
    assert_int_equal(design.group, 2);
    assert_int_equal(design.most, 70);
    assert_true(design.over_all);
    assert_true(design.rules.target == c.rules.target);
}

/* 3,000 launches of each candidate in the fewest blocks, rounded up. */
static void
a_measurement_repeats_its_share_of_the_checked_launches(void **state)
{
    struct confirmation c = of(3);

    (void)state;
    assert_int_equal(look_plan_repeats(&c), 150);
    c.blocks = 7;
    assert_int_equal(look_plan_repeats(&c), 429);
    c.blocks = 20;
    look_plan_set(&c, &(struct confirmation_looks){ 10, 70, false });
    assert_int_equal(look_plan_repeats(&c),
                     (2999 + look_plan_first(&c)) / look_plan_first(&c));
    assert_in_range(look_plan_repeats(&c), 151, 600);
    c.kind = CONFIRMATION_BENCH;
    assert_int_equal(look_plan_repeats(&c), 0);
}

static void a_baseline_twice_as_slow_repeats_less(void **state)
{
    (void)state;
    assert_int_equal(look_plan_baseline_repeats(300, 60e-6, 10e-6), 50);
    assert_int_equal(look_plan_baseline_repeats(300, 19e-6, 10e-6), 300);
    assert_int_equal(look_plan_baseline_repeats(300, 5e-6, 10e-6), 300);
    assert_int_equal(look_plan_baseline_repeats(300, NAN, 10e-6), 300);
    assert_int_equal(look_plan_baseline_repeats(300, 60e-6, NAN), 300);
    assert_int_equal(look_plan_baseline_repeats(0, 60e-6, 10e-6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_are_those_that_were_asked_for),
        cmocka_unit_test(a_cap_that_can_show_nothing_is_raised),
        cmocka_unit_test(the_first_look_is_not_after_the_cap),
        cmocka_unit_test(looks_ask_about_the_external_baseline_of_the_rule),
        cmocka_unit_test(looks_decide_by_the_plan_of_the_confirmation),
        cmocka_unit_test(
            a_measurement_repeats_its_share_of_the_checked_launches),
        cmocka_unit_test(a_baseline_twice_as_slow_repeats_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
