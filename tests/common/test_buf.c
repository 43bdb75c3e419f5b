#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"

static void the_largest_and_smallest_numbers_are_printed(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 100);
    assert_true(buf_int(&buf, INT64_MIN));
    assert_true(buf_str(&buf, " "));
    assert_true(buf_int(&buf, 0));
    assert_true(buf_str(&buf, " "));
    assert_true(buf_int(&buf, INT64_MAX));
    assert_string_equal(buf_text(&buf),
                        "-9223372036854775808 0 9223372036854775807");
    buf_fini(&buf);
}

static void a_long_text_is_printed_whole(void **state)
{
    char text[1000];
    struct buf buf;

    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    buf_init(&buf, 5000);
    for (int i = 0; i < 3; i++)
        assert_true(buf_printf(&buf, "%s%d", text, i));
    assert_int_equal(buf.len, 3000);
    assert_string_equal(buf_text(&buf) + 2990, "xxxxxxxxx2");
    buf_fini(&buf);
}

static void nuls_become_blanks(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 16);
    buf_blank_nuls(&buf);
    assert_string_equal(buf_text(&buf), "");
    buf_add(&buf, "a\0b\0", 4);
    buf_blank_nuls(&buf);
    assert_string_equal(buf_text(&buf), "a b ");
    buf_fini(&buf);
}

static void bytes_beyond_the_ceiling_are_dropped(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 5);
    assert_true(buf_printf(&buf, "%s", "abc"));
    assert_false(buf_printf(&buf, "%s", "def"));
    assert_string_equal(buf_text(&buf), "abcde");
    assert_true(buf.truncated);
    assert_false(buf_int(&buf, 7));
    assert_string_equal(buf_text(&buf), "abcde");
    buf_fini(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_and_smallest_numbers_are_printed),
        cmocka_unit_test(a_long_text_is_printed_whole),
        cmocka_unit_test(nuls_become_blanks),
        cmocka_unit_test(bytes_beyond_the_ceiling_are_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
