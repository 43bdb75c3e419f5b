#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
}

static void is_full_disk(const struct err *err)
{
    const char *room = strstr(err->text, " (");
    double is_free, all;
    char unit;
    int at = 0;

    assert_ptr_equal(strstr(err->text, "'/tmp/w/x': No space left on device ("),
                     err->text);
    assert_int_equal(
        sscanf(room, " (%lf of %lf %ciB free)%n", &is_free, &all, &unit, &at),
        3);
    assert_string_equal(room + at, "; make room there, or name another folder "
                                   "with workdir=");
    assert_true(is_free <= all && all > 0);
}

/* Which folder, how much of its disk is free, and what to do; also if it is a
 * compiler that writes there. */
static void of_a_full_disk_it_says_how_much_is_free(void **state)
{
    struct err err;

    (void)state;
    errno = ENOSPC;
    assert_int_equal(refusal_of("/tmp/w/x", &err), ERR_SYSTEM);
    is_full_disk(&err);
    err.text[0] = '\0';
    assert_true(refusal_is_full("/tmp/w/x",
                                "error writing to ../tmp/cc1vP1ZT.s: No space "
                                "left on device",
                                &err));
    is_full_disk(&err);
    assert_false(refusal_is_full("/w", "error: expected ';'", &err));
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
        cmocka_unit_test(of_a_full_disk_it_says_how_much_is_free),
        cmocka_unit_test(a_reason_without_a_remedy_stands_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
