#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/schedule/sched_leases.h"

static const struct {
    enum sched_purpose purpose;
    const char *name;
    bool tool;
} purposes[] = {
    { SCHED_SCREEN, "screen", false },    { SCHED_AGAIN, "screen", false },
    { SCHED_CANARY, "canary", false },    { SCHED_CONFIRM, "confirm", false },
    { SCHED_EXTERNAL, "external", true }, { SCHED_PROFILE, "profile", true },
};

static void each_purpose_has_a_name_and_some_run_a_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(purposes) / sizeof(purposes[0]); i++) {
        assert_string_equal(sched_purpose_name(purposes[i].purpose),
                            purposes[i].name);
        assert_int_equal(sched_is_tool(purposes[i].purpose), purposes[i].tool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_purpose_has_a_name_and_some_run_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
