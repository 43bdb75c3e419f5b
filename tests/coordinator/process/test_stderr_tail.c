#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "coordinator/process/stderr_tail.h"

static void says(const char *heard, int lines, const char *want)
{
    struct stderr_tail tail = { 0 };
    char said[32];

    stderr_tail_add(&tail, heard, strlen(heard));
    stderr_tail_say(&tail, lines, said, sizeof(said));
    assert_string_equal(said, want);
}

static void the_last_lines_are_said(void **state)
{
    (void)state;
    says("", 2, "");
    says("one", 2, "one");
    says("one\ntwo\r\nthree\n\n", 1, "three");
    says("one\ntwo\r\nthree\n", 2, "two; three");
    says("a\033[31mred\n", 1, "a[31mred");
}

static void a_long_line_is_cut_at_its_beginning(void **state)
{
    (void)state;
    says("0123456789012345678901234567890123456789 no space\n", 1,
         "234567890123456789 no space");
}

static void only_the_end_is_kept(void **state)
{
    static struct stderr_tail tail;
    char bytes[3000], said[16];

    (void)state;
    memset(bytes, 'x', sizeof(bytes));
    for (int i = 0; i < 1000; i++)
        stderr_tail_add(&tail, bytes, sizeof(bytes));
    stderr_tail_add(&tail, "\nend\n", 5);
    assert_true(tail.len <= 2 * STDERR_TAIL_BYTES);
    stderr_tail_say(&tail, 1, said, sizeof(said));
    assert_string_equal(said, "end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_lines_are_said),
        cmocka_unit_test(a_long_line_is_cut_at_its_beginning),
        cmocka_unit_test(only_the_end_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
