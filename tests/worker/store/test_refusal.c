#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "worker/store/refusal.h"

static void a_refusal_has_place_reason_and_remedy(void **state)
{
    struct err err;

    (void)state;
    errno = EIO;
    assert_int_equal(refusal_of("/w/journal", &err), ERR_SYSTEM);
    assert_string_equal(err.text,
                        "'/w/journal': Input/output error; see the kernel's "
                        "log (dmesg) there, or name another folder with "
                        "workdir=");
    errno = ENOSPC;
    assert_int_equal(refusal_of("/w", &err), ERR_SYSTEM);
    assert_string_equal(err.text, "'/w': No space left on device; make room "
                                  "there, or name another folder with "
                                  "workdir=");
}

static void a_reason_without_a_remedy_stands_alone(void **state)
{
    struct err err;

    (void)state;
    errno = ENOENT;
    assert_int_equal(refusal_of("/w/tmp", &err), ERR_SYSTEM);
    assert_string_equal(err.text, "'/w/tmp': No such file or directory");
    assert_null(refusal_remedy(EINTR));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_has_place_reason_and_remedy),
        cmocka_unit_test(a_reason_without_a_remedy_stands_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
