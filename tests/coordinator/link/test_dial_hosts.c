#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/link/dial_hosts.h"

/* The second host is behind the end of the list. */
static void hosts_that_dial_back_are_found(void **state)
{
    struct host list[2] = { { .role = HOST_BOTH }, { .dial.back = true } };
    struct hosts hosts = { .list = list, .n = 1 };

    (void)state;
    assert_false(dial_hosts_any(&hosts));
    hosts.n = 2;
    assert_true(dial_hosts_any(&hosts));
}

static void a_line_of_slurm_is_found(void **state)
{
    struct host list[2] = { { .dial.back = true },
                            { .dial = { .back = true, .slurm.task = 1 } } };
    struct hosts hosts = { .list = list, .n = 1 };

    (void)state;
    assert_false(dial_hosts_slurm(&hosts));
    hosts.n = 2;
    assert_true(dial_hosts_slurm(&hosts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_that_dial_back_are_found),
        cmocka_unit_test(a_line_of_slurm_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
