#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/link/commit_pace.h"

#define NOW_NS (5 * NS_PER_S)
#define MS NS_PER_MS

static struct commit_pace committed_at(int64_t now_ns)
{
    struct commit_pace pace = commit_pace_new();

    commit_pace_committed(&pace, now_ns);
    return pace;
}

static void nothing_is_never_committed(void **state)
{
    struct commit_pace pace = commit_pace_new();

    (void)state;
    assert_false(commit_pace_is_due(&pace, NOW_NS));
    assert_int_equal(commit_pace_wait_ns(&pace, false, false, 100 * MS, NOW_NS),
                     100 * MS);
}

static void a_row_alone_does_not_wait(void **state)
{
    struct commit_pace first = commit_pace_new();
    struct commit_pace later = committed_at(NOW_NS - 20 * MS);

    (void)state;
    commit_pace_row(&first, false, 0);
    assert_true(commit_pace_is_due(&first, 0));
    assert_int_equal(commit_pace_wait_ns(&first, false, false, 100 * MS, 0), 0);
    commit_pace_row(&later, false, NOW_NS);
    assert_true(commit_pace_is_due(&later, NOW_NS));
}

static void rows_wait_20_ms_after_a_commit(void **state)
{
    struct commit_pace pace = committed_at(NOW_NS);

    (void)state;
    commit_pace_row(&pace, false, NOW_NS + 3 * MS);
    commit_pace_row(&pace, false, NOW_NS + 5 * MS);
    assert_false(commit_pace_is_due(&pace, NOW_NS + 20 * MS - 1));
    assert_true(commit_pace_is_due(&pace, NOW_NS + 20 * MS));
    assert_int_equal(
        commit_pace_wait_ns(&pace, false, false, 100 * MS, NOW_NS + 5 * MS),
        15 * MS);
    commit_pace_committed(&pace, NOW_NS + 21 * MS);
    assert_false(commit_pace_is_due(&pace, NOW_NS + 60 * MS));
    assert_int_equal(pace.n_commits, 2);
}

static void many_rows_do_not_wait(void **state)
{
    struct commit_pace pace = committed_at(NOW_NS);

    (void)state;
    for (int i = 0; i < 255; i++)
        commit_pace_row(&pace, i % 2, NOW_NS);
    assert_false(commit_pace_is_due(&pace, NOW_NS));
    commit_pace_row(&pace, true, NOW_NS);
    assert_true(commit_pace_is_due(&pace, NOW_NS));
}

static void patient_rows_wait_a_second_or_go_with_others(void **state)
{
    struct commit_pace pace = committed_at(NOW_NS);

    (void)state;
    commit_pace_row(&pace, true, NOW_NS + 7 * MS);
    assert_false(commit_pace_is_due(&pace, NOW_NS + 1006 * MS));
    assert_true(commit_pace_is_due(&pace, NOW_NS + 1007 * MS));
    commit_pace_row(&pace, false, NOW_NS + 9 * MS);
    assert_true(commit_pace_is_due(&pace, NOW_NS + 20 * MS));
}

static void leases_wait_less_if_something_is_idle(void **state)
{
    struct commit_pace pace = committed_at(NOW_NS), first = commit_pace_new();

    (void)state;
    assert_true(commit_pace_may_lease(&first, false, 0));
    assert_false(commit_pace_may_lease(&pace, false, NOW_NS + 19 * MS));
    assert_true(commit_pace_may_lease(&pace, false, NOW_NS + 20 * MS));
    assert_false(commit_pace_may_lease(&pace, true, NOW_NS + 3 * MS));
    assert_true(commit_pace_may_lease(&pace, true, NOW_NS + 4 * MS));
    assert_int_equal(
        commit_pace_wait_ns(&pace, true, false, 100 * MS, NOW_NS + 6 * MS),
        14 * MS);
    assert_int_equal(
        commit_pace_wait_ns(&pace, true, true, 100 * MS, NOW_NS + 6 * MS), 0);
    assert_int_equal(
        commit_pace_wait_ns(&pace, false, true, 10 * MS, NOW_NS + 6 * MS),
        10 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_never_committed),
        cmocka_unit_test(a_row_alone_does_not_wait),
        cmocka_unit_test(rows_wait_20_ms_after_a_commit),
        cmocka_unit_test(many_rows_do_not_wait),
        cmocka_unit_test(patient_rows_wait_a_second_or_go_with_others),
        cmocka_unit_test(leases_wait_less_if_something_is_idle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
