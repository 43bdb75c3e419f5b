#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "common/clock.h"
#include "coordinator/state/progress.h"

static void a_line_says_what_is_done_and_what_is_left(void **state)
{
    const struct progress_facts facts = { .total = 48,
                                          .settled = 12,
                                          .correct = 10,
                                          .building = 3,
                                          .measuring = 1,
                                          .hosts_ready = 2,
                                          .hosts = 3,
                                          .usd = 0.0125 };
    char line[256];

    (void)state;
    progress_line(&facts, 65 * NS_PER_S, 0.5, line, sizeof(line));
    assert_string_equal(line, "12/48 measured  10 correct  2 failed  "
                              "3 building  1 measuring  2/3 hosts  $0.0125  "
                              "1:05, about 1:12 left");
}

static void an_unpriced_sweep_shows_no_dollars(void **state)
{
    const struct progress_facts facts = { .total = 2, .hosts = 1, .usd = NAN };
    char line[256];

    (void)state;
    progress_line(&facts, 3725 * NS_PER_S, 0, line, sizeof(line));
    assert_string_equal(line, "0/2 measured  0 correct  0 failed  0 building  "
                              "0 measuring  0/1 hosts  1:02:05");
}

static void builds_alone_are_counted_as_builds(void **state)
{
    const struct progress_facts facts = { .builds_only = true,
                                          .total = 48,
                                          .settled = 12,
                                          .correct = 10,
                                          .building = 3,
                                          .usd = NAN };
    char line[256];

    (void)state;
    progress_line(&facts, 12 * NS_PER_S, 1, line, sizeof(line));
    assert_string_equal(line, "10/48 built  2 failed  3 building  0:12, about "
                              "0:36 left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_alone_are_counted_as_builds),
        cmocka_unit_test(a_line_says_what_is_done_and_what_is_left),
        cmocka_unit_test(an_unpriced_sweep_shows_no_dollars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
