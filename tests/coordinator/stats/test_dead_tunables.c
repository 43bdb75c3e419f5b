#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/dead_tunables.h"

static const size_t two_by_three[] = { 2, 3 };

static void an_axis_that_changes_no_code_is_dead(void **state)
{
    /* numbers are 3 * first + second; only the second axis changes the code */
    struct dead_tunables_point points[] = {
        { 0, 'a' }, { 1, 'b' }, { 2, 'c' }, { 3, 'a' }, { 4, 'b' }, { 5, 'c' }
    };
    enum dead_tunables_verdict out[2];

    (void)state;
    dead_tunables_axes(two_by_three, 2, points, 6, out);
    assert_int_equal(out[0], DEAD_TUNABLES_YES);
    assert_int_equal(out[1], DEAD_TUNABLES_NO);
}

static void one_pair_that_differs_keeps_it_alive(void **state)
{
    struct dead_tunables_point points[] = {
        { 0, 'a' }, { 1, 'a' }, { 2, 'a' }, { 3, 'a' }, { 4, 'a' }, { 5, 'b' }
    };
    enum dead_tunables_verdict out[2];

    (void)state;
    dead_tunables_axes(two_by_three, 2, points, 6, out);
    assert_int_equal(out[0], DEAD_TUNABLES_NO);
    assert_int_equal(out[1], DEAD_TUNABLES_NO);
}

static void without_a_pair_nothing_is_known(void **state)
{
    struct dead_tunables_point points[] = { { 0, 'a' }, { 4, 'a' } };
    enum dead_tunables_verdict out[2];

    (void)state;
    dead_tunables_axes(two_by_three, 2, points, 2, out);
    assert_int_equal(out[0], DEAD_TUNABLES_UNKNOWN);
    assert_int_equal(out[1], DEAD_TUNABLES_UNKNOWN);
    dead_tunables_axes(two_by_three, 2, points, 0, out);
    assert_int_equal(out[0], DEAD_TUNABLES_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_axis_that_changes_no_code_is_dead),
        cmocka_unit_test(one_pair_that_differs_keeps_it_alive),
        cmocka_unit_test(without_a_pair_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
