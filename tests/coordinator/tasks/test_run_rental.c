/* What is wrong with a rented host is said before it costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/tasks/run_rental.h"

static struct host host;
static const struct hosts hosts = { .list = &host, .n = 1 };

static int set_up(void **state)
{
    (void)state;
    host = (struct host){ .name = "gpu7", .key = "~/none" };
    snprintf(host.rental.start, sizeof(host.rental.start), "true");
    return 0;
}

static void a_key_that_is_not_there_is_said(void **state)
{
    struct err err = { "" };

    (void)state;
    assert_int_equal(run_rental_check_keys(&hosts, "/proc/no", &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "gpu7: key: /proc/no/none does not exist; "
                                  "check key= in the hosts file");
}

static void a_file_that_is_no_key_is_said(void **state)
{
    struct err err = { "" };

    (void)state;
    snprintf(host.key, sizeof(host.key), "/proc/self/limits");
    assert_int_equal(run_rental_check_keys(&hosts, NULL, &err), ERR_INPUT);
    assert_memory_equal(err.text, "gpu7: key: /proc/self/limits holds no", 37);
}

static void only_what_is_rented_and_has_a_key_is_looked_at(void **state)
{
    struct err err;

    (void)state;
    host.rental.start[0] = '\0';
    assert_int_equal(run_rental_check_keys(&hosts, NULL, &err), 0);
    snprintf(host.rental.start, sizeof(host.rental.start), "true");
    host.key[0] = '\0';
    assert_int_equal(run_rental_check_keys(&hosts, NULL, &err), 0);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_key_that_is_not_there_is_said),
        CASE(a_file_that_is_no_key_is_said),
        CASE(only_what_is_rented_and_has_a_key_is_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
