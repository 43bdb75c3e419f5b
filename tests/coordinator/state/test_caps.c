#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/state/caps.h"
#include "coordinator/text/exit_code.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static const struct reserve_pass confirmation = {
    .contestants = 2, .shapes = 1, .blocks = 3, .gpus = 1
};

/* Nine of thirty configurations are settled after nine seconds, and the sweep
 * may last for a minute. */
static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 1);
    progress_free(rig.sweep.reactor.progress);
    rig.sweep.reactor.progress = progress_new(false);
    rig_listen(&rig);
    rig_ready(&rig, 0, 1, 1);
    assert_true(rig_dispatch(&rig) > 0);
    for (int unit = 0; unit < 9; unit++)
        tried_count(&rig.sweep.work.count.tried, rig.sweep.work.plan, unit, 0,
                    (struct tally_unit){ 1, 1 }, 2e-3);
    rig.options.caps.max_hours = 60.0 / 3600;
    rig.options.caps.reserve = &confirmation;
    rig.sweep.reactor.started_ns = rig.now_ns;
    rig.now_ns += 9 * NS_PER_S;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* What was said before, and then. */
static int says(int before)
{
    rig.sweep.reactor.said_fit = before;
    caps_check(&rig.sweep, rig.now_ns);
    return rig.sweep.reactor.said_fit;
}

static void what_fits_is_said_again_when_it_is_twice_or_half_of_it(void **state)
{
    int fit = says(0);

    (void)state;
    assert_int_equal(fit, 30);
    assert_int_equal(says(2 * fit - 1), 2 * fit - 1);
    assert_int_equal(says(2 * fit), fit);
    assert_int_equal(says(fit / 2 + 1), fit / 2 + 1);
    assert_int_equal(says(fit / 2), fit);
    assert_non_null(strstr(rig_heard(&rig),
                           "at this pace all 30 of 30 configurations fit, and "
                           "then their confirmation"));
}

static void a_cap_that_is_reached_ends_the_sweep(void **state)
{
    (void)state;
    rig.now_ns += 50 * NS_PER_S;
    caps_check(&rig.sweep, rig.now_ns);
    assert_false(rig.sweep.reactor.ending);
    rig.now_ns += NS_PER_S;
    caps_check(&rig.sweep, rig.now_ns);
    assert_true(rig.sweep.reactor.ending);
    assert_int_equal(rig.sweep.reactor.exit_code, EXIT_CAP);
    assert_string_equal(rig.sweep.reactor.fatal.text,
                        "the cap of 0.0166667 hours is reached");
}

static double three_more(void)
{
    return 3;
}

static void without_a_cap_nothing_ends_it(void **state)
{
    (void)state;
    rig.options.caps.max_hours = 0;
    rig.options.caps.more_usd = three_more; /* to none */
    rig.list[0].has_rate = true;
    assert_true(reactor_usd(&rig.sweep) == 0);
    assert_true(reactor_budget_usd(&rig.sweep) == 0);
    caps_check(&rig.sweep, rig.now_ns);
    assert_null(rig.sweep.reactor.ending);
    rig.options.caps.budget_usd = 2;
    assert_true(reactor_budget_usd(&rig.sweep) == 5);
}

static void a_budget_is_spent_with_its_last_cent(void **state)
{
    (void)state;
    rig.options.caps.reserve = NULL;
    rig.options.caps.usd_before = 5;
    rig.options.caps.budget_usd = 5.25;
    caps_check(&rig.sweep, rig.now_ns);
    assert_null(rig.sweep.reactor.ending);
    rig.options.caps.budget_usd = 5;
    caps_check(&rig.sweep, rig.now_ns);
    assert_non_null(rig.sweep.reactor.ending);
    assert_int_equal(rig.sweep.reactor.exit_code, EXIT_CAP);
    assert_string_equal(rig.sweep.reactor.fatal.text,
                        "the budget of $5 is spent");
}

/* Count again: the first so many are settled. */
static void try_again(int units)
{
    tried_fini(&rig.sweep.work.count.tried);
    for (int unit = 0; unit < units; unit++)
        tried_count(&rig.sweep.work.count.tried, rig.sweep.work.plan, unit, 0,
                    (struct tally_unit){ 1, 1 }, 2e-3);
}

static void what_fits_is_said_after_eight(void **state)
{
    (void)state;
    try_again(7);
    assert_int_equal(says(0), 0);
    try_again(8);
    assert_true(says(0) > 0);
    assert_null(strstr(rig_heard(&rig), "too little to confirm"));
}

static void with_the_baseline_alone_nothing_is_kept_back(void **state)
{
    (void)state;
    try_again(1);
    rig.now_ns += 50 * NS_PER_S;
    caps_check(&rig.sweep, rig.now_ns);
    assert_false(rig.sweep.reactor.said_none);
    try_again(2);
    caps_check(&rig.sweep, rig.now_ns);
    assert_true(rig.sweep.reactor.said_none || rig.sweep.reactor.closed_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_fits_is_said_again_when_it_is_twice_or_half_of_it, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(without_a_cap_nothing_ends_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_budget_is_spent_with_its_last_cent,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_fits_is_said_after_eight, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            with_the_baseline_alone_nothing_is_kept_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cap_that_is_reached_ends_the_sweep,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
