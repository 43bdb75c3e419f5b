#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"

static void an_error_is_told_with_where_it_was(void **state)
{
    struct err err = { "port '70000' is not in 1..65535" };

    (void)state;
    errno = EAGAIN;
    assert_int_equal(err_within(&err, ERR_INPUT, "%s:%d", "hosts.txt", 12),
                     ERR_INPUT);
    assert_string_equal(err.text,
                        "hosts.txt:12: port '70000' is not in 1..65535");
    assert_int_equal(errno, EAGAIN);
}

static void what_is_no_error_is_not_told(void **state)
{
    struct err err = { "before" };

    (void)state;
    assert_int_equal(err_within(&err, 0, "%s", "here"), 0);
    assert_int_equal(err_within(&err, 1, "%s", "here"), 1);
    assert_string_equal(err.text, "before");
}

static void only_an_error_is_kept_of_an_answer(void **state)
{
    (void)state;
    assert_int_equal(err_only(ERR_STORE), ERR_STORE);
    assert_int_equal(err_only(0), 0);
    assert_int_equal(err_only(1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_told_with_where_it_was),
        cmocka_unit_test(what_is_no_error_is_not_told),
        cmocka_unit_test(only_an_error_is_kept_of_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
