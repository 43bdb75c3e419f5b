/* Words of a source without its comments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/source/c_text.h"

static void comments_and_texts_are_blank(void **state)
{
    static const struct {
        const char *text, *plain;
    } cases[] = {
        { "a // b\nc", "a     \nc" },
        { "a /* b\n */ c", "a     \n    c" },
        { "a /* b", "a     " },
        { "\xef\xbb\xbf#a", "   #a" },
        { "f(\"/* a\"); b", "f(\"    \"); b" },
        { "f(\"a\\\"(\", '\"'); b", "f(\"    \", ' '); b" },
        { "f(\"a\nb", "f(\" \nb" },
        { "f(\"", "f(\"" },
        { "f(\"a\\", "f(\"  " },
        { "extern \"C\" {", "extern \"C\" {" },
        { "1'000 // '", "1'000     " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *plain = c_text_plain(cases[i].text);

        assert_string_equal(plain, cases[i].plain);
        free(plain);
    }
}

static void a_word_is_not_a_part_of_another_one(void **state)
{
    static const char text[] = "AB A_ A1 (A)";

    (void)state;
    assert_ptr_equal(c_text_find_word(text, "A"), text + 10);
    assert_null(c_text_find_word(text, "B"));
}

static void a_pair_ends_where_it_is_closed(void **state)
{
    static const char text[] = "((a) b) c";

    (void)state;
    assert_string_equal(c_text_skip_pair(text, '(', ')'), " c");
    assert_null(c_text_skip_pair("((a)", '(', ')'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_and_texts_are_blank),
        cmocka_unit_test(a_word_is_not_a_part_of_another_one),
        cmocka_unit_test(a_pair_ends_where_it_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
