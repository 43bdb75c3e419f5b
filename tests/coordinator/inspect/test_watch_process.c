#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "common/clock.h"
#include "coordinator/inspect/watch_process.h"

static void a_process_is_known_by_when_it_began(void **state)
{
    (void)state;
    assert_true(watch_process_is_there(getpid(), clock_utc_ns()));
    assert_false(watch_process_is_there(
        getpid(), clock_utc_ns() - 3600 * NS_PER_S)); /* not as old as that */
}

static void a_pid_that_is_free_is_no_process(void **state)
{
    (void)state;
    assert_false(watch_process_is_there(0, clock_utc_ns()));
    assert_false(watch_process_is_there(INT64_C(1) << 40, clock_utc_ns()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_known_by_when_it_began),
        cmocka_unit_test(a_pid_that_is_free_is_no_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
