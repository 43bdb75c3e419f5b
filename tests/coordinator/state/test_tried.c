#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "coordinator/live/progress_facts.h"
#include "coordinator/state/tried.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct tried tried;

static int set_up(void **state)
{
    (void)state;
    rig_open(&rig, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tried_fini(&tried);
    rig_close(&rig);
    return 0;
}

static void count(int unit, int settled, int correct, double median_s)
{
    tried_count(&tried, rig.sweep.work.plan, unit, 0,
                (struct tally_unit){ settled, correct }, median_s);
}

static double best_s(void)
{
    return tried_best(&tried, rig.sweep.work.plan).s;
}

static void the_fastest_correct_one_is_the_best(void **state)
{
    (void)state;
    assert_true(isnan(best_s()));
    count(0, 1, 1, 4);
    count(1, 1, 0, 1);
    count(2, 1, 1, 3);
    count(3, 1, 1, 5);
    assert_float_equal(best_s(), 3, 0);
    assert_int_equal(tried.best, 2);
    assert_int_equal(tried.tally.tried, 4);
    assert_int_equal(tried.tally.correct, 3);
    assert_float_equal(tried_best(&tried, rig.sweep.work.plan).baseline_s, 4,
                       0);
}

static void of_two_as_fast_the_first_is_the_best(void **state)
{
    (void)state;
    count(2, 1, 1, NAN); /* it has no time */
    assert_true(isnan(best_s()));
    count(0, 1, 1, 3);
    count(1, 1, 1, 3);
    assert_int_equal(tried.best, 0);
    assert_float_equal(best_s(), 3, 0);
}

/* A repetition takes the place of what it repeats. */
static void a_repetition_may_end_the_best(void **state)
{
    (void)state;
    count(0, 1, 1, 4);
    count(1, 1, 1, 3);
    count(1, 0, 0, 6);
    assert_int_equal(tried.best, 0);
    count(1, 0, 0, 2);
    assert_int_equal(tried.best, 1);
    count(1, 0, -1, 1);
    assert_int_equal(tried.best, 0);
    assert_int_equal(tried.tally.correct, 1);
    count(0, 0, -1, (double)NAN);
    assert_true(isnan(best_s()));
    assert_int_equal(tried.tally.tried, 2);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_fastest_correct_one_is_the_best),
        CASE(of_two_as_fast_the_first_is_the_best),
        CASE(a_repetition_may_end_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
