#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/artifacts/kept_artifacts.h"
#include "coordinator/reserve/reserve.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static void paces_of_another_sweep_stand_in_for_those_of_none(void **state)
{
    static const struct reserve_times learnt = {
        .start_s = 4, .build_s = 2.5, .measure_s = 0.125, .external_s = 9
    };
    struct rig rig;

    (void)state;
    rig_open_bare(&rig, 1);
    rig.options.caps.learnt = &learnt;
    rig_begin(&rig);
    assert_true(rig.sweep.fleet.build_s == 2.5);
    assert_true(rig.sweep.fleet.measurement_s == 0.125);
    rig_close(&rig);
}

static void a_pace_that_no_sweep_knows_is_none(void **state)
{
    struct reserve_times learnt = RESERVE_TIMES_UNKNOWN;
    struct rig rig;

    (void)state;
    learnt.measure_s = 0.5;
    rig_open_bare(&rig, 1);
    rig.options.caps.learnt = &learnt;
    rig_begin(&rig);
    assert_false(rig.sweep.fleet.build_s > 0);
    assert_true(rig.sweep.fleet.measurement_s == 0.5);
    rig_close(&rig);
}

/* How long a build takes, as is known before the first one. */
static double build_s_before(double max_hours, double budget_usd)
{
    static const struct reserve_times learnt = {
        .start_s = 4, .build_s = 2.5, .measure_s = 0.125, .external_s = 9
    };
    struct rig rig;
    double build_s;

    rig_open_bare(&rig, 1);
    rig.options.caps.learnt = &learnt;
    rig.options.caps.max_hours = max_hours;
    rig.options.caps.budget_usd = budget_usd;
    rig_begin(&rig);
    build_s = rig.sweep.fleet.past.build_s;
    assert_true(rig.sweep.fleet.past_builds == (build_s == 2.5));
    rig_close(&rig);
    return build_s;
}

/* To keep something back of it. */
static void only_a_cap_asks_how_long_things_take(void **state)
{
    const struct reserve_times otherwise = reserve_times_default(false);

    (void)state;
    assert_true(otherwise.build_s != 2.5);
    assert_true(build_s_before(0, 0) == otherwise.build_s);
    assert_true(build_s_before(1, 0) == 2.5);
    assert_true(build_s_before(0, 1) == 2.5);
}

static int begun;

static int choose_nothing(struct sweep *sweep, struct pass *pass,
                          int64_t passed, struct err *err)
{
    (void)sweep;
    (void)passed;
    (void)err;
    pass->state = &begun;
    return 0;
}

static int begin(struct sweep *sweep, struct pass *pass, struct err *err)
{
    (void)pass;
    (void)err;
    assert_non_null(sweep->work.plan);
    begun++;
    return 0;
}

static void passes_begin_once_there_is_a_plan(void **state)
{
    static const struct pass_ops ops = { .start = { .choose = choose_nothing,
                                                    .begin = begin } };
    static const struct pass_ops *const passes[] = { &ops, NULL };
    struct rig rig;

    (void)state;
    begun = 0;
    rig_open_bare(&rig, 1);
    pass_init(&rig.sweep.passes, passes);
    rig_begin(&rig);
    assert_int_equal(begun, 1);
    rig_close(&rig);
}

/* As work of a host without a GPU: the one that is busy has one ahead. */
static void what_the_coordinator_keeps_is_handed_out_ahead(void **state)
{
    struct sched_lease lease;
    struct sched *sched;
    struct rig rig;

    (void)state;
    rig_open(&rig, 1);
    sched = rig.sweep.work.sched;
    sched_built_at(sched, 30, kept_artifacts_home(&rig.sweep));
    for (int unit = 0; unit < 3; unit++)
        sched_built_at(sched, unit, kept_artifacts_home(&rig.sweep));
    sched_host_up(sched, 0, 0, 1, 2);
    assert_true(sched_next(sched, &lease));
    assert_true(sched_next(sched, &lease));
    assert_int_equal(lease.stage, JOB_MEASURE);
    assert_false(sched_next(sched, &lease));
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paces_of_another_sweep_stand_in_for_those_of_none),
        cmocka_unit_test(a_pace_that_no_sweep_knows_is_none),
        cmocka_unit_test(only_a_cap_asks_how_long_things_take),
        cmocka_unit_test(passes_begin_once_there_is_a_plan),
        cmocka_unit_test(what_the_coordinator_keeps_is_handed_out_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
