#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>

#include <cmocka.h>

#include "common/remedy.h"

static void what_the_machine_lacks_has_a_remedy(void **state)
{
    (void)state;
    assert_string_equal(remedy_of(EMFILE),
                        "raise 'ulimit -n', and run the same command again");
    assert_string_equal(remedy_of(EDQUOT), remedy_of(ENOSPC));
    assert_non_null(remedy_of(EIO));
}

static void what_the_caller_named_has_none(void **state)
{
    static const int numbers[] = { 0, EACCES, EISDIR, ELOOP, ENOENT };

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        assert_null(remedy_of(numbers[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_machine_lacks_has_a_remedy),
        cmocka_unit_test(what_the_caller_named_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
