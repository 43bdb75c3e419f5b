#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paces_of_another_sweep_stand_in_for_those_of_none),
        cmocka_unit_test(a_pace_that_no_sweep_knows_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
