#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/login_limit.h"

static void the_ninth_login_waits_for_a_leave(void **state)
{
    struct login_limit *gate = login_limit_new();
    struct host host = { .address = "gpu7", .port = 22 };

    (void)state;
    for (int i = 0; i < 8; i++)
        assert_true(login_limit_enter(gate, &host));
    assert_false(login_limit_enter(gate, &host));
    login_limit_leave(gate, &host);
    assert_true(login_limit_enter(gate, &host));
    login_limit_free(gate);
}

static void endpoints_are_counted_apart(void **state)
{
    struct login_limit *gate = login_limit_new();
    struct host one = { .address = "gpu7" }, other = one;

    (void)state;
    other.port = 2222;
    for (int i = 0; i < 8; i++)
        assert_true(login_limit_enter(gate, &one));
    assert_false(login_limit_enter(gate, &one));
    assert_true(login_limit_enter(gate, &other));
    login_limit_free(gate);
}

static void hosts_behind_one_jump_host_share_it(void **state)
{
    struct login_limit *gate = login_limit_new();
    struct host one = { .address = "a", .jump = "gate" };
    struct host other = { .address = "b", .jump = "gate" };

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_true(login_limit_enter(gate, &one));
        assert_true(login_limit_enter(gate, &other));
    }
    assert_false(login_limit_enter(gate, &one));
    assert_false(login_limit_enter(gate, &other));
    login_limit_free(gate);
}

static void this_machine_is_not_counted(void **state)
{
    struct login_limit *gate = login_limit_new();
    struct host host = { .local = true };

    (void)state;
    for (int i = 0; i < 20; i++)
        assert_true(login_limit_enter(gate, &host));
    login_limit_leave(gate, &host);
    login_limit_free(gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ninth_login_waits_for_a_leave),
        cmocka_unit_test(endpoints_are_counted_apart),
        cmocka_unit_test(hosts_behind_one_jump_host_share_it),
        cmocka_unit_test(this_machine_is_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
