#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "worker/agent/liveness.h"

#define S NS_PER_S

static int64_t ends(int64_t heard_s, int64_t beat_s, int64_t linger_s)
{
    struct liveness liveness = { heard_s * S, beat_s * S, linger_s * S };

    return liveness_ends_ns(&liveness) / S;
}

static void it_lingers_once_three_heartbeats_were_missed(void **state)
{
    (void)state;
    assert_int_equal(ends(0, 5, 90), 105);
    assert_int_equal(ends(1000, 5, 90), 1105);
    assert_int_equal(ends(1000, 1, 10), 1013);
}

/* The next heartbeat is due at 1005, and may be late. */
static void a_linger_below_the_heartbeat_ends_nothing_between_two(void **state)
{
    (void)state;
    assert_int_equal(ends(1000, 5, 1), 1016);
    assert_int_equal(ends(1000, 5, 0), 1015);
}

/* However long the linger time of the coordinator that does not come (F8). */
static void one_that_was_never_invited_does_not_linger(void **state)
{
    struct liveness liveness = liveness_uninvited(1000 * S);

    (void)state;
    assert_int_equal(liveness_ends_ns(&liveness) / S, 1015);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_lingers_once_three_heartbeats_were_missed),
        cmocka_unit_test(one_that_was_never_invited_does_not_linger),
        cmocka_unit_test(a_linger_below_the_heartbeat_ends_nothing_between_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
